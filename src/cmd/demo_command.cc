#include "cmd/demo_command.h"

#include <string>
#include <utility>

#include "cmd/demo_scenario.h"
#include "cmd/run_report.h"
#include "cmd/terminal.h"
#include "cmd/text_files.h"
#include "cmd/watched_run.h"

namespace knx::cmd {
namespace {

// The hour takes ten seconds for who watches it.
constexpr Duration kWatchedPace = Duration::Minutes(6);

constexpr std::string_view kNext = R"(
What to try next, from the folder of the checkout:
  bin/kubenexus simulate examples/web-and-batch.yaml
  bin/kubenexus simulate examples/web-and-batch.yaml --config examples/pack.yaml
  bin/kubenexus demo --show > my.yaml     # change it, then: bin/kubenexus simulate my.yaml
)";

}  // namespace

Result<int> RunDemo(const DemoOptions& options) {
  if (options.show) {
    KNX_TRY_DONE(WriteOut(DemoScenario()));
    return 0;
  }
  sim::SimulationRequest request;
  request.checking = sim::Checking::kSparing;
  request.files.push_back({.name = "demo.yaml", .text = std::string(DemoScenario())});
  request.keep_log = false;
  const bool watched = !options.once && IsTerminal(Stream::kErr);
  KNX_TRY(const WatchedRun run,
          RunWatched(std::move(request), watched ? kWatchedPace : Duration{}));
  KNX_TRY_DONE(
      WriteOut(FormatRun(run.result, "demo.yaml", PaletteFor(Stream::kOut)) + std::string(kNext)));
  return ExitCodeOf(run);
}

}  // namespace knx::cmd
