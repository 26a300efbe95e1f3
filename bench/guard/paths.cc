// The paths that must not become more expensive unnoticed, each a fixed piece of work. Run under
// callgrind, which counts instructions and does not care how busy the machine is; tests/guard
// compares the counts with a baseline.
#include <valgrind/callgrind.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "cluster/testing/builders.h"
#include "engine/engine.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "k8s/read_object.h"
#include "plugins/registry.h"

namespace {

using namespace knx;  // NOLINT(google-build-using-namespace): a program of one file
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

constexpr int kNodes = 1000;
constexpr int kWork = 200;  // pods, nodes or texts that each path handles

// What is measured, and nothing else.
void Measured(const char* path, const std::function<void()>& work) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  work();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(path);
}

k8s::Node Node(int i, const char* cpu = "4") {
  return NodeBuilder("node-" + std::to_string(i))
      .Has("cpu", cpu)
      .Has("memory", "32Gi")
      .Has("pods", "110")
      .Label("kubernetes.io/hostname", "node-" + std::to_string(i))
      .Label("zone", "zone-" + std::to_string(i % 3));
}

k8s::Pod Pod(int i, const char* cpu = "100m") {
  return PodBuilder("pod-" + std::to_string(i))
      .Asks("cpu", cpu)
      .Asks("memory", std::to_string(500 + i % 20) + "Mi")
      .Label("app", "app-" + std::to_string(i % 20));
}

class Scheduler {
 public:
  Scheduler() : engine_({}, Profiles()) {
    for (int i = 0; i < kNodes; ++i) engine_.Handle(engine::NodeUpserted{Node(i)}, now_);
  }
  void Hand(const std::vector<engine::Event>& events) {
    for (const engine::Event& event : events) engine_.Handle(event, now_);
  }
  void Decide() {
    while (engine_.ScheduleOne(now_)) {
      for (const engine::Action& action : engine_.TakeActions()) {
        engine_.Handle(engine::ActionFinished{action.id, std::nullopt}, now_);
      }
    }
  }
  void Pass(Duration time) {
    now_ = now_ + time;
    engine_.Advance(now_);
  }

 private:
  static std::vector<framework::Profile> Profiles() {
    auto profiles =
        framework::BuildProfiles(framework::DefaultConfiguration(), plugins::AllPlugins());
    KNX_CHECK(profiles.ok(), "the default configuration does not load");
    return *std::move(profiles);
  }
  engine::Engine engine_;
  Time now_{1'700'000'000'000'000'000};
};

std::vector<engine::Event> Pods(int first, int count, const char* cpu = "100m",
                                const char* node = "") {
  std::vector<engine::Event> events;
  for (int i = first; i < first + count; ++i) {
    k8s::Pod pod = Pod(i, cpu);
    if (*node != '\0') pod.spec.node_name = node + std::to_string(i % kNodes);
    events.emplace_back(engine::PodUpserted{std::move(pod)});
  }
  return events;
}

std::vector<engine::Event> Nodes(int count, const char* cpu) {
  std::vector<engine::Event> events;
  for (int i = 0; i < count; ++i) events.emplace_back(engine::NodeUpserted{Node(i, cpu)});
  return events;
}

void DecisionPaths() {
  Scheduler scheduler;
  const auto first = Pods(0, 1);
  Measured("first-decision-of-a-class", [&] {
    scheduler.Hand(first);
    scheduler.Decide();
  });
  scheduler.Hand(Pods(1, 200));
  scheduler.Decide();
  const auto added = Pods(1000, kWork);
  Measured("add-pod", [&] { scheduler.Hand(added); });
  Measured("plain-decision", [&] { scheduler.Decide(); });
  const auto bound = Pods(2000, kWork, "100m", "node-");
  Measured("assigned-pod", [&] { scheduler.Hand(bound); });

  const auto too_large = Pods(3000, kWork, "5");
  scheduler.Hand(too_large);
  Measured("rejected-decision", [&] { scheduler.Decide(); });
  const auto same = Nodes(kWork, "4");
  Measured("node-heartbeat", [&] { scheduler.Hand(same); });
  const auto changed = Nodes(kWork, "3");
  Measured("node-update", [&] { scheduler.Hand(changed); });
  scheduler.Pass(Duration::Seconds(20));
  const auto larger = Nodes(1, "6");
  Measured("requeue", [&] { scheduler.Hand(larger); });
}

// Pods that speak of each other, among as many that they speak of.
void RelationPath(const char* path, const std::function<void(k8s::Pod&)>& speak) {
  const auto pods = [&](int first) {
    std::vector<engine::Event> events;
    for (int i = first; i < first + kWork; ++i) {
      k8s::Pod pod = PodBuilder("pod-" + std::to_string(i)).Asks("cpu", "100m").Label("app", "web");
      speak(pod);
      events.emplace_back(engine::PodUpserted{std::move(pod)});
    }
    return events;
  };
  Scheduler scheduler;
  scheduler.Hand(pods(0));
  scheduler.Decide();
  scheduler.Hand(pods(kWork));
  Measured(path, [&] { scheduler.Decide(); });
}

void RelationPaths() {
  k8s::LabelSelector web;
  web.match_labels = {{"app", "web"}};
  const auto term = [&](std::string key) {
    k8s::PodAffinityTerm out;
    out.topology_key = std::move(key);
    out.selector = web;
    return out;
  };
  RelationPath("spread-decision", [&](k8s::Pod& pod) {
    k8s::TopologySpreadConstraint& constraint = pod.spec.topology_spread.emplace_back();
    constraint.max_skew = 5;
    constraint.topology_key = "zone";
    constraint.selector = web;
  });
  RelationPath("affinity-decision",
               [&](k8s::Pod& pod) { pod.spec.pod_affinity.required.push_back(term("zone")); });
  RelationPath("antiaffinity-decision", [&](k8s::Pod& pod) {
    pod.spec.pod_anti_affinity.required.push_back(term("kubernetes.io/hostname"));
  });
}

void PreemptionPath() {
  Scheduler scheduler;
  scheduler.Hand(Pods(0, kNodes, "3900m", "node-"));
  std::vector<engine::Event> important;
  for (int i = 5000; i < 5000 + kWork; ++i) {
    k8s::Pod pod = Pod(i, "2");
    pod.spec.priority = 1000;
    important.emplace_back(engine::PodUpserted{std::move(pod)});
  }
  scheduler.Hand(important);
  Measured("preemption", [&] { scheduler.Decide(); });
}

void RollbackPath() {
  cluster::State state;
  std::vector<cluster::PodId> pods;
  for (int i = 0; i < 100; ++i) state.UpsertNode(Node(i));
  for (int i = 0; i < 10; ++i) pods.push_back(state.AddPod(Pod(i)));
  Measured("rollback", [&] {
    for (int i = 0; i < kWork; ++i) {
      const auto mark = state.Mark();
      for (const cluster::PodId pod : pods) {
        state.Assume(pod, cluster::NodeRow{static_cast<std::uint32_t>(i % 100)});
      }
      state.Rollback(mark);
    }
  });
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  KNX_CHECK(in.good(), "cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void DecodePaths(const std::string& samples) {
  const std::string json = ReadFile(samples + "/pod.json");
  const std::string yaml = ReadFile(samples + "/pod.yaml");
  Measured("decode-json", [&] {
    for (int i = 0; i < kWork; ++i)
      KNX_CHECK(k8s::ReadJsonObject(json).ok(), "the sample does not decode");
  });
  Measured("decode-yaml", [&] {
    for (int i = 0; i < kWork; ++i) {
      KNX_CHECK(k8s::ReadManifests(yaml, "pod.yaml").ok(), "the sample does not decode");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: guarded-paths FOLDER-WITH-SAMPLES\n");
    return 2;
  }
  DecisionPaths();
  RelationPaths();
  PreemptionPath();
  RollbackPath();
  DecodePaths(argv[1]);
  return 0;
}
