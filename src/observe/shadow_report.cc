#include "observe/shadow_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace knx::observe {
namespace {

constexpr std::size_t kKept = 20;

std::optional<std::int32_t> ScoreOf(const engine::Inquiry& ours, std::string_view node) {
  const auto at = std::lower_bound(ours.feasible.begin(), ours.feasible.end(), node);
  if (at == ours.feasible.end() || *at != node) return std::nullopt;
  const auto i = static_cast<std::size_t>(at - ours.feasible.begin());
  return i < ours.totals.size() ? ours.totals[i] : 0;
}

std::string WhyNot(const engine::Inquiry& ours, std::string_view node) {
  if (ours.kept_out) return fmt::format("{} keeps the pod back", ours.kept_out->plugin);
  for (const engine::Inquiry::Rejection& rejection : ours.rejections) {
    if (rejection.node != node || rejection.reasons.empty()) continue;
    return rejection.reasons.front();
  }
  return ours.outcome.ok() ? "we do not know that node" : ours.outcome.reason;
}

std::string Line(std::string_view what, std::int64_t count, std::int64_t of) {
  const double percent =
      of == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(of);
  return fmt::format("  {:<44}{:>8}{:>8.1f} %\n", what, count, percent);
}

}  // namespace

void ShadowReport::Placed(std::string_view pod, std::string_view node,
                          const engine::Inquiry& ours) {
  if (ours.chosen == node) {
    ++counts_.same;
    return;
  }
  const auto theirs = ScoreOf(ours, node);
  if (!theirs) {
    ++counts_.unfit;
    return Keep(fmt::format("{}: placed on {}, which does not fit by our count: {}", pod, node,
                            WhyNot(ours, node)));
  }
  const std::int32_t best = ScoreOf(ours, ours.chosen).value_or(*theirs);
  if (*theirs >= best) {
    ++counts_.as_good;
    return;
  }
  ++counts_.lower;
  counts_.most_lower = std::max<std::int64_t>(counts_.most_lower, best - *theirs);
  Keep(fmt::format("{}: placed on {} (score {}), we say {} (score {})", pod, node, *theirs,
                   ours.chosen, best));
}

void ShadowReport::Refused(std::string_view pod, std::string_view message,
                           const engine::Inquiry& ours) {
  if (!ours.chosen.empty()) {
    ++counts_.we_place;
    return Keep(
        fmt::format("{}: refused (\"{}\"), we say it fits on {}", pod, message, ours.chosen));
  }
  if (ours.message == message) {
    ++counts_.same_words;
    return;
  }
  ++counts_.other_words;
  Keep(fmt::format("{}: refused with \"{}\", we say \"{}\"", pod, message, ours.message));
}

void ShadowReport::Keep(std::string difference) {
  differences_.push_back(std::move(difference));
  if (differences_.size() > kKept) differences_.pop_front();
}

std::string ShadowReport::Summary() const {
  return fmt::format(
      "{} pods placed as we would have, {} on nodes that are as good, {} otherwise; "
      "{} refused as by us, {} otherwise",
      counts_.same, counts_.as_good, counts_.lower + counts_.unfit, counts_.same_words,
      counts_.other_words + counts_.we_place);
}

std::string ShadowReport::ToText() const {
  std::string text = fmt::format("Placed by the other scheduler: {}\n", counts_.placed());
  text += Line("on the node that we would have chosen", counts_.same, counts_.placed());
  text += Line("on another that is as good by our scores", counts_.as_good, counts_.placed());
  text += Line("on one with a lower score", counts_.lower, counts_.placed());
  text += Line("on one that does not fit by our count", counts_.unfit, counts_.placed());
  text += fmt::format("Refused by the other scheduler: {}\n", counts_.refused());
  text += Line("by us too, in the same words", counts_.same_words, counts_.refused());
  text += Line("by us too, in other words", counts_.other_words, counts_.refused());
  text += Line("we would have placed it", counts_.we_place, counts_.refused());
  if (counts_.lower > 0) {
    text += fmt::format("Lower scores were lower by {} at most.\n", counts_.most_lower);
  }
  if (differences_.empty()) return text;
  text +=
      fmt::format("The {} newest differences of {}:\n", differences_.size(), counts_.different());
  for (const std::string& difference : differences_) text += "  " + difference + "\n";
  return text;
}

}  // namespace knx::observe
