#include "plugins/kube/node_affinity/node_affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "k8s/object_fields.h"
#include "k8s/selector_complaint.h"
#include "plugins/common/args.h"
#include "plugins/common/node_matcher.h"
#include "plugins/common/normalize.h"

namespace knx::plugins {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

class AffinityFilter final : public framework::NodeFilter {
  enum Detail : std::uint64_t { kPodMismatch, kAddedMismatch };  // what Explain is told

 public:
  AffinityFilter(const cluster::State& state, const k8s::NodeAffinity& added,
                 const k8s::PodSpec& spec)
      : nodes_(state.nodes()),
        added_(state.words(), {}, added.required),
        pod_(state.words(), spec) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const cluster::NodeFacts& facts = nodes_.facts(nodes[i]);
      const std::string& name = nodes_.name(nodes[i]);
      if (!added_.Matches(facts, name)) {
        out.Reject(i, framework::Code::kUnresolvable, kAddedMismatch);
      } else if (!pod_.Matches(facts, name)) {
        out.Reject(i, framework::Code::kUnresolvable, kPodMismatch);
      }
    }
  }
  void Explain(const framework::Verdict& verdict,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back(verdict.detail == kAddedMismatch
                             ? "node(s) didn't match scheduler-enforced node affinity"
                             : "node(s) didn't match Pod's node affinity/selector");
  }
  [[nodiscard]] bool Current() const override { return added_.Current() && pod_.Current(); }

 private:
  const cluster::NodeTable& nodes_;
  NodeMatcher added_, pod_;
};

class PreferenceScorer final : public framework::NodeScorer {
 public:
  PreferenceScorer(const cluster::NodeTable& nodes, NodePreference preference)
      : nodes_(nodes), preference_(std::move(preference)) {}

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      raw[i] = preference_.Score(nodes_.facts(nodes[i]), nodes_.name(nodes[i]));
    }
  }
  [[nodiscard]] bool normalizes() const override { return true; }
  [[nodiscard]] std::int64_t Normalize(std::int64_t raw,
                                       framework::ScoreBounds bounds) const override {
    return MoreIsBetter(raw, bounds);
  }
  [[nodiscard]] bool Current() const override { return preference_.Current(); }

 private:
  const cluster::NodeTable& nodes_;
  NodePreference preference_;
};

using Names = std::vector<std::string>;  // sorted, unique

// The nodes one term names; nullopt if it does not go by names.
std::optional<Names> NodesNamedBy(const k8s::NodeSelectorTerm& term) {
  std::optional<Names> out;
  for (const k8s::Requirement& requirement : term.match_fields) {
    if (requirement.key != "metadata.name" || requirement.op != k8s::SelectorOperator::kIn) {
      continue;
    }
    Names names = requirement.values;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (!out) {
      out = std::move(names);
    } else {
      Names both;
      std::set_intersection(out->begin(), out->end(), names.begin(), names.end(),
                            std::back_inserter(both));
      out = std::move(both);
    }
  }
  return out;
}

// The only nodes that come into question, if every term goes by names.
std::optional<Names> NodesNamedBy(const std::vector<k8s::NodeSelectorTerm>& terms) {
  if (terms.empty()) return std::nullopt;
  Names out;
  for (const k8s::NodeSelectorTerm& term : terms) {
    const std::optional<Names> named = NodesNamedBy(term);
    if (!named) return std::nullopt;
    Names both;
    std::set_union(out.begin(), out.end(), named->begin(), named->end(), std::back_inserter(both));
    out = std::move(both);
  }
  return out;
}

std::string ComplaintAbout(const std::vector<k8s::PreferredSchedulingTerm>& preferred) {
  std::vector<std::string> complaints;
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    if (preferred[i].weight == 0) continue;
    for (std::string& complaint :
         k8s::ComplaintsAbout(preferred[i].preference, fmt::format("[{}]", i))) {
      complaints.push_back(std::move(complaint));
    }
  }
  return k8s::Together(complaints);
}

void ReadAddedAffinity(k8s::FieldReader& fields, k8s::NodeAffinity& out) {
  k8s::ReadNodeAffinity(fields, out);
  if (!fields.ok()) return;
  if (out.required) {
    for (std::size_t i = 0; i < out.required->terms.size(); ++i) {
      if (const auto reason = InvalidReason(out.required->terms[i])) {
        fields.Fail(kRequired, fmt::format("nodeSelectorTerms[{}].{}", i, *reason));
      }
    }
  }
  for (std::size_t i = 0; i < out.preferred.size(); ++i) {
    if (const auto reason = InvalidReason(out.preferred[i].preference)) {
      fields.Fail(kPreferred, fmt::format("[{}].preference.{}", i, *reason));
    }
  }
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NodeAffinity::Make(const framework::PluginArgs& args) {
  NodeAffinityArgs read;
  KNX_TRY_DONE(ReadArgs(args, "NodeAffinityArgs", [&](k8s::FieldReader& fields) {
    fields.Map("addedAffinity", [&](k8s::FieldReader& affinity) {
      ReadAddedAffinity(affinity, read.added_affinity);
    });
  }));
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeAffinity>(std::move(read)));
}

framework::EventSet NodeAffinity::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {framework::EventKind::kNodeAdd, framework::EventKind::kNodeLabel,
          framework::EventKind::kNodeTaint};
}

bool NodeAffinity::MayHelp(const framework::ClusterEvent& event,
                           const framework::PodView& pod) const {
  if (event.kind == framework::EventKind::kNodeTaint) return true;
  const cluster::NodeTable& nodes = pod.state.nodes();
  const cluster::NodeFacts& now = nodes.facts(event.row);
  const std::string& node_name = nodes.name(event.row);
  const NodeMatcher added(pod.state.words(), {}, added_.required);
  const NodeMatcher own(pod.state.words(), pod.pod_class.spec);
  const auto matches = [&](const cluster::NodeFacts& node) {
    return added.Matches(node, node_name) && own.Matches(node, node_name);
  };
  return matches(now) && (event.node_before == nullptr || !matches(*event.node_before));
}

framework::PreFilterResult NodeAffinity::PreFilter(const framework::PodView& pod) const {
  const k8s::PodSpec& spec = pod.pod_class.spec;
  const std::optional<k8s::NodeSelector>& required = RequiredOf(spec);
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  if (!required && !added_.required && spec.node_selector.empty()) {
    result.outcome = framework::Outcome::Skip();
    return result;
  }
  if (required) result.only_nodes = NodesNamedBy(required->terms);
  if (result.only_nodes && result.only_nodes->empty()) {
    result.outcome = framework::Outcome::Unresolvable("pod affinity terms conflict");
  }
  // Also on conflict: a configuration may have only the filter, which then rejects node by node.
  result.filter = std::make_unique<AffinityFilter>(pod.state, added_, spec);
  return result;
}

framework::PreScoreResult NodeAffinity::PreScore(const framework::PodView& pod) const {
  const k8s::PodSpec& spec = pod.pod_class.spec;
  static const std::vector<k8s::PreferredSchedulingTerm> none;
  const auto& preferred = spec.node_affinity ? spec.node_affinity->preferred : none;
  framework::PreScoreResult result;
  result.scope = framework::Scope::kFacts;
  if (preferred.empty() && added_.preferred.empty()) {
    result.outcome = framework::Outcome::Skip();
    return result;
  }
  if (std::string complaint = ComplaintAbout(preferred); !complaint.empty()) {
    result.outcome = framework::Outcome::Failed(std::move(complaint));
    return result;
  }
  NodePreference preference(pod.state.words());
  preference.Add(added_.preferred);
  preference.Add(preferred);
  result.scorer = std::make_unique<PreferenceScorer>(pod.state.nodes(), std::move(preference));
  return result;
}

}  // namespace knx::plugins
