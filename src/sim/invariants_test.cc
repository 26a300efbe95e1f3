// Every invariant notices when what keeps it is broken. The saboteurs stand between scheduler and
// cluster; each breaks one thing, and the run must fail with the name of that invariant.
#include "sim/invariants.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "k8s/names.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

// Changes the first binding of the pod with that name.
class ChangeBinding : public Saboteur {
 public:
  using Change = std::function<void(std::vector<engine::Action>&, std::size_t)>;
  ChangeBinding(std::string pod, Change change)
      : pod_(std::move(pod)), change_(std::move(change)) {}
  void OnActions(std::vector<engine::Action>& actions) override {
    for (std::size_t i = 0; i < actions.size() && !done_; ++i) {
      const auto* bind = std::get_if<engine::BindPod>(&actions[i].what);
      if (bind == nullptr || bind->pod.name != pod_) continue;
      done_ = true;
      change_(actions, i);
      return;
    }
  }

 private:
  std::string pod_;
  Change change_;
  bool done_ = false;
};

ChangeBinding SendTo(std::string pod, std::string node) {
  return {std::move(pod), [node](std::vector<engine::Action>& actions, std::size_t i) {
            std::get<engine::BindPod>(actions[i].what).node = node;
          }};
}

class AfterStepOnce : public Saboteur {
 public:
  explicit AfterStepOnce(std::function<bool(engine::Engine&)> act) : act_(std::move(act)) {}
  void AfterStep(engine::Engine& engine) override {
    if (!done_) done_ = act_(engine);
  }

 private:
  std::function<bool(engine::Engine&)> act_;
  bool done_ = false;
};

// The scheduler keeps its state to itself; a saboteur does not care.
cluster::State& StateOf(engine::Engine& engine) {
  return const_cast<cluster::State&>(engine.state());
}

// Runs a small cluster with the saboteur in it and says which invariant broke.
using Setup = std::function<void(ClusterForTest&)>;
std::string Broken(Saboteur* saboteur, const Setup& setup = {}) {
  ClusterForTest cluster(OptionsForTest(1, saboteur));
  cluster.AddNodes(2, "4");
  k8s::Node cordoned = NodeForTest("node-closed", "4");
  cordoned.unschedulable = true;
  cluster.Create(cordoned);
  cluster.Create(PodForTest("a", "3"));
  cluster.Create(PodForTest("b", "3"));
  cluster.Create(PodForTest("waits", "3"));
  cluster.Start();
  if (setup) setup(cluster);
  const Duration end = Duration::Minutes(10);
  while (!cluster.Settled() && cluster.Step(end)) {
  }
  if (!cluster.violation().has_value()) cluster.CheckSettled();
  return cluster.violation().has_value() ? cluster.violation()->invariant : "";
}

std::string BreakCapacity() {
  // a and b are on one node each; the second is sent where the first is.
  ChangeBinding saboteur = SendTo("b", "node-1");
  return Broken(&saboteur);
}

std::string BreakPodCount() {
  ChangeBinding saboteur = SendTo("small-2", "node-tiny");
  return Broken(&saboteur, [](ClusterForTest& cluster) {
    k8s::Node tiny = NodeForTest("node-tiny", "4");
    for (auto& [name, amount] : tiny.allocatable) {
      if (name == "pods") amount = k8s::Quantity::FromUnits(1);
    }
    cluster.Create(tiny);
    k8s::Pod there = PodForTest("there", "100m");
    there.spec.node_name = "node-tiny";
    cluster.Create(there);
    cluster.RunFor(Duration::Seconds(1));
    cluster.Create(PodForTest("small-2", "100m"));
  });
}

std::string BreakHostPorts() {
  ChangeBinding saboteur = SendTo("port-2", "node-1");
  return Broken(&saboteur, [](ClusterForTest& cluster) {
    k8s::Pod pod = PodForTest("port-1", "100m");
    pod.spec.containers[0].ports.emplace_back().host_port = 80;
    pod.spec.node_name = "node-1";
    cluster.Create(pod);
    cluster.RunFor(Duration::Seconds(1));
    pod.meta.name = "port-2";
    pod.spec.node_name.clear();
    cluster.Create(pod);
  });
}

std::string BreakEligibleNode() {
  ChangeBinding saboteur = SendTo("b", "node-closed");
  return Broken(&saboteur);
}

std::string BreakBoundOnce() {
  ChangeBinding saboteur("b", [](std::vector<engine::Action>& actions, std::size_t i) {
    engine::Action again = actions[i];
    again.id += 1000;
    actions.push_back(again);
  });
  return Broken(&saboteur);
}

std::string BreakBindablePod() {
  ChangeBinding saboteur("b", [](std::vector<engine::Action>& actions, std::size_t i) {
    std::get<engine::BindPod>(actions[i].what).pod.uid = "nobody";
  });
  return Broken(&saboteur);
}

k8s::Pod MemberForTest(const std::string& name, const std::string& minimum) {
  k8s::Pod pod = PodForTest(name, "1");
  pod.meta.labels = {{std::string(k8s::names::kGangMinAvailable), minimum},
                     {std::string(k8s::names::kGangName), "train"}};
  return pod;
}

std::string BreakGangStart() {
  // One of three is not bound with the others.
  ChangeBinding saboteur("m2", [](std::vector<engine::Action>& actions, std::size_t i) {
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(i));
  });
  ClusterForTest cluster(GangOptionsForTest(1, &saboteur));
  cluster.AddNodes(1, "4");
  for (const char* const name : {"m1", "m2", "m3"}) cluster.Create(MemberForTest(name, "3"));
  cluster.Start();
  while (cluster.Step(Duration::Seconds(10))) {
  }
  return cluster.violation().has_value() ? cluster.violation()->invariant : "";
}

// Nobody is asked to go whose gang is incomplete.
class KeepsHalves : public Saboteur {
 public:
  void OnActions(std::vector<engine::Action>& actions) override {
    std::erase_if(actions, [](const engine::Action& action) {
      const auto* const evict = std::get_if<engine::EvictPod>(&action.what);
      return evict != nullptr && !evict->preemptor;
    });
  }
};

std::string BreakGangGrace() {
  KeepsHalves saboteur;
  ClusterForTest cluster(GangOptionsForTest(1, &saboteur));
  cluster.AddNodes(1, "4");
  for (const char* const name : {"m1", "m2", "m3"}) cluster.Create(MemberForTest(name, "3"));
  cluster.Start();
  cluster.RunFor(Duration::Seconds(5));
  (void)cluster.api().DeletePod("default/m2", Actor::kUser);
  cluster.agenda().After(Duration::Minutes(2), [] {});
  while (cluster.Step(Duration::Minutes(3))) {
  }
  return cluster.violation().has_value() ? cluster.violation()->invariant : "";
}

std::string BreakPlannedEviction() {
  return Broken(nullptr, [](ClusterForTest& cluster) {
    cluster.RunFor(Duration::Seconds(1));
    (void)cluster.api().DeletePod("default/a", Actor::kScheduler);
  });
}

// A more important pod comes; the saboteur does something about whom it has evicted.
class ChangePlan : public Saboteur {
 public:
  using Change = std::function<void(std::vector<engine::Action>&)>;
  explicit ChangePlan(Change change) : change_(std::move(change)) {}
  void OnActions(std::vector<engine::Action>& actions) override {
    for (const engine::Action& action : actions) {
      if (done_ || !std::holds_alternative<engine::PlanEvictions>(action.what)) continue;
      done_ = true;
      return change_(actions);
    }
  }

 private:
  Change change_;
  bool done_ = false;
};

template <class What>
What& Find(std::vector<engine::Action>& actions) {
  for (engine::Action& action : actions) {
    if (auto* what = std::get_if<What>(&action.what)) return *what;
  }
  KNX_CHECK(false, "no such action");
}

std::string BrokenByPlan(ChangePlan::Change change) {
  ChangePlan saboteur(std::move(change));
  return Broken(&saboteur, [](ClusterForTest& cluster) {
    k8s::PriorityClass high;
    high.meta.name = "high";
    high.value = 100;
    cluster.Create(high);
    cluster.RunFor(Duration::Seconds(5));
    k8s::Pod urgent = PodForTest("urgent", "2");
    urgent.spec.priority_class_name = "high";
    cluster.Create(urgent);
  });
}

std::string BreakRecount() {
  AfterStepOnce saboteur([](engine::Engine& engine) {
    cluster::State& state = StateOf(engine);
    const cluster::NodeRow row = state.nodes().Find("node-1");
    if (!row.valid() || state.nodes().pods(row).empty()) return false;
    auto& nodes = const_cast<cluster::NodeTable&>(state.nodes());
    const cluster::PodId pod = state.nodes().pods(row)[0];
    const cluster::ResourceVector more = {{cluster::kCpu, 1}};
    cluster::NodeTable::Usage usage;
    usage.requests = more;
    nodes.RemovePod(row, pod, {});
    nodes.AddPod(row, pod, usage);
    return true;
  });
  return Broken(&saboteur);
}

// The scheduler is not told of a pod.
class Silence : public Saboteur {
 public:
  bool OnEvent(engine::Event& event) override {
    const auto* pod = std::get_if<engine::PodUpserted>(&event);
    return pod == nullptr || pod->pod.meta.name != "secret";
  }
};
std::string BreakView() {
  Silence saboteur;
  return Broken(&saboteur,
                [](ClusterForTest& cluster) { cluster.Create(PodForTest("secret", "1")); });
}

// The scheduler believes that a pod of ours is somebody else's.
class Mislabel : public Saboteur {
 public:
  bool OnEvent(engine::Event& event) override {
    auto* pod = std::get_if<engine::PodUpserted>(&event);
    if (pod != nullptr && pod->pod.meta.name == "waits") {
      pod->pod.spec.scheduler_name = "somebody-else";
    }
    return true;
  }
};
std::string BreakStanding() {
  Mislabel saboteur;
  return Broken(&saboteur);
}

class LazyBones : public Saboteur {
 public:
  bool OnSchedule() override { return false; }
};
std::string BreakIdle() {
  LazyBones saboteur;
  return Broken(&saboteur);
}

std::string BreakDelivery() {
  // A write that no watch hears of.
  return Broken(nullptr, [](ClusterForTest& cluster) {
    cluster.RunFor(Duration::Seconds(5));
    auto& pods = const_cast<Store::Table<k8s::Pod>&>(cluster.store().All<k8s::Pod>());
    k8s::Pod changed = *pods["default/a"];
    changed.meta.labels = {{"new", "label"}};
    pods["default/a"] = std::make_shared<const k8s::Pod>(changed);
    cluster.agenda().After({}, [] {});
  });
}

// The event that would wake a pod is kept from the queue, but not from the state.
std::string BreakWakeUp() {
  class Blind : public Saboteur {
   public:
    bool OnEvent(engine::Event& event) override {
      const auto* node = std::get_if<engine::NodeUpserted>(&event);
      if (node == nullptr || node->node.meta.name != "node-closed" || node->node.unschedulable) {
        return true;
      }
      StateOf(*engine_).UpsertNode(node->node);
      return false;
    }
    void AfterStep(engine::Engine& engine) override { engine_ = &engine; }

   private:
    engine::Engine* engine_ = nullptr;
  };
  Blind blind;
  return Broken(&blind, [](ClusterForTest& cluster) {
    cluster.RunFor(Duration::Seconds(5));
    (void)cluster.node_lifecycle().SetUnschedulable("node-closed", false);
  });
}

std::string BreakProgress() {
  // Something that makes itself due again at once. Not checked in full, to be done in time.
  ClusterOptions options = OptionsForTest();
  options.checking = Checking::kIncremental;
  ClusterForTest cluster(options);
  cluster.Start();
  std::function<void()> again = [&] { cluster.agenda().After({}, again); };
  again();
  while (cluster.Step(Duration::Seconds(1))) {
  }
  return cluster.violation().has_value() ? cluster.violation()->invariant : "";
}

using Break = std::string (*)();
const std::map<std::string_view, Break>& Saboteurs() {
  static const std::map<std::string_view, Break> kSaboteurs = {
      {"bindable-pod", BreakBindablePod},
      {"bound-once", BreakBoundOnce},
      {"capacity", BreakCapacity},
      {"delivery", BreakDelivery},
      {"eligible-node", BreakEligibleNode},
      {"gang-grace", BreakGangGrace},
      {"gang-start", BreakGangStart},
      {"host-ports", BreakHostPorts},
      {"idle", BreakIdle},
      {"planned-eviction", BreakPlannedEviction},
      {"pod-count", BreakPodCount},
      {"progress", BreakProgress},
      {"recount", BreakRecount},
      {"standing", BreakStanding},
      {"view", BreakView},
      {"wake-up", BreakWakeUp},
  };
  return kSaboteurs;
}

TEST(Invariants, HoldWhenNobodyBreaksAnything) { EXPECT_EQ(Broken(nullptr), ""); }

TEST(Invariants, EachOfTheListIsBrokenByItsSaboteur) {
  for (const InvariantInfo& invariant : InvariantList()) {
    SCOPED_TRACE(invariant.name);
    const auto found = Saboteurs().find(invariant.name);
    ASSERT_NE(found, Saboteurs().end()) << "nobody shows that it is kept";
    EXPECT_EQ(found->second(), invariant.name);
  }
  EXPECT_EQ(Saboteurs().size(), InvariantList().size());
}

TEST(Invariants, EvictionsAreHeldAgainstTheirPlan) {
  struct Case {
    std::string_view name;
    ChangePlan::Change change;
    std::string_view broken;
  };
  const Case cases[] = {
      {"nothing is changed", [](auto&) {}, ""},
      {"no plan is announced",
       [](auto& actions) {
         std::erase_if(actions, [](const engine::Action& action) {
           return std::holds_alternative<engine::PlanEvictions>(action.what);
         });
       },
       "planned-eviction"},
      {"somebody else is evicted than planned",
       [](auto& actions) { Find<engine::EvictPod>(actions).pod.uid = "other"; },
       "planned-eviction"},
      {"the pod evicts itself",
       [](auto& actions) {
         auto& plan = Find<engine::PlanEvictions>(actions);
         plan.victims = {plan.preemptor};
       },
       "planned-eviction"},
      {"on a node where nobody leaves",
       [](auto& actions) {
         auto& plan = Find<engine::PlanEvictions>(actions);
         plan.node = plan.node == "node-1" ? "node-2" : "node-1";
       },
       "planned-eviction"},
      {"nobody has to go",
       [](auto& actions) { Find<engine::PlanEvictions>(actions).victims.clear(); },
       "planned-eviction"},
      {"for a pod that is not there",
       [](auto& actions) { Find<engine::PlanEvictions>(actions).preemptor.uid = "nobody"; },
       "planned-eviction"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(BrokenByPlan(c.change), c.broken);
  }
}

TEST(Invariants, AreNotLookedAtWhenTheyAreOff) {
  ChangeBinding saboteur = SendTo("b", "node-1");
  ClusterOptions options = OptionsForTest(1, &saboteur);
  options.checking = Checking::kOff;
  ClusterForTest cluster(options);
  cluster.AddNodes(2, "4");
  cluster.Create(PodForTest("a", "3"));
  cluster.Create(PodForTest("b", "3"));
  cluster.Start();
  cluster.RunFor(Duration::Seconds(5));
  EXPECT_FALSE(cluster.violation().has_value());
  EXPECT_EQ(cluster.NodeOf("b"), "node-1");
}

// A binding that rested on old news is nobody's fault.
TEST(Invariants, DoNotBlameTheSchedulerForWhatItCouldNotKnow) {
  ClusterForTest cluster;
  cluster.AddNodes(1, "4");
  cluster.Start();
  cluster.RunFor(Duration::Seconds(1));
  cluster.Create(PodForTest("ours", "3"));
  cluster.RunFor(Duration::Nanoseconds(500'000));
  // Written before ours is decided about, told after it.
  k8s::Pod foreign = PodForTest("foreign", "3");
  foreign.spec.node_name = "node-1";
  cluster.Create(foreign);
  EXPECT_TRUE(cluster.Settle());
  EXPECT_EQ(cluster.NodeOf("ours"), "node-1");
  EXPECT_EQ(cluster.store().PodsOn("node-1").size(), 2U);
}

}  // namespace
}  // namespace knx::sim
