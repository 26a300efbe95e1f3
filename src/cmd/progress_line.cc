#include "cmd/progress_line.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "cmd/human_units.h"

namespace knx::cmd {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

// As wide for the whole run, so that the line does not jump.
std::string FormatClock(Duration now) {
  const std::int64_t seconds = now.ns / 1'000'000'000;
  return fmt::format("{}h{:02}m{:02}s", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

std::string FormatProgress(const sim::SimulationProgress& progress) {
  return fmt::format("{}  {}  {} created  {} placed  {} waiting", FormatClock(progress.now),
                     FormatCount(progress.nodes, "node", "nodes"),
                     FormatCount(progress.created, "pod", "pods"), progress.placed,
                     progress.waiting);
}

std::optional<std::string> ProgressLine::Next(const sim::SimulationProgress& progress,
                                              Clock::time_point now) {
  if (last_.has_value() && now - *last_ < kBetweenUpdates) return std::nullopt;
  last_ = now;
  std::string line = FormatProgress(progress);
  // A line that wraps cannot be erased again.
  if (line.size() >= width_) line.resize(width_ > 0 ? width_ - 1 : 0);
  return std::string(kEraseLine) + line;
}

std::string ProgressLine::Erase() const {
  return last_.has_value() ? std::string(kEraseLine) : std::string();
}

}  // namespace knx::cmd
