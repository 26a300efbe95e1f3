#include "scenario/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace knx::scenario {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
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

std::string EventExpectation::ToString() const {
  const std::string many = count.ToString();
  std::string out = fmt::format("{} {} {}", many, many == "1" ? "event" : "events", reason);
  if (!type.empty()) out += fmt::format(" of type {}", type);
  if (!note.empty()) out += fmt::format(" with note {}", note.ToString());
  return out;
}

std::string NodeExpectation::ToString() const {
  std::vector<std::string> parts;
  if (pods) {
    const std::string many = pods->ToString();
    parts.push_back(fmt::format("with {} {}", many, many == "1" ? "pod" : "pods"));
  }
  for (const auto& [resource, amount] : requested) {
    parts.push_back(fmt::format("with {} {} requested", amount.ToString(), resource));
  }
  if (ready) parts.emplace_back(*ready ? "ready" : "not ready");
  if (unschedulable) parts.emplace_back(*unschedulable ? "unschedulable" : "schedulable");
  return fmt::format("node {} {}", name,
                     parts.empty() ? "there" : fmt::format("{}", fmt::join(parts, " and ")));
}

std::string PodGroupExpectation::ToString() const {
  std::vector<std::string> parts;
  if (scheduled) parts.emplace_back(*scheduled ? "scheduled" : "not scheduled");
  if (!reason.empty()) parts.push_back(fmt::format("with reason {}", reason));
  if (!message.empty()) parts.push_back(fmt::format("with message {}", message.ToString()));
  return fmt::format("pod group {}/{} {}", namespace_, name, fmt::join(parts, " and "));
}

std::vector<std::string> Expectation::AboutPods() const {
  std::vector<std::string> parts;
  const std::pair<std::string_view, const std::optional<NumberRange>&> numbers[] = {
      {"there", count},
      {"placed", placed},
      {"pending", pending},
      {"running", running},
      {"succeeded", succeeded},
      {"failed", failed},
      {"being deleted", terminating},
      {"attempts", attempts}};
  for (const auto& [what, range] : numbers) {
    if (range) parts.push_back(fmt::format("{} {}", range->ToString(), what));
  }
  if (!on.empty()) parts.push_back(fmt::format("on {}", fmt::join(on, " or ")));
  if (!not_on.empty()) parts.push_back(fmt::format("not on {}", fmt::join(not_on, " or ")));
  if (nominated) parts.push_back(fmt::format("nominated to \"{}\"", *nominated));
  if (scheduled) parts.push_back(fmt::format("PodScheduled={}", *scheduled ? "True" : "False"));
  if (!reason.empty()) parts.push_back(fmt::format("waiting with reason {}", reason));
  if (!message.empty()) parts.push_back(fmt::format("waiting with message {}", message.ToString()));
  if (!spread.counts.empty()) parts.push_back(fmt::format("per {} {}", spread.by, spread.counts));
  if (spread.max_skew) {
    parts.push_back(fmt::format("skew by {} <= {}", spread.by, *spread.max_skew));
  }
  for (const EventExpectation& event : events) parts.push_back(event.ToString());
  return parts;
}

std::string Expectation::ToString() const {
  std::vector<std::string> parts = AboutPods();
  if (!parts.empty()) parts.front() = fmt::format("{}: {}", pods.ToString(), parts.front());
  if (evictions) parts.push_back(fmt::format("{} evictions", evictions->ToString()));
  if (bind_failures) parts.push_back(fmt::format("{} bind failures", bind_failures->ToString()));
  for (const NodeExpectation& node : nodes) parts.push_back(node.ToString());
  for (const PodGroupExpectation& group : pod_groups) parts.push_back(group.ToString());
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace knx::scenario
