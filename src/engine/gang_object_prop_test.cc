// Random histories of pods and of the objects that make them gangs: what the state and the queue
// know stays right whatever comes first, changes or goes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct ObjectTurn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

std::vector<ObjectTurn> DrawObjectTurns() {
  return *rc::gen::container<std::vector<ObjectTurn>>(rc::gen::build<ObjectTurn>(
      rc::gen::set(&ObjectTurn::what, rc::gen::inRange(0, 12)),
      rc::gen::set(&ObjectTurn::a, rc::gen::arbitrary<std::uint32_t>()),
      rc::gen::set(&ObjectTurn::b, rc::gen::arbitrary<std::uint32_t>())));
}

class GangHistory {
 public:
  void Happen(const ObjectTurn& turn) {
    const std::string pod = "pod-" + std::to_string(turn.a % 16);
    switch (turn.what) {
      case 0:
        harness_.Node(cluster::testing::NodeBuilder("node-" + std::to_string(turn.a % 4))
                          .Has("cpu", std::to_string(turn.b % 6))
                          .Has("pods", "20"));
        break;
      case 1:
      case 2:
      case 3:
        harness_.Object(GroupOf(turn));
        break;
      case 4:
        harness_.engine().Handle(ObjectDeleted{GroupOf(turn)}, harness_.now());
        break;
      case 5:
        harness_.PodGone(pod);
        break;
      case 6:
        harness_.Pass(Duration::Seconds(turn.b % 30));
        break;
      case 7:
      case 8:
        if (harness_.engine().Standing("uid-" + pod) != PodStanding::kBinding) break;
        harness_.FinishBinding(pod,
                               turn.b % 4 == 0 ? std::optional<std::string>("no") : std::nullopt);
        break;
      default:
        harness_.Pod(PodOf(pod, turn));
    }
    if (turn.b % 3 != 0) harness_.Schedule();
  }
  testing::Harness& harness() { return harness_; }

 private:
  static k8s::PodGroup GroupOf(const ObjectTurn& turn) {
    k8s::PodGroup group;
    group.api = turn.a % 2 == 0 ? k8s::PodGroupApi::kSigs : k8s::PodGroupApi::kVolcano;
    group.meta.namespace_ = "default";
    group.meta.name = turn.a % 3 == 0 ? "x" : "y";
    group.minimum = static_cast<std::int32_t>(turn.b % 6);
    if (turn.b % 4 == 1) {
      group.min_resources = {{"cpu", k8s::Quantity::FromUnits(1 + turn.a % 8)}};
    }
    return group;
  }
  static k8s::Pod PodOf(const std::string& name, const ObjectTurn& turn) {
    k8s::Pod pod = cluster::testing::PodBuilder(name).Asks("cpu", "1");
    const std::string gang = turn.b % 2 == 0 ? "x" : "y";
    if (turn.b % 5 < 3) pod.meta.labels = {{"scheduling.x-k8s.io/pod-group", gang}};
    if (turn.b % 7 < 3) pod.meta.annotations = {{"scheduling.k8s.io/group-name", gang}};
    return pod;
  }

  testing::Harness harness_{{}, testing::GangProfiles()};
};

RC_GTEST_PROP(GangObjects, MayComeChangeAndGoAtAnyTime, ()) {
  GangHistory history;
  for (const ObjectTurn& turn : DrawObjectTurns()) {
    history.Happen(turn);
    RC_ASSERT(history.harness().engine().Verify().value_or("equal") == "equal");
  }
  RC_ASSERT(history.harness().engine().VerifyCaches().value_or("equal") == "equal");
}

}  // namespace
}  // namespace knx::engine
