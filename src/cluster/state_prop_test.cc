// Random histories of a cluster: counts always equal a recount, and a plan that is taken back
// leaves no trace.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "cluster/state.h"
#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::NodeBuilder;
using testing::PodBuilder;

constexpr int kNodes = 6;
constexpr int kPodNames = 20;

std::string NodeName(int i) { return "node-" + std::to_string(i); }

k8s::Node RandomNode() {
  NodeBuilder node(NodeName(*rc::gen::inRange(0, kNodes)));
  node.Has("cpu", std::to_string(*rc::gen::inRange(1, 9))).Has("pods", "10");
  if (*rc::gen::arbitrary<bool>()) node.Has("example.com/gpu", "4");
  if (*rc::gen::arbitrary<bool>()) node.Label("zone", *rc::gen::element<std::string>("a", "b"));
  if (*rc::gen::arbitrary<bool>()) node.Image(*rc::gen::element<std::string>("x:1", "y:1"), 100);
  if (*rc::gen::arbitrary<bool>()) node.Taint("t", "", k8s::TaintEffect::kNoSchedule);
  return node;
}

k8s::PodAffinityTerm RandomTerm() {
  const std::string app = *rc::gen::element<std::string>("a", "b");
  k8s::PodAffinityTerm term = testing::Pods(*rc::gen::element<std::string>("zone", "rack"),
                                            testing::Labelled({{"app", app}}));
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      term.namespaces = {"default", "other"};
      break;
    case 1:
      term.namespace_selector = testing::Labelled({{"team", "x"}});
      break;
    case 2:
      term.namespace_selector.emplace();
      break;
    case 3:
      term.selector = k8s::LabelSelector{{}, {{"app", k8s::SelectorOperator::kNotIn, {app}}}};
      break;
    case 4:
      term.selector.reset();
      break;
    default:
      break;
  }
  return term;
}

// What pods say about each other, and what makes a difference to those who do.
void AddRelations(PodBuilder& pod) {
  if (*rc::gen::arbitrary<bool>()) pod.Namespace("other");
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      pod.Near(RandomTerm());
      if (*rc::gen::arbitrary<bool>()) pod.Near(RandomTerm());
      break;
    case 1:
      pod.Apart(RandomTerm());
      break;
    case 2:
      pod.PrefersNear(*rc::gen::inRange(1, 5), RandomTerm());
      pod.PrefersApart(*rc::gen::inRange(1, 5), RandomTerm());
      break;
    case 3:
      pod.Spread(testing::Evenly("zone", testing::Labelled({{"app", "a"}})));
      break;
    case 4:
      pod.BeingDeleted();
      break;
    case 5:
      pod.ControlledBy("ReplicaSet", *rc::gen::element<std::string>("r1", "r2"));
      break;
    default:
      break;
  }
}

k8s::Object RandomBystander() {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return testing::NamespaceWith(*rc::gen::element<std::string>("default", "other"),
                                    {{"team", *rc::gen::element<std::string>("x", "y")}});
    case 1: {
      k8s::Service service;
      service.meta.namespace_ = "default";
      service.meta.name = "s";
      service.selector = {{"app", *rc::gen::element<std::string>("a", "b")}};
      return service;
    }
    default: {
      k8s::Workload set;
      set.meta.namespace_ = "default";
      set.meta.name = *rc::gen::element<std::string>("r1", "r2");
      set.selector = testing::Labelled({{"app", *rc::gen::element<std::string>("a", "b")}});
      return set;
    }
  }
}

k8s::Pod RandomPod(int i, bool may_have_node) {
  PodBuilder pod("pod-" + std::to_string(i));
  pod.Asks("cpu", std::to_string(*rc::gen::inRange(1, 5) * 100) + "m");
  if (*rc::gen::arbitrary<bool>()) pod.Asks("example.com/gpu", "1");
  if (*rc::gen::inRange(0, 4) == 0) pod.Asks("memory", *rc::gen::element("3Ei", "7Ei", "9Ei"));
  if (*rc::gen::arbitrary<bool>()) pod.Port(*rc::gen::element(80, 81));
  if (*rc::gen::arbitrary<bool>()) pod.Label("app", *rc::gen::element<std::string>("a", "b"));
  if (*rc::gen::arbitrary<bool>()) AddRelations(pod);
  if (may_have_node && *rc::gen::arbitrary<bool>()) pod.On(NodeName(*rc::gen::inRange(0, kNodes)));
  return pod;
}

// Everything a reader can see, by name, so that the order in which things came does not matter.
std::map<std::string, std::string> Picture(const State& state) {
  std::map<std::string, std::string> out;
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const PodId id{i};
    if (!state.pods().Contains(id)) continue;
    const Pod& pod = state.pod(id);
    out["pod " + pod.uid] =
        (pod.node.valid() ? state.nodes().name(pod.node) : "-") + (pod.assumed ? " assumed" : "") +
        (pod.nominated.valid() ? " for " + state.nodes().name(pod.nominated) : "");
  }
  for (std::uint32_t i = 0; i < state.nodes().row_count(); ++i) {
    const NodeRow row{i};
    std::string text = std::to_string(state.nodes().pod_count(row));
    for (std::uint32_t r = 0; r < state.resources().size(); ++r) {
      text += " " + std::to_string(state.nodes().requested(ResourceId{r})[row]) + "/" +
              std::to_string(state.nodes().allocatable(ResourceId{r})[row]);
    }
    text += " " + std::to_string(state.nodes().assumed_cpu()[row]);
    out["row " + std::to_string(i)] = text;
  }
  return out;
}

class History {
 public:
  void Happen() {
    const int what = *rc::gen::inRange(0, 12);
    if (what < 2) {
      state_.UpsertNode(RandomNode());
    } else if (what == 2) {
      const NodeRow row = state_.nodes().Find(NodeName(*rc::gen::inRange(0, kNodes)));
      if (row.valid() && state_.nodes().has_node(row)) state_.RemoveNode(row);
    } else if (what < 7) {
      const int i = *rc::gen::inRange(0, kPodNames);
      const PodId known = state_.pods().Find("uid-pod-" + std::to_string(i));
      if (known.valid()) {
        state_.UpdatePod(known, RandomPod(i, true));
      } else {
        state_.AddPod(RandomPod(i, true));
      }
    } else if (what == 7) {
      if (const PodId pod = AnyPod(); pod.valid()) state_.RemovePod(pod);
    } else if (what == 8) {
      const k8s::Object object = RandomBystander();
      *rc::gen::arbitrary<bool>() ? state_.UpsertObject(object) : state_.RemoveObject(object);
    } else if (what == 9) {
      if (const PodId pod = AnyPod(); pod.valid()) state_.RelationOf(pod);
    } else {
      Plan();
    }
  }

  // One step of a plan, also taken outside of one.
  void Plan() {
    const PodId pod = AnyPod();
    const NodeRow row = AnyNode();
    if (!pod.valid() || !row.valid()) return;
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        if (!state_.pod(pod).node.valid()) state_.Assume(pod, row);
        break;
      case 1:
        if (state_.pod(pod).node.valid()) state_.Displace(pod);
        break;
      case 2:
        state_.Nominate(pod, row);
        break;
      default:
        state_.ClearNomination(pod);
    }
  }

  State& state() { return state_; }

 private:
  PodId AnyPod() const {
    return state_.pods().Find("uid-pod-" + std::to_string(*rc::gen::inRange(0, kPodNames)));
  }
  NodeRow AnyNode() const {
    const NodeRow row = state_.nodes().Find(NodeName(*rc::gen::inRange(0, kNodes)));
    return row.valid() && state_.nodes().has_node(row) ? row : NodeRow{};
  }

  State state_;
};

RC_GTEST_PROP(StateProperties, CountsEqualARecountAfterEveryStep, ()) {
  History history;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    history.Happen();
    RC_ASSERT(history.state().Verify().value_or("equal") == "equal");
  }
}

RC_GTEST_PROP(StateProperties, APlanThatIsTakenBackLeavesNoTrace, ()) {
  History history;
  for (int i = *rc::gen::inRange(10, 40); i > 0; --i) history.Happen();
  State& state = history.state();
  const auto before = Picture(state);
  const auto outer = state.Mark();
  for (int i = *rc::gen::inRange(0, 20); i > 0; --i) history.Plan();
  const auto inner = state.Mark();
  for (int i = *rc::gen::inRange(0, 10); i > 0; --i) history.Plan();
  if (*rc::gen::arbitrary<bool>()) {
    state.Commit(inner);
  } else {
    state.Rollback(inner);
  }
  state.Rollback(outer);
  RC_ASSERT(Picture(state) == before);
  RC_ASSERT(state.Verify().value_or("equal") == "equal");
  for (int i = 0; i < 10; ++i) history.Happen();
  RC_ASSERT(state.Verify().value_or("equal") == "equal");
}

}  // namespace
}  // namespace knx::cluster
