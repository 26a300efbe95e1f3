// Random histories: what is remembered equals asking every plugin about every node, nothing is
// lost, and any number of threads decides alike.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::Label;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

// The choices of one history, drawn beforehand so that several engines can live through it.
struct Choice {
  int what = 0;
  std::uint32_t a = 0, b = 0, c = 0;
};

std::vector<Choice> DrawHistory() {
  return *rc::gen::container<std::vector<Choice>>(
      rc::gen::build<Choice>(rc::gen::set(&Choice::what, rc::gen::inRange(0, 12)),
                             rc::gen::set(&Choice::a, rc::gen::arbitrary<std::uint32_t>()),
                             rc::gen::set(&Choice::b, rc::gen::arbitrary<std::uint32_t>()),
                             rc::gen::set(&Choice::c, rc::gen::arbitrary<std::uint32_t>())));
}

std::string NodeName(std::uint32_t i) { return "node-" + std::to_string(i % 12); }
std::string PodName(std::uint32_t i) { return "pod-" + std::to_string(i % 40); }

k8s::Node MakeNode(const Choice& choice) {
  NodeBuilder node(NodeName(choice.a));
  node.Has("cpu", std::to_string(choice.b % 5)).Has("memory", "8Gi").Has("pods", "6");
  node.Label("zone", "zone-" + std::to_string(choice.c % 3));
  if (choice.b % 3 == 0) node.Has("nvidia.com/gpu", "4");
  if (choice.c % 5 == 0) node.Taint("dedicated", "", k8s::TaintEffect::kNoSchedule);
  if (choice.c % 7 == 0) node.Taint("busy", "", k8s::TaintEffect::kPreferNoSchedule);
  if (choice.c % 11 == 0) node.Unschedulable();
  if (choice.b % 4 == 0) node.Image("app:" + std::to_string(choice.c % 2), 500 << 20);
  return node;
}

k8s::Pod MakePod(const Choice& choice) {
  PodBuilder pod(PodName(choice.a));
  pod.Asks("cpu", std::to_string(choice.b % 8 * 100) + "m")
      .Priority(static_cast<int>(choice.c % 3));
  if (choice.b % 5 == 0) pod.Asks("nvidia.com/gpu", "1");
  if (choice.b % 7 == 0) pod.Port(8080);
  if (choice.b % 3 == 0) pod.Image("app:0");
  if (choice.c % 4 == 0) pod.NodeSelector("zone", "zone-1");
  if (choice.c % 6 == 0) {
    pod.Tolerates({"dedicated", "", k8s::TolerationOperator::kExists, k8s::TaintEffect::kNone, {}});
  }
  if (choice.c % 5 == 0) {
    pod.Prefers(10, {{Label("zone", k8s::SelectorOperator::kIn, {"zone-2"})}, {}});
  }
  if (choice.c % 13 == 0) pod.Gate("gate");
  return pod;
}

class Life {
 public:
  explicit Life(EngineOptions options = {}) : harness_(std::move(options)) {}

  void Happen(const Choice& choice) {
    switch (choice.what) {
      case 0:
      case 1:
      case 2:
        harness_.Node(MakeNode(choice));
        break;
      case 3:
        harness_.NodeGone(NodeName(choice.a));
        break;
      case 4:
        harness_.PodGone(PodName(choice.a));
        break;
      case 5:
        harness_.Pass(Duration::Seconds(choice.a % 20));
        break;
      case 6:
        FailBinding(choice);
        break;
      case 7:
        Bound(choice);
        break;
      default:
        harness_.Pod(MakePod(choice));
    }
    harness_.Schedule();
  }

  testing::Harness& harness() { return harness_; }
  [[nodiscard]] std::string Decisions() {
    std::string out;
    for (std::uint32_t i = 0; i < 40; ++i) out += harness_.NodeOf(PodName(i)) + " ";
    for (const std::string& note : harness_.notes()) out += note + "\n";
    return out;
  }

 private:
  void FailBinding(const Choice& choice) {
    const std::string pod = PodName(choice.a);
    if (harness_.engine().Standing("uid-" + pod) == PodStanding::kBinding) {
      harness_.FinishBinding(
          pod, choice.b % 2 == 0 ? std::optional<std::string>("refused") : std::nullopt);
    }
  }
  // The watch tells that a pod is bound: where we put it, or where somebody else did.
  void Bound(const Choice& choice) {
    k8s::Pod pod = MakePod(choice);
    const std::string node = harness_.NodeOf(pod.meta.name);
    pod.spec.node_name = node.empty() || choice.b % 3 == 0 ? NodeName(choice.b) : node;
    harness_.Pod(pod);
  }

  testing::Harness harness_;
};

RC_GTEST_PROP(EngineProperties, WhatIsRememberedEqualsAFullEvaluation, ()) {
  Life life;
  for (const Choice& choice : DrawHistory()) {
    life.Happen(choice);
    RC_ASSERT(life.harness().engine().Verify().value_or("equal") == "equal");
    RC_ASSERT(life.harness().engine().VerifyCaches().value_or("equal") == "equal");
  }
}

RC_GTEST_PROP(EngineProperties, AMemoryTooSmallForAnythingDecidesAlike, ()) {
  EngineOptions forgetful;
  forgetful.cache_bytes = 1;
  forgetful.cache_bytes_per_node = 0;
  Life life;
  Life without(forgetful);
  for (const Choice& choice : DrawHistory()) {
    life.Happen(choice);
    without.Happen(choice);
  }
  RC_ASSERT(life.Decisions() == without.Decisions());
}

}  // namespace

// Large enough that several chunks of nodes are judged at the same time.
TEST(EngineThreads, AnyNumberOfThreadsDecidesAlike) {
  const auto run = [](std::size_t threads) {
    EngineOptions options;
    if (threads > 1) {
      options.parallel_for = [threads](std::size_t chunks,
                                       const std::function<void(std::size_t)>& body) {
        std::vector<std::jthread> workers;
        for (std::size_t t = 0; t < threads; ++t) {
          workers.emplace_back([=, &body] {
            for (std::size_t chunk = t; chunk < chunks; chunk += threads) body(chunk);
          });
        }
      };
    }
    testing::Harness harness(std::move(options));
    for (int i = 0; i < 5000; ++i) {
      harness.Node(NodeBuilder("node-" + std::to_string(i))
                       .Has("cpu", std::to_string(1 + i % 7))
                       .Has("memory", "8Gi")
                       .Has("pods", "10")
                       .Label("zone", std::to_string(i % 3)));
    }
    std::string places;
    for (int i = 0; i < 200; ++i) {
      PodBuilder pod("p" + std::to_string(i));
      pod.Asks("cpu", std::to_string(100 * (1 + i % 5)) + "m");
      if (i % 2 == 0) pod.Prefers(5, {{Label("zone", k8s::SelectorOperator::kIn, {"1"})}, {}});
      harness.Pod(pod);
      harness.ScheduleAndBind();
      places += harness.NodeOf("p" + std::to_string(i)) + "\n";
    }
    return places;
  };
  const std::string alone = run(1);
  EXPECT_EQ(run(4), alone);
  EXPECT_EQ(run(3), alone);
}

}  // namespace knx::engine
