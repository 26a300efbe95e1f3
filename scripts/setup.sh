#!/usr/bin/env bash
# setup.sh PURPOSE...: installs the Debian packages that are missing for the given purposes, and nothing else; for tools
# also a Go, if there is none that is new enough (scripts/go.py).
# Purposes: build test fuzz lint tools. Says nothing and changes nothing when all of them are there.
# KNX_SETUP=off skips the check, for systems whose owner installed the same things in another way.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
refuse() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

packages_for() {
  case $1 in
    build)
      echo g++ cmake ninja-build ccache mold
      echo libfmt-dev libabsl-dev libyaml-cpp-dev libsimdjson-dev libcli11-dev libnghttp2-dev libssl-dev libboost1.81-dev
      ;;
    test) echo libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev valgrind python3 git ;;
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    lint) echo clang-format-19 clang-tidy-19 python3 git ;;
    tools)
      echo python3 ca-certificates
      command -v go >/dev/null || echo golang-go
      ;;
    *) refuse "unknown purpose: $1 (known: build test fuzz lint tools)" ;;
  esac
}

missing_of() {
  local installed
  # dpkg-query fails when a package is unknown to it; what it knows is printed all the same.
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  printf '%s\n' "$@" | grep -vxFf <(awk '$2 == "installed" {print $1}' <<<"$installed") || true
}

install() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      refuse "these packages are missing, and there is no sudo to install them with; as root:" \
        "  apt-get update && apt-get install --no-install-recommends $*"
    as_root=(sudo)
  fi
  say "installing: $*"
  "${as_root[@]}" apt-get update -qq ||
    say "could not refresh the package lists; trying with those that are here"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" ||
    refuse "apt-get could not install all of it (see above). The names are those of Debian 12;" \
      "on another release, install these or their like and set KNX_SETUP=off:" "  $*"
}

[ "${KNX_SETUP:-on}" != off ] || exit 0
[ $# -gt 0 ] || set -- build test fuzz lint tools
wanted=$(for purpose in "$@"; do packages_for "$purpose"; done | tr ' ' '\n' | sort -u)
if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  refuse "this is not a Debian system, so nothing was installed. Needed, by the names of Debian 12:" \
    "  $(tr '\n' ' ' <<<"$wanted")" \
    "Once they or their like are installed, set KNX_SETUP=off and run make again."
fi
missing=$(missing_of $wanted)
[ -z "$missing" ] || install $missing
case " $* " in
  *" tools "*) "$(dirname "$0")/go.py" version >/dev/null ;;
esac
