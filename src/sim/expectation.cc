#include "sim/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "k8s/names.h"
#include "k8s/selector.h"
#include "sim/cluster.h"

namespace knx::sim {
namespace {

constexpr std::size_t kMaxPodsNamed = 8;  // in one message

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

using Pods = std::vector<PodPtr>;

Pods Select(const PodSelection& selection, const Store& store) {
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
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return MatchesPattern(text, pattern); });
}

std::optional<std::string> UnmetCounts(const Expectation& e, const Pods& pods,
                                       const Cluster& cluster) {
  const auto phase = [&](k8s::PodPhase wanted) {
    return CountIf(pods, [wanted](const k8s::Pod& pod) { return pod.status.phase == wanted; });
  };
  std::int64_t attempts = 0;
  for (const PodPtr& pod : pods) attempts += cluster.scheduler().events().AttemptsOf(KeyOf(*pod));
  const std::tuple<std::string_view, const std::optional<NumberRange>&, std::int64_t> numbers[] = {
      {"there", e.count, static_cast<std::int64_t>(pods.size())},
      {"placed", e.placed, CountIf(pods, IsPlaced)},
      {"pending", e.pending, CountIf(pods, IsPending)},
      {"running", e.running, phase(k8s::PodPhase::kRunning)},
      {"succeeded", e.succeeded, phase(k8s::PodPhase::kSucceeded)},
      {"failed", e.failed, phase(k8s::PodPhase::kFailed)},
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
      if (pod->status.nominated_node_name != *e.nominated) {
        return fmt::format("{} is nominated to \"{}\"", pod->meta.name,
                           pod->status.nominated_node_name);
      }
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

std::optional<std::string> UnmetSpread(const Spread& spread, const Pods& pods, const Store& store) {
  if (spread.empty()) return std::nullopt;
  std::map<std::string, std::int64_t> found;
  for (const auto& [name, node] : store.All<k8s::Node>()) {
    if (const std::string* value = k8s::FindValue(node->meta.labels, spread.by)) found[*value];
  }
  for (const PodPtr& pod : pods) {
    const NodePtr node = store.Find<k8s::Node>(pod->spec.node_name);
    const std::string* value =
        node == nullptr ? nullptr : k8s::FindValue(node->meta.labels, spread.by);
    ++found[value == nullptr ? "" : *value];
  }
  const std::string text = fmt::format("{}", found);
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

std::optional<std::string> UnmetEvent(const EventExpectation& wanted, const PodSelection& selection,
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

std::optional<std::string> UnmetNode(const NodeExpectation& wanted, const Store& store) {
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
    return fmt::format("node {} has {} pods", wanted.name, pods);
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

}  // namespace

std::string NumberRange::ToString() const {
  if (min == max) return fmt::format("{}", min);
  if (max == std::numeric_limits<std::int64_t>::max()) return fmt::format(">= {}", min);
  if (min == 0) return fmt::format("<= {}", max);
  return fmt::format("{}..{}", min, max);
}

std::optional<NumberRange> ParseNumberRange(std::string_view text) {
  NumberRange out;
  if (text.starts_with(">=") || text.starts_with("<=")) {
    const std::optional<std::int64_t> bound = ParseNumber(text.substr(2));
    if (!bound.has_value()) return std::nullopt;
    (text.front() == '>' ? out.min : out.max) = *bound;
    return out;
  }
  const std::size_t dots = text.find("..");
  const std::optional<std::int64_t> low = ParseNumber(text.substr(0, dots));
  const std::optional<std::int64_t> high =
      dots == std::string_view::npos ? low : ParseNumber(text.substr(dots + 2));
  if (!low.has_value() || !high.has_value() || *low > *high) return std::nullopt;
  return NumberRange{*low, *high};
}

bool TextMatch::Matches(std::string_view text) const {
  return (!exact || text == *exact) && (!prefix || text.starts_with(*prefix)) &&
         (!contains || text.find(*contains) != std::string_view::npos);
}

std::string TextMatch::ToString() const {
  std::vector<std::string> parts;
  if (exact) parts.push_back(fmt::format("\"{}\"", *exact));
  if (prefix) parts.push_back(fmt::format("beginning with \"{}\"", *prefix));
  if (contains) parts.push_back(fmt::format("containing \"{}\"", *contains));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string Expectation::ToString() const {
  std::vector<std::string> parts;
  const std::pair<std::string_view, const std::optional<NumberRange>&> numbers[] = {
      {"there", count},       {"placed", placed},       {"pending", pending},
      {"running", running},   {"succeeded", succeeded}, {"failed", failed},
      {"attempts", attempts}, {"evictions", evictions}, {"bind failures", bind_failures}};
  for (const auto& [what, range] : numbers) {
    if (range) parts.push_back(fmt::format("{} {}", range->ToString(), what));
  }
  if (!on.empty()) parts.push_back(fmt::format("on {}", fmt::join(on, " or ")));
  if (!not_on.empty()) parts.push_back(fmt::format("not on {}", fmt::join(not_on, " or ")));
  if (nominated) parts.push_back(fmt::format("nominated to \"{}\"", *nominated));
  if (!reason.empty()) parts.push_back(fmt::format("waiting with reason {}", reason));
  if (!message.empty()) parts.push_back(fmt::format("waiting with message {}", message.ToString()));
  if (!spread.counts.empty()) parts.push_back(fmt::format("per {} {}", spread.by, spread.counts));
  if (spread.max_skew)
    parts.push_back(fmt::format("skew by {} <= {}", spread.by, *spread.max_skew));
  for (const EventExpectation& event : events) {
    parts.push_back(fmt::format("{} events {} {}", event.count.ToString(), event.reason,
                                event.note.ToString()));
  }
  for (const NodeExpectation& node : nodes) {
    parts.push_back(
        fmt::format("node {}{}", node.name,
                    node.pods ? fmt::format(" with {} pods", node.pods->ToString()) : ""));
  }
  return fmt::format("{}: {}", pods.ToString(), fmt::join(parts, ", "));
}

std::optional<std::string> Unmet(const Expectation& e, const Cluster& cluster) {
  const Store& store = cluster.store();
  const Pods pods = Select(e.pods, store);
  if (auto found = UnmetCounts(e, pods, cluster)) return found;
  if (auto found = UnmetPlaces(e, pods)) return found;
  if (auto found = UnmetReasons(e, pods)) return found;
  if (auto found = UnmetSpread(e.spread, pods, store)) return found;
  for (const EventExpectation& event : e.events) {
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
  for (const NodeExpectation& node : e.nodes) {
    if (auto found = UnmetNode(node, store)) return found;
  }
  return std::nullopt;
}

}  // namespace knx::sim
