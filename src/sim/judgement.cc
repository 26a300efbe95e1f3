#include "sim/judgement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/counted.h"
#include "k8s/names.h"
#include "k8s/selector.h"
#include "sim/cluster.h"

namespace knx::sim {

using scenario::Expectation;

namespace {

constexpr std::size_t kMaxPodsNamed = 8;  // in one message

using Pods = std::vector<PodPtr>;

Pods Select(const scenario::PodSelection& selection, const Store& store) {
  Pods out;
  for (const auto& [key, pod] : store.All<k8s::Pod>()) {
    if (selection.Matches(*pod)) out.push_back(pod);
  }
  return out;
}

std::int64_t CountIf(const Pods& pods, const std::function<bool(const k8s::Pod&)>& test) {
  return std::count_if(pods.begin(), pods.end(), [&](const PodPtr& pod) { return test(*pod); });
}

bool IsPlaced(const k8s::Pod& pod) { return !pod.spec.node_name.empty(); }
bool IsPending(const k8s::Pod& pod) { return !IsPlaced(pod) && !IsFinished(pod); }
bool IsTerminating(const k8s::Pod& pod) { return pod.meta.deleted.has_value(); }

// "a (on n1), b (waits, Unschedulable: 0/3 nodes ...), 5 more"
std::string Describe(const Pods& pods) {
  if (pods.empty()) return "no such pod";
  std::vector<std::string> parts;
  for (const PodPtr& pod : pods) {
    if (parts.size() == kMaxPodsNamed) {
      parts.push_back(fmt::format("{} more", pods.size() - kMaxPodsNamed));
      break;
    }
    if (IsPlaced(*pod)) {
      parts.push_back(fmt::format("{} on {}", pod->meta.name, pod->spec.node_name));
      continue;
    }
    const k8s::Condition* condition =
        FindCondition(pod->status.conditions, k8s::names::kPodScheduled);
    parts.push_back(condition == nullptr ? fmt::format("{} waits, not yet tried", pod->meta.name)
                                         : fmt::format("{} waits, {}: \"{}\"", pod->meta.name,
                                                       condition->reason, condition->message));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool OneMatches(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return scenario::MatchesPattern(text, pattern);
  });
}

std::optional<std::string> UnmetCounts(const Expectation& e, const Pods& pods,
                                       const Cluster& cluster) {
  const auto phase = [&](k8s::PodPhase wanted) {
    return CountIf(pods, [wanted](const k8s::Pod& pod) { return pod.status.phase == wanted; });
  };
  std::int64_t attempts = 0;
  for (const PodPtr& pod : pods) attempts += cluster.scheduler().events().AttemptsOf(KeyOf(*pod));
  const std::tuple<std::string_view, const std::optional<scenario::NumberRange>&, std::int64_t>
      numbers[] = {
          {"there", e.count, static_cast<std::int64_t>(pods.size())},
          {"placed", e.placed, CountIf(pods, IsPlaced)},
          {"pending", e.pending, CountIf(pods, IsPending)},
          {"running", e.running, phase(k8s::PodPhase::kRunning)},
          {"succeeded", e.succeeded, phase(k8s::PodPhase::kSucceeded)},
          {"failed", e.failed, phase(k8s::PodPhase::kFailed)},
          {"being deleted", e.terminating, CountIf(pods, IsTerminating)},
          {"attempts", e.attempts, attempts},
      };
  for (const auto& [what, wanted, found] : numbers) {
    if (wanted.has_value() && !wanted->Contains(found)) {
      return fmt::format("{} {} ({})", found, what, Describe(pods));
    }
  }
  return std::nullopt;
}

std::optional<std::string> UnmetPlaces(const Expectation& e, const Pods& pods) {
  if (!e.on.empty() || !e.not_on.empty()) {
    if (pods.empty()) return "no such pod";
    for (const PodPtr& pod : pods) {
      const bool wrong = (!e.on.empty() && !OneMatches(e.on, pod->spec.node_name)) ||
                         OneMatches(e.not_on, pod->spec.node_name);
      if (wrong) return Describe(pods);
    }
  }
  if (e.nominated.has_value()) {
    if (pods.empty()) return "no such pod";
    for (const PodPtr& pod : pods) {
      if (!scenario::MatchesPattern(pod->status.nominated_node_name, *e.nominated)) {
        return fmt::format("{} is nominated to \"{}\"", pod->meta.name,
                           pod->status.nominated_node_name);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> UnmetScheduled(bool wanted, const Pods& pods) {
  if (pods.empty()) return "no such pod";
  for (const PodPtr& pod : pods) {
    const k8s::Condition* condition =
        FindCondition(pod->status.conditions, k8s::names::kPodScheduled);
    const std::string_view status =
        condition == nullptr ? std::string_view("not set") : condition->status;
    if (status != (wanted ? "True" : "False")) {
      return fmt::format("PodScheduled of {} is {}", pod->meta.name, status);
    }
  }
  return std::nullopt;
}

std::optional<std::string> UnmetReasons(const Expectation& e, const Pods& pods) {
  if (e.reason.empty() && e.message.empty()) return std::nullopt;
  Pods waiting;
  for (const PodPtr& pod : pods) {
    if (IsPending(*pod)) waiting.push_back(pod);
  }
  if (waiting.empty()) return fmt::format("none waits ({})", Describe(pods));
  for (const PodPtr& pod : waiting) {
    const k8s::Condition* condition =
        FindCondition(pod->status.conditions, k8s::names::kPodScheduled);
    if (condition == nullptr || (!e.reason.empty() && condition->reason != e.reason) ||
        !e.message.Matches(condition->message)) {
      return Describe(waiting);
    }
  }
  return std::nullopt;
}

std::optional<std::string> UnmetSpread(const scenario::Spread& spread, const Pods& pods,
                                       const Store& store) {
  if (spread.empty()) return std::nullopt;
  std::map<std::string, std::int64_t> found;
  for (const auto& [name, node] : store.All<k8s::Node>()) {
    if (const std::string* value = k8s::FindValue(node->meta.labels, spread.by)) found[*value];
  }
  for (const PodPtr& pod : pods) {
    if (pod->spec.node_name.empty()) continue;
    const NodePtr node = store.Find<k8s::Node>(pod->spec.node_name);
    const std::string* value =
        node == nullptr ? nullptr : k8s::FindValue(node->meta.labels, spread.by);
    ++found[value == nullptr ? "" : *value];
  }
  std::string text = fmt::format("{}", found);
  for (const auto& [value, count] : found) {
    const auto wanted = spread.counts.find(value);
    const std::int64_t want = wanted == spread.counts.end() ? 0 : wanted->second;
    if (!spread.counts.empty() && count != want) return text;
  }
  for (const auto& [value, count] : spread.counts) {
    if (count != 0 && !found.contains(value)) return text;
  }
  if (spread.max_skew.has_value() && !found.empty()) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(found.begin(), found.end(), by_count);
    if (most->second - least->second > *spread.max_skew) return text;
  }
  return std::nullopt;
}

std::optional<std::string> UnmetEvent(const scenario::EventExpectation& wanted,
                                      const scenario::PodSelection& selection,
                                      const Cluster& cluster) {
  std::int64_t count = 0;
  std::vector<std::string> others;
  for (const EventBook::Entry& entry : cluster.scheduler().events().entries()) {
    // Events outlive their pods, of which then only the name can be compared.
    const PodPtr pod = cluster.store().Find<k8s::Pod>(entry.pod);
    k8s::Pod named;
    const std::size_t slash = entry.pod.find('/');
    named.meta.namespace_ = entry.pod.substr(0, slash);
    named.meta.name = entry.pod.substr(slash + 1);
    if (!selection.Matches(pod == nullptr ? named : *pod)) continue;
    const std::string_view type = entry.warning ? "Warning" : "Normal";
    if (entry.reason == wanted.reason && wanted.note.Matches(entry.note) &&
        (wanted.type.empty() || wanted.type == type)) {
      count += entry.count;
    } else if (others.size() < kMaxPodsNamed) {
      others.push_back(fmt::format("{} {}: \"{}\"", entry.pod, entry.reason, entry.note));
    }
  }
  if (wanted.count.Contains(count)) return std::nullopt;
  return fmt::format("{} such events; others: {}", count,
                     others.empty() ? "none" : fmt::format("{}", fmt::join(others, "; ")));
}

std::optional<std::string> UnmetNode(const scenario::NodeExpectation& wanted, const Store& store) {
  const NodePtr node = store.Find<k8s::Node>(wanted.name);
  if (node == nullptr) return fmt::format("no node {}", wanted.name);
  std::int64_t pods = 0;
  Amounts requested;
  for (const std::string& key : store.PodsOn(wanted.name)) {
    const PodPtr pod = store.Find<k8s::Pod>(key);
    if (IsFinished(*pod)) continue;
    ++pods;
    Add(requested, RequestsOf(*pod));
  }
  if (wanted.pods.has_value() && !wanted.pods->Contains(pods)) {
    return fmt::format("node {} has {}", wanted.name, FormatCount(pods, "pod", "pods"));
  }
  for (const auto& [name, amount] : ToAmounts(wanted.requested)) {
    if (AmountOf(requested, name) != amount) {
      return fmt::format("node {}: {} {} requested", wanted.name, AmountOf(requested, name), name);
    }
  }
  const k8s::Condition* ready = FindCondition(node->conditions, "Ready");
  const bool is_ready = ready != nullptr && ready->status == "True";
  if (wanted.ready.has_value() && *wanted.ready != is_ready) {
    return fmt::format("node {} is {}", wanted.name, is_ready ? "ready" : "not ready");
  }
  if (wanted.unschedulable.has_value() && *wanted.unschedulable != node->unschedulable) {
    return fmt::format("node {} is {}", wanted.name,
                       node->unschedulable ? "unschedulable" : "schedulable");
  }
  return std::nullopt;
}

std::optional<std::string> UnmetPodGroup(const scenario::PodGroupExpectation& wanted,
                                         const Store& store) {
  const auto group = store.Find<k8s::PodGroup>(
      PodGroupKey(k8s::PodGroupApi::kKubernetes, wanted.namespace_, wanted.name));
  if (group == nullptr) return fmt::format("no pod group {}", wanted.name);
  const k8s::Condition nothing{};
  const k8s::Condition& said = group->scheduled ? group->scheduled->said : nothing;
  const bool right = (!wanted.scheduled || said.status == (*wanted.scheduled ? "True" : "False")) &&
                     (wanted.reason.empty() || said.reason == wanted.reason) &&
                     (wanted.message.empty() || wanted.message.Matches(said.message));
  if (right) return std::nullopt;
  return fmt::format("pod group {} says \"{}\", reason \"{}\": \"{}\"", wanted.name, said.status,
                     said.reason, said.message);
}

}  // namespace

std::optional<std::string> Unmet(const Expectation& e, const Cluster& cluster) {
  const Store& store = cluster.store();
  const Pods pods = Select(e.pods, store);
  if (auto found = UnmetCounts(e, pods, cluster)) return found;
  if (auto found = UnmetPlaces(e, pods)) return found;
  if (e.scheduled.has_value()) {
    if (auto found = UnmetScheduled(*e.scheduled, pods)) return found;
  }
  if (auto found = UnmetReasons(e, pods)) return found;
  if (auto found = UnmetSpread(e.spread, pods, store)) return found;
  for (const scenario::EventExpectation& event : e.events) {
    if (auto found = UnmetEvent(event, e.pods, cluster)) return found;
  }
  const std::int64_t evictions = cluster.api().evictions();
  if (e.evictions.has_value() && !e.evictions->Contains(evictions)) {
    return fmt::format("{} evictions", evictions);
  }
  const std::int64_t bind_failures = cluster.scheduler().counts().bind_failures;
  if (e.bind_failures.has_value() && !e.bind_failures->Contains(bind_failures)) {
    return fmt::format("{} bind failures", bind_failures);
  }
  for (const scenario::NodeExpectation& node : e.nodes) {
    if (auto found = UnmetNode(node, store)) return found;
  }
  for (const scenario::PodGroupExpectation& group : e.pod_groups) {
    if (auto found = UnmetPodGroup(group, store)) return found;
  }
  return std::nullopt;
}

}  // namespace knx::sim
