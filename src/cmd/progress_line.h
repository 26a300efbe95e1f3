// One line on a terminal that tells how a run stands, rewritten in place. Writes nothing itself:
// the caller has the stream and the clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "sim/simulation.h"

namespace knx::cmd {

// "0h12m30s  40 nodes  512 pods created  498 placed  14 waiting"
std::string FormatProgress(const sim::SimulationProgress& progress);

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  // Ten times a second looks alive; more is only work for the terminal.
  static constexpr Clock::duration kBetweenUpdates = std::chrono::milliseconds(100);

  explicit ProgressLine(std::size_t width) : width_(width) {}

  // What to write now; nothing if the last time is too recent.
  std::optional<std::string> Next(const sim::SimulationProgress& progress, Clock::time_point now);
  // What to write at the end, so that the line is gone; nothing if there was none.
  [[nodiscard]] std::string Erase() const;

 private:
  std::size_t width_;
  std::optional<Clock::time_point> last_;
};

}  // namespace knx::cmd
