// InterPodAffinity and PodTopologySpread on random clusters: what was prepared once and brought up
// to date, what is prepared anew, and what counting every pod on every node gives are all the same.
#include <gtest/gtest.h>
// After gtest, which it extends.
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "cluster/testing/builders.h"
#include "k8s/selector.h"
#include "plugins/kube/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::NodeRow;
using cluster::PodId;
using cluster::State;
using cluster::testing::Evenly;
using cluster::testing::Labelled;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::Pods;
using framework::Code;

constexpr int kNodes = 6;
constexpr int kPodNames = 14;

template <class T>
T OneOf(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}
bool Sometimes() { return *rc::gen::inRange(0, 3) == 0; }

std::string RandomKey() { return OneOf<std::string>({"zone", "rack", "kubernetes.io/hostname"}); }

k8s::Node RandomNode(int i) {
  NodeBuilder node("n" + std::to_string(i));
  if (!Sometimes()) node.Label("zone", OneOf<std::string>({"a", "b", ""}));
  if (!Sometimes()) node.Label("rack", OneOf<std::string>({"1", "2", "3"}));
  if (!Sometimes()) node.Label("kubernetes.io/hostname", "n" + std::to_string(i));
  if (Sometimes()) node.Taint("t", "", k8s::TaintEffect::kNoSchedule);
  return node;
}

std::optional<k8s::LabelSelector> RandomSelector() {
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return std::nullopt;
    case 1:
      return k8s::LabelSelector{};
    case 2:
      return k8s::LabelSelector{{}, {{"app", k8s::SelectorOperator::kNotIn, {"a"}}}};
    case 3:
      return k8s::LabelSelector{{}, {{"tier", k8s::SelectorOperator::kExists, {}}}};
    default:
      return Labelled({{"app", OneOf<std::string>({"a", "b"})}});
  }
}

k8s::PodAffinityTerm RandomTerm() {
  k8s::PodAffinityTerm term = Pods(RandomKey(), RandomSelector());
  if (Sometimes()) term.namespaces = {OneOf<std::string>({"default", "other"})};
  if (Sometimes()) {
    term.namespace_selector = Sometimes() ? k8s::LabelSelector{} : Labelled({{"team", "x"}});
  }
  return term;
}

k8s::TopologySpreadConstraint RandomConstraint() {
  k8s::TopologySpreadConstraint out = Evenly(RandomKey(), RandomSelector(), *rc::gen::inRange(1, 3),
                                             Sometimes() ? k8s::WhenUnsatisfiable::kDoNotSchedule
                                                         : k8s::WhenUnsatisfiable::kScheduleAnyway);
  out.min_domains = *rc::gen::inRange(1, 4);
  if (Sometimes()) out.node_affinity_policy = k8s::NodeInclusionPolicy::kIgnore;
  if (Sometimes()) out.node_taints_policy = k8s::NodeInclusionPolicy::kHonor;
  if (Sometimes()) out.match_label_keys = {"tier"};
  return out;
}

PodBuilder RandomPod(const std::string& name) {
  PodBuilder pod(name);
  if (Sometimes()) pod.Namespace("other");
  pod.Label("app", OneOf<std::string>({"a", "b"}));
  if (Sometimes()) pod.Label("tier", OneOf<std::string>({"1", "2"}));
  if (Sometimes()) pod.NodeSelector("rack", "1");
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        pod.Near(RandomTerm());
        break;
      case 1:
        pod.Apart(RandomTerm());
        break;
      case 2:
        pod.PrefersNear(*rc::gen::inRange(1, 9), RandomTerm());
        break;
      case 3:
        pod.PrefersApart(*rc::gen::inRange(1, 9), RandomTerm());
        break;
      default:
        pod.Spread(RandomConstraint());
    }
  }
  return pod;
}

// ---- by the definitions ----

class Recount {
 public:
  Recount(const State& state, PodId asking) : state_(state), asking_(asking) {
    for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
      if (!state.pods().Contains(PodId{i})) continue;
      const NodeRow node = state.pod(PodId{i}).node;
      if (node.valid() && state.nodes().has_node(node)) placed_.push_back(PodId{i});
    }
  }

  Code Affinity(NodeRow row) const {
    const k8s::PodSpec& spec = state_.class_of(asking_).spec;
    const auto& near = spec.pod_affinity.required;
    bool all_present = true;
    bool nobody = true;
    for (const auto& term : near) {
      if (!Label(row, term.topology_key)) return Code::kUnresolvable;
      const auto meant = [&](PodId id) { return MeetsAll(near, id); };
      all_present &= CountIn(term.topology_key, row, meant) > 0;
      for (const PodId id : placed_) {
        nobody &= !(meant(id) && Label(state_.pod(id).node, term.topology_key));
      }
    }
    if (!all_present && !(nobody && MeetsAll(near, asking_))) return Code::kUnresolvable;
    for (const auto& term : spec.pod_anti_affinity.required) {
      if (CountIn(term.topology_key, row, [&](PodId id) { return Meets(term, asking_, id); }) > 0) {
        return Code::kUnschedulable;
      }
    }
    for (const PodId id : placed_) {
      for (const auto& term : state_.class_of(id).spec.pod_anti_affinity.required) {
        if (Meets(term, id, asking_) && SameDomain(term.topology_key, row, state_.pod(id).node)) {
          return Code::kUnschedulable;
        }
      }
    }
    return Code::kSuccess;
  }

  std::int64_t AffinityScore(NodeRow row) const {
    std::int64_t score = 0;
    const auto add = [&](const k8s::PodAffinityTerm& term, std::int64_t weight, PodId speaker,
                         PodId meant, PodId other) {
      if (Meets(term, speaker, meant) && SameDomain(term.topology_key, row, state_.pod(other).node))
        score += weight;
    };
    const auto wishes = [&](const k8s::PodSpec& spec, PodId speaker, PodId meant, PodId other) {
      for (const auto& w : spec.pod_affinity.preferred)
        add(w.term, w.weight, speaker, meant, other);
      for (const auto& w : spec.pod_anti_affinity.preferred)
        add(w.term, -w.weight, speaker, meant, other);
    };
    for (const PodId id : placed_) {
      wishes(state_.class_of(asking_).spec, asking_, id, id);
      wishes(state_.class_of(id).spec, id, asking_, id);
      for (const auto& term : state_.class_of(id).spec.pod_affinity.required)
        add(term, 1, id, asking_, id);
    }
    return score;
  }

  Code Spread(NodeRow row) const {
    const auto constraints = Constraints(k8s::WhenUnsatisfiable::kDoNotSchedule);
    for (const auto& c : constraints) {
      const auto value = Label(row, c.topology_key);
      if (!value) return Code::kUnresolvable;
      std::map<std::string, int> counts = Counts(c, constraints);
      int least = counts.empty() ? 0 : counts.begin()->second;
      for (const auto& [key, n] : counts) least = std::min(least, n);
      if (counts.size() < static_cast<std::size_t>(c.min_domains)) least = 0;
      const int self = c.selector && k8s::Matches(*c.selector, Labels(asking_)) ? 1 : 0;
      if (counts[*value] + self - least > c.max_skew) return Code::kUnschedulable;
    }
    return Code::kSuccess;
  }

  std::int64_t SpreadScore(NodeRow row, framework::NodeRows feasible) const {
    const auto constraints = Constraints(k8s::WhenUnsatisfiable::kScheduleAnyway);
    const auto complete = [&](NodeRow r) {
      return std::all_of(constraints.begin(), constraints.end(),
                         [&](const auto& c) { return Label(r, c.topology_key).has_value(); });
    };
    if (!complete(row)) return framework::kIgnored;
    double score = 0;
    for (const auto& c : constraints) {
      const bool by_node = c.topology_key == "kubernetes.io/hostname";
      std::set<std::string> values;
      for (const NodeRow r : feasible) {
        if (complete(r))
          values.insert(by_node ? std::to_string(r.index) : *Label(r, c.topology_key));
      }
      int count = 0;
      if (by_node) {
        for (const PodId id : placed_)
          count += state_.pod(id).node == row && Counted(c, id) ? 1 : 0;
      } else {
        count = Counts(c, constraints)[*Label(row, c.topology_key)];
      }
      score += count * std::log(static_cast<double>(values.size() + 2)) + (c.max_skew - 1);
    }
    return std::llround(score);
  }

 private:
  using Constraint = k8s::TopologySpreadConstraint;

  std::string Namespace(PodId id) const {
    return std::string(state_.words().Text(state_.pod(id).namespace_));
  }
  const k8s::StringMap& Labels(PodId id) const {
    return state_.label_sets().Get(state_.pod(id).labels);
  }
  std::optional<std::string> Label(NodeRow row, const std::string& key) const {
    const Symbol value = state_.nodes().Label(row, state_.words().Find(key));
    if (!value.valid()) return std::nullopt;
    return std::string(state_.words().Text(value));
  }
  bool SameDomain(const std::string& key, NodeRow a, NodeRow b) const {
    return Label(a, key) && Label(a, key) == Label(b, key);
  }
  bool Meets(const k8s::PodAffinityTerm& term, PodId speaker, PodId other) const {
    auto names = term.namespaces;
    if (names.empty() && !term.namespace_selector) names = {Namespace(speaker)};
    bool in = std::find(names.begin(), names.end(), Namespace(other)) != names.end();
    if (term.namespace_selector) {
      const k8s::Namespace* found = state_.bystanders().FindNamespace(Namespace(other));
      in |= k8s::Matches(*term.namespace_selector,
                         found == nullptr ? k8s::StringMap{} : found->meta.labels);
    }
    return in && term.selector && k8s::Matches(*term.selector, Labels(other));
  }
  bool MeetsAll(const std::vector<k8s::PodAffinityTerm>& terms, PodId other) const {
    return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
      return Meets(term, asking_, other);
    });
  }
  template <class Meant>
  int CountIn(const std::string& key, NodeRow row, Meant meant) const {
    int count = 0;
    for (const PodId id : placed_) {
      if (SameDomain(key, row, state_.pod(id).node) && meant(id)) ++count;
    }
    return count;
  }
  std::vector<Constraint> Constraints(k8s::WhenUnsatisfiable action) const {
    std::vector<Constraint> out;
    for (Constraint c : state_.class_of(asking_).spec.topology_spread) {
      if (c.when_unsatisfiable != action) continue;
      for (const std::string& key : c.match_label_keys) {
        const std::string* value = k8s::FindValue(Labels(asking_), key);
        if (value != nullptr && c.selector) {
          c.selector->match_expressions.push_back({key, k8s::SelectorOperator::kIn, {*value}});
        }
      }
      out.push_back(std::move(c));
    }
    return out;
  }
  bool Counted(const Constraint& c, PodId id) const {
    const bool empty =
        c.selector && c.selector->match_labels.empty() && c.selector->match_expressions.empty();
    return c.selector && !empty && !state_.pod(id).terminating &&
           Namespace(id) == Namespace(asking_) && k8s::Matches(*c.selector, Labels(id));
  }
  std::map<std::string, int> Counts(const Constraint& c,
                                    const std::vector<Constraint>& constraints) const {
    std::map<std::string, int> out;
    state_.nodes().present().ForEach([&](std::uint32_t index) {
      const NodeRow row{index};
      for (const Constraint& other : constraints) {
        if (!Label(row, other.topology_key)) return;
      }
      const k8s::PodSpec& spec = state_.class_of(asking_).spec;
      if (c.node_affinity_policy == k8s::NodeInclusionPolicy::kHonor) {
        for (const auto& [key, value] : spec.node_selector) {
          if (Label(row, key) != value) return;
        }
      }
      const auto& taints = state_.taint_sets().Get(state_.nodes().facts(row).taints);
      if (c.node_taints_policy == k8s::NodeInclusionPolicy::kHonor && !taints.empty()) return;
      int& count = out[*Label(row, c.topology_key)];
      for (const PodId id : placed_) {
        if (state_.pod(id).node == row && Counted(c, id)) ++count;
      }
    });
    return out;
  }

  const State& state_;
  PodId asking_;
  std::vector<PodId> placed_;
};

// ---- what is kept ----

struct Kept {
  PodId pod;
  cluster::RelationId relation;
  framework::PreFilterResult affinity, spread;
  framework::PreScoreResult affinity_score, spread_score;
};

class World {
 public:
  World() {
    for (int i = 0; i < kNodes; ++i) state_.UpsertNode(RandomNode(i));
    for (int i = 0; i < 4; ++i) {
      Kept& kept = kept_.emplace_back();
      kept.pod = state_.AddPod(RandomPod("asking-" + std::to_string(i)));
      Prepare(kept);
    }
  }

  void Happen() {
    const std::string name = "p" + std::to_string(*rc::gen::inRange(0, kPodNames));
    const PodId known = state_.pods().Find("uid-" + name);
    const int number = *rc::gen::inRange(0, kNodes);
    const std::string node = "n" + std::to_string(number);
    switch (*rc::gen::inRange(0, 9)) {
      case 0:
        state_.UpsertNode(RandomNode(number));
        break;
      case 1: {
        const NodeRow row = state_.nodes().Find(node);
        if (row.valid() && state_.nodes().has_node(row)) state_.RemoveNode(row);
        break;
      }
      case 2:
        state_.UpsertObject(cluster::testing::NamespaceWith(
            OneOf<std::string>({"default", "other"}), {{"team", OneOf<std::string>({"x", "y"})}}));
        break;
      case 3:
        if (known.valid()) state_.RemovePod(known);
        break;
      default: {
        const k8s::Pod pod = RandomPod(name).On(node).BeingDeleted(Sometimes());
        known.valid() ? static_cast<void>(state_.UpdatePod(known, pod))
                      : static_cast<void>(state_.AddPod(pod));
      }
    }
  }

  // Tries a plan: pods are taken away and put elsewhere, looked at, and all is taken back.
  void TryPlan() {
    const auto mark = state_.Mark();
    for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
      const PodId pod =
          state_.pods().Find("uid-p" + std::to_string(*rc::gen::inRange(0, kPodNames)));
      const NodeRow row = state_.nodes().Find("n" + std::to_string(*rc::gen::inRange(0, kNodes)));
      if (!pod.valid() || !row.valid()) continue;
      if (state_.pod(pod).node.valid()) state_.Displace(pod);
      if (Sometimes()) state_.Assume(pod, row);
    }
    Compare();
    state_.Rollback(mark);
  }

  void Compare() {
    std::vector<NodeRow> rows;
    state_.nodes().present().ForEach([&](std::uint32_t row) { rows.push_back(NodeRow{row}); });
    for (Kept& kept : kept_) {
      BringUpToDate(kept);
      Kept fresh;
      fresh.pod = kept.pod;
      Prepare(fresh);
      const Recount recount(state_, kept.pod);
      CompareFilters(kept.affinity, fresh.affinity, rows,
                     [&](NodeRow row) { return recount.Affinity(row); });
      CompareFilters(kept.spread, fresh.spread, rows,
                     [&](NodeRow row) { return recount.Spread(row); });
      CompareScores(kept.affinity_score, fresh.affinity_score, rows,
                    [&](NodeRow row) { return recount.AffinityScore(row); });
      CompareScores(kept.spread_score, fresh.spread_score, rows,
                    [&](NodeRow row) { return recount.SpreadScore(row, rows); });
    }
    RC_ASSERT(state_.Verify().value_or("equal") == "equal");
  }

 private:
  void Prepare(Kept& kept) {
    const framework::PodView view = testing::RelatedView(state_, kept.pod);
    kept.relation = view.relation;
    kept.affinity = affinity_.PreFilter(view);
    kept.spread = spread_.PreFilter(view);
    kept.affinity_score = affinity_.PreScore(view);
    kept.spread_score = spread_.PreScore(view);
  }
  void BringUpToDate(Kept& kept) {
    bool current = kept.relation == state_.RelationOf(kept.pod);
    for (const auto* result : {&kept.affinity, &kept.spread}) {
      current = current && (result->filter == nullptr || result->filter->Current());
    }
    for (const auto* result : {&kept.affinity_score, &kept.spread_score}) {
      current = current && (result->scorer == nullptr || result->scorer->Current());
    }
    if (!current) return Prepare(kept);
    for (const auto* result : {&kept.affinity, &kept.spread}) {
      if (result->filter) result->filter->Refresh();
    }
    for (const auto* result : {&kept.affinity_score, &kept.spread_score}) {
      if (result->scorer) result->scorer->Refresh();
    }
  }
  template <class Right>
  static void CompareFilters(const framework::PreFilterResult& kept,
                             const framework::PreFilterResult& fresh, framework::NodeRows rows,
                             Right right) {
    const auto answers = testing::Judge(kept, rows);
    RC_ASSERT(answers == testing::Judge(fresh, rows));
    for (std::size_t i = 0; i < rows.size(); ++i) RC_ASSERT(answers[i].code == right(rows[i]));
  }
  template <class Right>
  static void CompareScores(const framework::PreScoreResult& kept,
                            const framework::PreScoreResult& fresh, framework::NodeRows rows,
                            Right right) {
    RC_ASSERT((kept.scorer == nullptr) == (fresh.scorer == nullptr));
    if (kept.scorer == nullptr) return;
    kept.scorer->OnFeasible(rows);
    fresh.scorer->OnFeasible(rows);
    const auto raw = testing::RawScores(kept, rows);
    RC_ASSERT(raw == testing::RawScores(fresh, rows));
    for (std::size_t i = 0; i < rows.size(); ++i) RC_ASSERT(raw[i] == right(rows[i]));
  }

  State state_;
  InterPodAffinity affinity_{InterPodAffinityArgs{}};
  PodTopologySpread spread_{PodTopologySpreadArgs{}};
  std::vector<Kept> kept_;
};

RC_GTEST_PROP(PodRelations, KeptAnswersAreThoseOfARecount, ()) {
  World world;
  for (int i = *rc::gen::inRange(1, 40); i > 0; --i) {
    world.Happen();
    if (Sometimes()) world.TryPlan();
    if (Sometimes()) world.Compare();
  }
  world.Compare();
}

}  // namespace
}  // namespace knx::plugins
