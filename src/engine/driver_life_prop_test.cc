// Random lives of drivers, their executors, what is reserved for them, and others, in every order
// of events: what the engine knows is always what it would find if it counted anew, nothing is
// promised twice, and nothing is held for a driver that has no place.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <ostream>

#include "cluster/overcommit.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct LifeTurn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

void showValue(const LifeTurn& turn, std::ostream& out) {
  out << "{" << turn.what << ", " << turn.a << ", " << turn.b << "}";
}

std::vector<LifeTurn> DrawLifeTurns() {
  return *rc::gen::container<std::vector<LifeTurn>>(
      rc::gen::build<LifeTurn>(rc::gen::set(&LifeTurn::what, rc::gen::inRange(0, 22)),
                               rc::gen::set(&LifeTurn::a, rc::gen::arbitrary<std::uint32_t>()),
                               rc::gen::set(&LifeTurn::b, rc::gen::arbitrary<std::uint32_t>())));
}

std::vector<framework::Profile> LivingProfiles(bool evict, bool backfill) {
  std::vector<std::string> plugins = {"Coscheduling", "ResourceReservation"};
  if (evict) plugins.emplace_back("GangPreemption");
  if (backfill) plugins.emplace_back("BackfillScoring");
  return testing::ProfilesWith(plugins, "{name: ResourceReservation, args: {driverSeconds: 60}}");
}

class DriverLife {
 public:
  DriverLife(bool evict, bool backfill) : harness_({}, LivingProfiles(evict, backfill)) {}

  void Happen(const LifeTurn& turn) {
    const std::string pod = PodName(turn.a);
    switch (turn.what) {
      case 0:
      case 1:
        AddNode("node-" + std::to_string(turn.a % 4), turn);
        break;
      case 2:
        harness_.NodeGone("node-" + std::to_string(turn.a % 4));
        break;
      case 3:
        Remove(pod);
        break;
      case 4:
        Leave(pod);
        break;
      case 5:
      case 6:
        harness_.Pass(Duration::Seconds(turn.b % 40));
        break;
      case 7:
      case 8:
      case 9:
        Bind(pod, turn.b % 4 == 0);
        break;
      case 10:
        Evict(turn);
        break;
      case 11:
      case 12:
        harness_.Object(ReservationOf(turn));
        break;
      case 13:
        harness_.ObjectGone(ReservationOf(turn));
        break;
      case 14:
        harness_.Object(GroupOf(turn));
        break;
      case 15:
        harness_.ObjectGone(GroupOf(turn));
        break;
      case 16:
        Change(pod, turn);
        break;
      case 17:
        harness_.Listed();
        break;
      default:
        Add(pod, turn);
    }
    if (turn.b % 3 != 0) harness_.Schedule();
  }

  std::string Verify() {
    const Engine& engine = harness_.engine();
    if (const auto difference = engine.Verify()) return *difference;
    const cluster::State& state = engine.state();
    for (std::uint32_t i = 0; i < state.nodes().row_count(); ++i) {
      const cluster::NodeRow row{i};
      if (state.nodes().has_node(row) && cluster::IsOvercommitted(state, row)) {
        return "the same room is promised twice";
      }
    }
    return HoldsForNobody() ? "room is held for nobody" : "";
  }
  std::string VerifyCaches() { return harness_.engine().VerifyCaches().value_or(""); }

 private:
  // Two drivers for each of three gangs, their executors, and others.
  static std::string PodName(std::uint32_t a) {
    static constexpr const char* kGangs[] = {"x", "y", "z"};
    const std::string gang = kGangs[a % 3];
    const std::uint32_t which = a / 3 % 8;
    if (which < 2) return fmt::format("driver-{}{}", gang, which);
    return which < 6 ? fmt::format("work-{}{}", gang, which) : fmt::format("other-{}", a % 24);
  }
  void AddNode(const std::string& name, const LifeTurn& turn) {
    // Nodes only grow: what is there never becomes too much by itself.
    cpus_[name] = std::max(cpus_[name], static_cast<int>(turn.b % 8));
    harness_.Node(cluster::testing::NodeBuilder(name)
                      .Has("cpu", std::to_string(cpus_[name]))
                      .Has("pods", "8"));
  }
  void Add(const std::string& name, const LifeTurn& turn) {
    if (harness_.engine().Standing("uid-" + name) != PodStanding::kUnknown) return;
    cluster::testing::PodBuilder pod(name);
    pod.Asks("cpu", std::to_string(1 + turn.b / 16 % 2))
        .Priority(static_cast<int>(turn.b / 32 % 3))
        .Created(harness_.now());
    if (turn.b % 5 < 2) pod.Annotation("scheduling.kubenexus.io/expected-duration", "30s");
    if (!name.starts_with("other")) Join(name[name.size() - 2], turn, pod);
    if (turn.b % 13 == 0) pod.Label("scheduling.kubenexus.io/app-id", "app");
    if (name.starts_with("driver")) {
      pod.Label("spark-role", "driver");
      if (turn.b % 5 != 0) {
        pod.Annotation("scheduling.kubenexus.io/executor-resources",
                       turn.b % 2 == 0 ? "cpu=2" : "cpu=1");
      }
    }
    pods_[name] = pod;
    harness_.Pod(pods_[name]);
  }
  // The third gang has an object that says how many.
  static void Join(char gang, const LifeTurn& turn, cluster::testing::PodBuilder& pod) {
    if (gang == 'z') {
      pod.Label("scheduling.x-k8s.io/pod-group", "z");
      return;
    }
    pod.Label("pod-group.scheduling.kubenexus.io/name", std::string(1, gang))
        .Label("pod-group.scheduling.kubenexus.io/min-available",
               std::to_string(turn.b % 7 == 0 ? 2 + turn.b / 8 % 4 : 3));
  }
  void Remove(const std::string& name) {
    pods_.erase(name);
    harness_.PodGone(name);
  }
  void Leave(const std::string& name) {
    const auto pod = pods_.find(name);
    if (pod == pods_.end()) return;
    pod->second.meta.deleted = harness_.now() + Duration::Seconds(30);
    Tell(name);
  }
  void Bind(const std::string& name, bool fails) {
    if (harness_.engine().Standing("uid-" + name) != PodStanding::kBinding) return;
    harness_.FinishBinding(name, fails ? std::optional<std::string>("no") : std::nullopt);
    if (!fails) Tell(name);
  }
  // What the API server says of the pod now.
  void Tell(const std::string& name) {
    k8s::Pod pod = pods_.at(name);
    const bool bound = harness_.engine().Standing("uid-" + name) == PodStanding::kBound;
    if (bound) pod.spec.node_name = harness_.NodeOf(name);
    harness_.Pod(pod);
  }
  // Its role, or how many of its gang must start, if it has one.
  void Change(const std::string& name, const LifeTurn& turn) {
    const auto pod = pods_.find(name);
    if (pod == pods_.end()) return;
    cluster::testing::SetSorted<std::string>(pod->second.meta.labels, "spark-role",
                                             turn.b % 2 == 0 ? "driver" : "executor");
    if (turn.b % 3 == 0) {
      cluster::testing::SetSorted<std::string>(pod->second.meta.labels,
                                               "pod-group.scheduling.kubenexus.io/min-available",
                                               std::to_string(1 + turn.b / 4 % 4));
    }
    Tell(name);
  }
  void Evict(const LifeTurn& turn) {
    const std::vector<std::string> asked = harness_.evictions();
    if (asked.empty()) return;
    const std::string& name = asked[turn.a % asked.size()];
    if (turn.b % 4 == 0) return harness_.AnswerEviction(name, "no");
    // It may be seen to go before the answer, or after, or be gone at once.
    if (turn.b % 4 == 1) {
      pods_.erase(name);
      return harness_.FinishEviction(name);
    }
    if (turn.b % 4 == 2) Leave(name);
    harness_.AnswerEviction(name);
  }
  k8s::ResourceReservation ReservationOf(const LifeTurn& turn) const {
    static constexpr const char* kNames[] = {"x", "y", "z", "app"};
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = made.meta.uid = kNames[turn.a % 4];
    made.meta.created = harness_.now();
    if (turn.a % 4 < 3) made.pod_group = made.meta.name;
    if (turn.b % 5 == 0) made.start = harness_.now() + Duration::Seconds(10);
    if (turn.b % 7 < 3) made.duration = Duration::Seconds(turn.b / 8 % 60 + 1);
    for (std::uint32_t i = 0; i <= turn.b / 4 % 4; ++i) {
      made.places.push_back({std::to_string(i),
                             turn.b % 11 == 0 ? "node-1" : "",
                             {{"cpu", k8s::Quantity::FromUnits(1 + turn.b / 16 % 3)}}});
    }
    return made;
  }
  static k8s::PodGroup GroupOf(const LifeTurn& turn) {
    k8s::PodGroup group;
    group.api = k8s::PodGroupApi::kSigs;
    group.meta.namespace_ = "default";
    group.meta.name = "z";
    group.minimum = static_cast<std::int32_t>(turn.b % 5);
    return group;
  }
  // Places of executors, and no driver that has a place or is on its way to one.
  bool HoldsForNobody() {
    const cluster::State& state = harness_.engine().state();
    for (const auto& [key, reservation] : harness_.engine().reservations().all()) {
      if (!reservation.made_for.valid()) continue;
      const auto& members = state.gangs().Get(reservation.made_for).members;
      const bool wanted = std::any_of(members.begin(), members.end(), [&](cluster::PodId pod) {
        return state.pod(pod).node.valid() ||
               harness_.engine().queue().Get(pod).place != QueuePlace::kUnschedulable;
      });
      for (const Reservation::Place& place : reservation.places) {
        if (!wanted && place.hold.valid() && state.pod(place.hold).node.valid()) return true;
      }
    }
    return false;
  }

  testing::Harness harness_;
  std::map<std::string, int> cpus_;
  std::map<std::string, k8s::Pod> pods_;  // as they were last told of, without their nodes
};

RC_GTEST_PROP(DriverLives, AreCountedRightInEveryOrderOfEvents, ()) {
  DriverLife life(*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>());
  for (const LifeTurn& turn : DrawLifeTurns()) {
    life.Happen(turn);
    RC_ASSERT(life.Verify() == "");
  }
  RC_ASSERT(life.VerifyCaches() == "");
}

}  // namespace
}  // namespace knx::engine
