// Random histories of reservations, the pods they are for, and others: nothing is ever promised
// twice, whatever comes first, changes or goes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/overcommit.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct ReservationTurn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

std::vector<ReservationTurn> DrawReservationTurns() {
  return *rc::gen::container<std::vector<ReservationTurn>>(rc::gen::build<ReservationTurn>(
      rc::gen::set(&ReservationTurn::what, rc::gen::inRange(0, 14)),
      rc::gen::set(&ReservationTurn::a, rc::gen::arbitrary<std::uint32_t>()),
      rc::gen::set(&ReservationTurn::b, rc::gen::arbitrary<std::uint32_t>())));
}

class ReservationHistory {
 public:
  void Happen(const ReservationTurn& turn) {
    const std::string pod = "pod-" + std::to_string(turn.a % 16);
    const std::string node = "node-" + std::to_string(turn.a % 4);
    switch (turn.what) {
      case 0:
      case 1:
        // Nodes only grow: what is there never becomes too much by itself.
        cpus_[node] = std::max(cpus_[node], static_cast<int>(turn.b % 8));
        harness_.Node(cluster::testing::NodeBuilder(node)
                          .Has("cpu", std::to_string(cpus_[node]))
                          .Has("pods", "6"));
        break;
      case 2:
      case 3:
      case 4:
        harness_.Object(ReservationOf(turn));
        break;
      case 5:
        harness_.ObjectGone(ReservationOf(turn));
        break;
      case 6:
        harness_.PodGone(pod);
        break;
      case 7:
        harness_.Pass(Duration::Seconds(turn.b % 40));
        break;
      case 8:
      case 9:
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

  [[nodiscard]] bool overcommits() {
    const cluster::State& state = harness_.engine().state();
    for (std::uint32_t i = 0; i < state.nodes().row_count(); ++i) {
      if (cluster::IsOvercommitted(state, cluster::NodeRow{i})) return true;
    }
    return false;
  }

 private:
  k8s::ResourceReservation ReservationOf(const ReservationTurn& turn) const {
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = turn.a % 3 == 0 ? "x" : turn.a % 3 == 1 ? "y" : "z";
    made.meta.uid = made.meta.name;
    made.meta.created = harness_.now();
    if (turn.a % 3 == 2) made.pod_group = "train";
    if (turn.b % 5 == 0) made.start = harness_.now() + Duration::Seconds(10);
    if (turn.b % 7 == 0) made.duration = Duration::Seconds(turn.b % 60 + 1);
    for (std::uint32_t i = 0; i <= turn.b % 3; ++i) {
      made.places.push_back({std::to_string(i),
                             turn.b % 11 == 0 ? "node-1" : "",
                             {{"cpu", k8s::Quantity::FromUnits(1 + (turn.b >> 4) % 3)}}});
    }
    return made;
  }
  // A pod never asks for more than at first, but may say something else about whose it is.
  static k8s::Pod PodOf(const std::string& name, const ReservationTurn& turn) {
    k8s::Pod pod =
        cluster::testing::PodBuilder(name).Asks("cpu", std::to_string(1 + turn.a % 16 / 8));
    const std::uint32_t whose = turn.b % 8 == 0 ? turn.b >> 3 : turn.a;
    if (whose % 4 == 0) pod.meta.labels = {{"scheduling.kubenexus.io/app-id", "x"}};
    if (whose % 4 == 1) pod.meta.labels = {{"scheduling.kubenexus.io/app-id", "y"}};
    if (whose % 4 == 2) {
      pod.meta.labels = {{"pod-group.scheduling.kubenexus.io/min-available", "2"},
                         {"pod-group.scheduling.kubenexus.io/name", "train"}};
    }
    return pod;
  }

  testing::Harness harness_{{}, testing::ReservingProfiles()};
  std::map<std::string, int> cpus_;
};

RC_GTEST_PROP(Reservations, NeverPromiseTheSameRoomTwice, ()) {
  ReservationHistory history;
  for (const ReservationTurn& turn : DrawReservationTurns()) {
    history.Happen(turn);
    RC_ASSERT(history.harness().engine().Verify() == std::nullopt);
    RC_ASSERT(!history.overcommits());
  }
  RC_ASSERT(history.harness().engine().VerifyCaches() == std::nullopt);
}

}  // namespace
}  // namespace knx::engine
