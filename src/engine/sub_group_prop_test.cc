// Random histories of gangs with sub-groups, in one rack or anywhere: nothing is ever there in
// parts, and what the state and the queue know stays right.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct PartsTurn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

std::vector<PartsTurn> DrawPartsTurns() {
  return *rc::gen::container<std::vector<PartsTurn>>(
      rc::gen::build<PartsTurn>(rc::gen::set(&PartsTurn::what, rc::gen::inRange(0, 12)),
                                rc::gen::set(&PartsTurn::a, rc::gen::arbitrary<std::uint32_t>()),
                                rc::gen::set(&PartsTurn::b, rc::gen::arbitrary<std::uint32_t>())));
}

// Gang g has sub-groups of 1 to 3 pods, of which g must start; gangs 1 and 3 are to be in one rack.
class PartsHistory {
 public:
  explicit PartsHistory(bool with_losses) : with_losses_(with_losses) {}

  void Happen(const PartsTurn& turn) {
    const std::string pod = PodName(turn);
    switch (turn.what) {
      case 0:
      case 1:
        AddNode(turn);
        break;
      case 2:
        harness_.Pass(Duration::Seconds(turn.b % 30));
        break;
      case 3:
      case 4:
        if (harness_.engine().Standing("uid-" + pod) != PodStanding::kBinding) break;
        harness_.FinishBinding(
            pod, with_losses_ && turn.b % 4 == 0 ? std::optional<std::string>("no") : std::nullopt);
        break;
      case 5:
        if (with_losses_) harness_.PodGone(pod);
        break;
      default:
        if (harness_.engine().Standing("uid-" + pod) == PodStanding::kUnknown) AddPod(pod, turn);
    }
    if (turn.b % 3 != 0) harness_.Schedule();
  }

  // What is there in parts; empty: nothing.
  std::string Parts() {
    const cluster::State& state = harness_.engine().state();
    struct Seen {
      std::map<std::string, int> groups;
      std::set<std::string> racks;
    };
    std::map<std::string, Seen> gangs;
    for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
      if (!state.pods().Contains(cluster::PodId{i})) continue;
      const cluster::Pod& pod = state.pod(cluster::PodId{i});
      if (!pod.node.valid()) continue;
      Seen& seen = gangs[pod.name.substr(0, 1)];
      ++seen.groups[pod.name.substr(2, 1)];
      seen.racks.insert(state.nodes().name(pod.node).substr(0, 1));
    }
    for (const auto& [gang, seen] : gangs) {
      for (const auto& [group, placed] : seen.groups) {
        if (placed < MinimumOf(group)) return gang + "-" + group + " is there in parts";
      }
      if (static_cast<int>(seen.groups.size()) < std::stoi(gang)) return gang + " has too few";
      if (InOneRack(gang) && seen.racks.size() > 1) return gang + " is in several racks";
    }
    return {};
  }
  testing::Harness& harness() { return harness_; }

 private:
  static int MinimumOf(const std::string& group) { return 1 + (group[0] - 'a') % 3; }
  static bool InOneRack(const std::string& gang) { return gang != "2"; }
  // "2-b-1": of gang 2 and its sub-group b.
  static std::string PodName(const PartsTurn& turn) {
    return fmt::format("{}-{}-{}", 1 + turn.a % 3, static_cast<char>('a' + turn.a / 3 % 3),
                       turn.a / 9 % 4);
  }
  void AddNode(const PartsTurn& turn) {
    // Nodes keep what they have, or more.
    const std::string name =
        fmt::format("{}{}", static_cast<char>('r' + turn.a % 3), turn.a / 3 % 3);
    const int cpus = cpus_[name] = std::max(cpus_[name], static_cast<int>(turn.b % 5));
    harness_.Node(cluster::testing::NodeBuilder(name)
                      .Has("cpu", std::to_string(cpus))
                      .Has("pods", "20")
                      .Label("rack", name.substr(0, 1)));
  }
  void AddPod(const std::string& name, const PartsTurn& turn) {
    const std::string ours = "pod-group.scheduling.kubenexus.io/";
    const std::string gang = name.substr(0, 1), group = name.substr(2, 1);
    cluster::testing::PodBuilder pod =
        cluster::testing::PodBuilder(name).Asks("cpu", turn.b % 4 == 0 ? "2" : "1");
    pod.Label(ours + "name", "gang-" + gang).Label(ours + "min-available", "2");
    pod.Label(ours + "sub-group", group);
    pod.Label(ours + "sub-group-min-available", std::to_string(MinimumOf(group)));
    pod.Label(ours + "min-sub-groups", gang);
    if (InOneRack(gang)) pod.Label(ours + "topology-key", "rack");
    harness_.Pod(pod);
  }

  bool with_losses_;
  std::map<std::string, int> cpus_;
  testing::Harness harness_{{}, testing::GangProfiles()};
};

RC_GTEST_PROP(SubGroupLife, NothingIsEverThereInParts, ()) {
  PartsHistory history(false);
  for (const PartsTurn& turn : DrawPartsTurns()) {
    history.Happen(turn);
    RC_ASSERT(history.harness().engine().Verify().value_or("equal") == "equal");
    RC_ASSERT(history.Parts() == "");
  }
  RC_ASSERT(history.harness().engine().VerifyCaches().value_or("equal") == "equal");
}

RC_GTEST_PROP(SubGroupLife, WhateverIsLostOrRefusedWhatIsKnownStaysRight, ()) {
  PartsHistory history(true);
  for (const PartsTurn& turn : DrawPartsTurns()) {
    history.Happen(turn);
    RC_ASSERT(history.harness().engine().Verify().value_or("equal") == "equal");
  }
  RC_ASSERT(history.harness().engine().VerifyCaches().value_or("equal") == "equal");
}

}  // namespace
}  // namespace knx::engine
