# The front door. Every target first installs what it needs and is missing (scripts/setup.sh), then says what it does.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS

TEST_LIMIT = 600
CTEST = ctest --output-on-failure --no-tests=error --timeout $(TEST_LIMIT) -j $(JOBS) --test-dir

.PHONY: help
help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-20s%s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## install what is missing for all targets below, and nothing else (Debian 12)
	@scripts/setup.sh

.PHONY: demo
demo: build ## schedule a GPU cluster in memory and show what went where, and why not (ONCE=1: never wait for a key)
	@bin/kubenexus demo $(if $(filter 1,$(ONCE)),--once)

.PHONY: test
test: ## build everything and run every test: fuzz targets, the comparison with kube-scheduler and a real API server included
	@scripts/setup.sh build test fuzz tools
	@scripts/build.sh release --tests all
	@echo "== tests"
	@$(CTEST) build/release
	@scripts/build.sh fuzz fuzzers
	@echo "== fuzz targets, a few seconds each"
	@$(CTEST) build/fuzz
	@$(MAKE) --no-print-directory parity N=2000 SEED=1
	@$(MAKE) --no-print-directory test-protobuf N=5000 SEED=1
	@$(MAKE) --no-print-directory test-live test-deploy test-cluster

CASES ?= 1000
SEEDS ?= 10000
LIVES ?= 10
CLUSTERS ?= 5000

.PHONY: test-random
test-random: ## property tests with other cases every time, and many lives of gangs and clusters (CASES=1000 SEEDS=10000 LIVES=10 CLUSTERS=5000, half an hour; SEEDS=300 LIVES=1 CLUSTERS=300: minutes)
	@scripts/setup.sh build test
	@scripts/build.sh release --tests all
	@for folder in k8s client cluster framework plugins engine; do echo "== $$folder, $(CASES) cases"; \
	  RC_PARAMS="max_success=$(CASES)" build/release/src/$$folder/$${folder}_test --gtest_brief=1; done
	@echo "== gangs made in random order, $(SEEDS) seeds"
	@step=$$(nproc); all=; failed=0; for first in $$(seq $$step); do \
	  KNX_GANG_SEEDS=$(SEEDS) KNX_GANG_FIRST_SEED=$$first KNX_GANG_SEED_STEP=$$step \
	    build/release/src/sim/sim_test --gtest_brief=1 --gtest_filter='GangSoak.NoG*' & all="$$all $$!"; done; \
	  for one in $$all; do wait $$one || failed=1; done; exit $$failed
	@echo "== gangs of all kinds for 7 days, $(LIVES) lives"
	@KNX_GANG_LIFE_DAYS=7 KNX_GANG_LIVES=$(LIVES) KNX_GANG_FIRST_LIFE=$$(date +%s) \
	  build/release/src/sim/sim_test --gtest_brief=1 --gtest_filter='GangWeek.One*'
	@echo "== random clusters, $(CLUSTERS)"
	@python3 -B tests/random/random_test.py bin/kubenexus --count $(CLUSTERS) --jobs $$(nproc) \
	  --first $$(date +%s)000 --keep build/random

.PHONY: build
build: ## build the programs into bin/
	@scripts/setup.sh build
	@scripts/build.sh release programs

.PHONY: check
check: lint test ## what to run before a commit: lint, then test

.PHONY: lint
lint: ## format, style rules and clang-tidy, changing nothing
	@scripts/setup.sh build test lint
	@scripts/lint.sh

.PHONY: format
format: ## let clang-format rewrite the sources
	@scripts/setup.sh lint
	@scripts/lint.sh fix-format

.PHONY: bench-engine
bench-engine: ## how many decisions a second, on one core, without I/O (build/bench/engine.json)
	@scripts/setup.sh build test
	@scripts/build.sh release --tests bench-engine
	@mkdir -p build/bench
	@bin/bench-engine --out build/bench/engine.json --commit "$$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

# The folder in which traces/ lies: published data are not part of the repository.
DATA ?= $(dir $(CURDIR))shared/data

.PHONY: bench-placement
bench-placement: ## how well queues are kept, on published traces, beside the published numbers (build/bench/placement.json; DATA=folder of the traces)
	@scripts/setup.sh build test
	@scripts/build.sh release --tests bench-placement
	@mkdir -p build/bench
	@bin/bench-placement --data $(DATA) --out build/bench/placement.json \
	  --commit "$$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

ROWS ?=
REPEAT ?= 3

.PHONY: bench-live
bench-live: control-plane binder ## pods a second and latency on a real API server, beside kube-scheduler and a mere binder (ROWS=plain/1000 REPEAT=1)
	@scripts/setup.sh build test
	@scripts/build.sh release --tests kubenexus-scheduler live-load
	@mkdir -p build/bench
	@python3 -B bench/live/bench_live.py --out build/bench/live.json --repeat $(REPEAT) \
	  $(if $(ROWS),--rows $(ROWS)) --commit "$$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

.PHONY: binder
binder: ## build bin/knx-binder: binds pods without deciding anything, what an API server can take
	@scripts/setup.sh tools
	@mkdir -p bin
	@scripts/go.py build -C tools -buildvcs=false -o ../bin/knx-binder ./binder

.PHONY: oracle
oracle: ## build bin/knx-oracle: kube-scheduler itself, to be asked what it would decide (docs/oracle.md)
	@scripts/setup.sh tools
	@mkdir -p bin
	@echo "== building bin/knx-oracle: the first time minutes, then seconds"
	@scripts/go.py build -C tools -buildvcs=false -o ../bin/knx-oracle ./oracle

KUBERNETES = $(shell awk '$$1 == "k8s.io/kubernetes" {print $$2}' tools/go.mod)

.PHONY: control-plane
control-plane: ## build bin/knx-control-plane: etcd, API server, controllers and kube-scheduler, for tests (docs/control-plane.md)
	@scripts/setup.sh tools
	@mkdir -p bin
	@echo "== building bin/knx-control-plane: the first time many minutes, then seconds"
	@scripts/go.py build -C tools -buildvcs=false -o ../bin/knx-control-plane \
	  -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES)' ./controlplane

.PHONY: kwok
kwok: ## build bin/knx-kwok: kubelets for nodes that are not real (docs/cluster.md)
	@scripts/setup.sh tools
	@mkdir -p bin
	@echo "== building bin/knx-kwok: the first time minutes, then seconds"
	@scripts/go.py build -C tools/kwok -buildvcs=false -ldflags '-s -w' -o ../../bin/knx-kwok .

NODES ?= 100

.PHONY: cluster
cluster: control-plane kwok build ## a Kubernetes cluster on this machine, with fake GPU nodes and KubeNexus as its scheduler (NODES=100)
	@exec python3 -B tools/cluster/cluster.py up --nodes=$(NODES)

N ?= 2000
SEED ?= 1

.PHONY: parity
parity: oracle ## random clusters, asked of kube-scheduler's own code and of ours, every field compared (N=20000 SEED=7)
	@scripts/setup.sh build test
	@scripts/build.sh release --tests parity
	@bin/parity bin/knx-oracle $(N) $(SEED)

.PHONY: test-protobuf
test-protobuf: ## random objects, written by Kubernetes' own code as JSON and as protobuf, must be read alike (N=50000 SEED=7)
	@scripts/setup.sh build test tools
	@mkdir -p bin
	@scripts/go.py build -C tools -buildvcs=false -o ../bin/knx-objects ./objects
	@scripts/build.sh release --tests compare-objects
	@bin/knx-objects $(N) $(SEED) | bin/compare-objects

.PHONY: test-control-plane
test-control-plane: control-plane oracle ## start bin/knx-control-plane, schedule pods in it, and see that nothing is left running
	@python3 -B tests/control_plane/control_plane_test.py

# The longest first: most run two at a time.
LIVE = scenarios faults gangs leader extender live reservations pages texts storm many_pods overcommit

.PHONY: test-live
test-live: control-plane ## kubenexus-scheduler on a real API server: words, gangs, pages, leaders, extenders, faults, storms, many pods, two schedulers (LIVE="leader faults")
	@scripts/setup.sh build test
	@scripts/build.sh release --tests kubenexus-scheduler live-load
	@python3 -B tests/live/run_all.py $(LIVE)

.PHONY: test-cluster
test-cluster: control-plane kwok build ## what `make cluster` runs with 10 nodes: the examples come up, and nothing is left running
	@python3 -B tests/cluster/cluster_test.py

.PHONY: test-deploy
test-deploy: control-plane build ## the rights of deploy/kubenexus-scheduler.yaml: enough, none too many, and a missing one is named
	@python3 -B tests/deploy/manifest_test.py

.PHONY: test-compat
test-compat: control-plane build ## a short run on API servers of other releases (RELEASES="1.29.6 1.33.13"); builds them: an hour the first time
	@python3 -B tests/compat/compat_test.py $(RELEASES)

# What looks at every access takes several times as long.
test-asan test-tsan: TEST_LIMIT = 3000

.PHONY: test-asan
test-asan: ## every test under the address and undefined behaviour sanitizers
	@scripts/setup.sh build test
	@scripts/build.sh asan --tests all
	@$(CTEST) build/asan

# g++'s thread sanitizer cannot start where the kernel scatters mappings more widely than this.
NO_ASLR = $(shell [ "$$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || echo setarch -R)

.PHONY: test-tsan
test-tsan: ## every test under the thread sanitizer
	@scripts/setup.sh build test
	@scripts/build.sh tsan --tests all
	@$(NO_ASLR) $(CTEST) build/tsan
