// Random histories of drivers, their executors and others of any priority: nothing is promised
// twice, nothing is held for a driver that has no place, and nothing is lost, whoever is evicted
// for whom.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ostream>

#include "cluster/overcommit.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct DriverTurn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

void showValue(const DriverTurn& turn, std::ostream& out) {
  out << "{" << turn.what << ", " << turn.a << ", " << turn.b << "}";
}

std::vector<DriverTurn> DrawDriverTurns() {
  return *rc::gen::container<std::vector<DriverTurn>>(rc::gen::build<DriverTurn>(
      rc::gen::set(&DriverTurn::what, rc::gen::inRange(0, 14)),
      rc::gen::set(&DriverTurn::a, rc::gen::arbitrary<std::uint32_t>()),
      rc::gen::set(&DriverTurn::b, rc::gen::arbitrary<std::uint32_t>())));
}

std::vector<framework::Profile> EvictingProfiles() {
  return testing::ProfilesWith({"Coscheduling", "ResourceReservation", "GangPreemption"},
                               "{name: ResourceReservation, args: {driverSeconds: 60}}");
}

class DriverHistory {
 public:
  void Happen(const DriverTurn& turn) {
    const std::string pod = PodName(turn.a);
    const std::string node = "node-" + std::to_string(turn.a % 4);
    switch (turn.what) {
      case 0:
      case 1:
        // Nodes only grow: what is there never becomes too much by itself.
        cpus_[node] = std::max(cpus_[node], static_cast<int>(turn.b % 8));
        harness_.Node(cluster::testing::NodeBuilder(node)
                          .Has("cpu", std::to_string(cpus_[node]))
                          .Has("pods", "8"));
        break;
      case 2:
        harness_.PodGone(pod);
        break;
      case 3:
      case 4:
        harness_.Pass(Duration::Seconds(turn.b % 40));
        break;
      case 5:
      case 6:
        if (harness_.engine().Standing("uid-" + pod) != PodStanding::kBinding) break;
        harness_.FinishBinding(pod,
                               turn.b % 4 == 0 ? std::optional<std::string>("no") : std::nullopt);
        break;
      case 7:
      case 8:
        if (harness_.evictions().empty()) break;
        harness_.FinishEviction(harness_.evictions()[turn.a % harness_.evictions().size()],
                                turn.b % 4 == 0 ? std::optional<std::string>("no") : std::nullopt);
        break;
      default:
        AddPod(pod, turn);
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
  // Room is held for executors of a driver that is gone, or that was found to have no place.
  [[nodiscard]] bool holds_for_nobody() {
    const cluster::State& state = harness_.engine().state();
    for (const auto& [key, reservation] : harness_.engine().reservations().all()) {
      const cluster::PodId driver = state.pods().Find("uid-driver-" + reservation.group);
      const bool waits = driver.valid() &&
                         harness_.engine().queue().Get(driver).place == QueuePlace::kUnschedulable;
      const bool wanted = driver.valid() && !waits;
      for (const Reservation::Place& place : reservation.places) {
        if (!wanted && place.hold.valid() && state.pod(place.hold).node.valid()) return true;
      }
    }
    return false;
  }

 private:
  // Two drivers with four executors each, and others.
  static std::string PodName(std::uint32_t a) {
    const std::string gang = a % 2 == 0 ? "x" : "y";
    if (a % 16 < 2) return "driver-" + gang;
    return a % 16 < 10 ? "work-" + gang + std::to_string(a % 16)
                       : "other-" + std::to_string(a % 16);
  }
  void AddPod(const std::string& name, const DriverTurn& turn) {
    if (harness_.engine().Standing("uid-" + name) != PodStanding::kUnknown) return;
    cluster::testing::PodBuilder pod(name);
    pod.Asks("cpu", std::to_string(1 + turn.a % 2)).Priority(static_cast<int>(turn.b % 3));
    if (!name.starts_with("other")) {
      pod.Label("pod-group.scheduling.kubenexus.io/name", turn.a % 2 == 0 ? "x" : "y")
          .Label("pod-group.scheduling.kubenexus.io/min-available", "3");
    }
    if (name.starts_with("driver")) {
      pod.Label("spark-role", "driver");
      if (turn.b % 5 != 0) {
        pod.Annotation("scheduling.kubenexus.io/executor-resources", "cpu=2");
      }
    }
    harness_.Pod(pod);
  }

  testing::Harness harness_{{}, EvictingProfiles()};
  std::map<std::string, int> cpus_;
};

RC_GTEST_PROP(DriverProperties, NothingIsHeldForNobodyAndNothingTwice, ()) {
  DriverHistory history;
  for (const DriverTurn& turn : DrawDriverTurns()) {
    history.Happen(turn);
    RC_ASSERT(history.harness().engine().Verify() == std::nullopt);
    RC_ASSERT(!history.overcommits());
    RC_ASSERT(!history.holds_for_nobody());
  }
  RC_ASSERT(history.harness().engine().VerifyCaches() == std::nullopt);
}

}  // namespace
}  // namespace knx::engine
