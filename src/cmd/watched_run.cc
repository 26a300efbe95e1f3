#include "cmd/watched_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "cmd/exit_code.h"
#include "cmd/interrupt.h"
#include "cmd/progress_line.h"
#include "cmd/terminal.h"

namespace knx::cmd {
namespace {

using Clock = ProgressLine::Clock;

class Watcher {
 public:
  explicit Watcher(Duration pace) : pace_(pace), begin_(Clock::now()) {
    if (IsTerminal(Stream::kErr)) line_.emplace(TerminalWidth(Stream::kErr));
  }

  ~Watcher() {
    if (line_.has_value()) Write(line_->Erase());
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // False: the run is to end here.
  bool Look(const sim::SimulationProgress& progress) {
    if (InterruptWatch::signal() != 0) return false;
    Show(progress);
    if (pace_.ns <= 0) return true;
    const auto due =
        begin_ + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(progress.now.seconds() / pace_.seconds()));
    while (Clock::now() < due && InterruptWatch::signal() == 0) {
      std::this_thread::sleep_for(std::min(due - Clock::now(), ProgressLine::kBetweenUpdates));
      Show(progress);
    }
    return InterruptWatch::signal() == 0;
  }

 private:
  static void Write(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }

  void Show(const sim::SimulationProgress& progress) {
    if (!line_.has_value()) return;
    if (const auto text = line_->Next(progress, Clock::now())) Write(*text);
  }

  Duration pace_;
  Clock::time_point begin_;
  std::optional<ProgressLine> line_;
};

}  // namespace

Result<WatchedRun> RunWatched(sim::SimulationRequest request, Duration pace) {
  const InterruptWatch interrupt;
  Watcher watcher(pace);
  request.progress = [&watcher, first = std::move(request.progress)](const auto& progress) {
    return (!first || first(progress)) && watcher.Look(progress);
  };
  KNX_TRY(sim::SimulationResult result, sim::Simulate(request));
  return WatchedRun{.result = std::move(result), .signal = InterruptWatch::signal()};
}

int ExitCodeOf(const WatchedRun& run) {
  if (!run.result.ok()) return kExitFailed;
  return run.result.stopped ? kExitSignal + run.signal : kExitOk;
}

}  // namespace knx::cmd
