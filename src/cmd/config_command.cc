#include "cmd/config_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "cmd/exit_code.h"
#include "cmd/terminal.h"
#include "cmd/text_files.h"
#include "cmd/text_table.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "plugins/registry.h"

namespace knx::cmd {
namespace {

using framework::Point;
using framework::SchedulerConfiguration;

bool IsBuilt(std::string_view plugin) {
  const framework::Registry all = plugins::AllPlugins();
  return std::any_of(all.begin(), all.end(),
                     [&](const framework::PluginEntry& entry) { return entry.name == plugin; });
}

std::string PluginTable(const framework::ProfileConfiguration& profile) {
  TextTable table({{"POINT", Align::kLeft},
                   {"PLUGIN", Align::kLeft},
                   {"WEIGHT", Align::kRight},
                   {"NOTE", Align::kLeft}});
  for (const Point point : framework::kAllPoints) {
    std::string name(framework::PointName(point));
    for (const framework::ResolvedPlugin& entry : profile.resolved.at(point)) {
      table.AddRow({std::exchange(name, ""), std::string(entry.plugin->name),
                    entry.weight == 0 ? "" : fmt::format("{}", entry.weight),
                    IsBuilt(entry.plugin->name) ? "" : "not built yet: no effect"});
    }
  }
  return table.ToString(2);
}

std::string Report(const SchedulerConfiguration& config, const Palette& palette) {
  std::string out;
  for (const framework::ProfileConfiguration& profile : config.profiles) {
    out += palette.Heading(fmt::format("Profile {}", Printable(profile.scheduler_name))) + "\n";
    out += PluginTable(profile) + "\n";
  }
  out += fmt::format("Back-off: {}s to {}s\n", config.pod_initial_backoff_seconds,
                     config.pod_max_backoff_seconds);
  const std::vector<std::string> warnings = framework::Warnings(config, plugins::AllPlugins());
  if (warnings.empty()) return out + "No warnings.\n";
  out += palette.Warning(fmt::format("Warnings: {}", warnings.size())) + "\n";
  for (const std::string& warning : warnings) out += fmt::format("  {}\n", Printable(warning));
  return out;
}

}  // namespace

Result<int> RunConfig(const std::string& file) {
  KNX_TRY(const std::string text, ReadText(file, framework::kMaxConfigurationBytes));
  KNX_TRY(const SchedulerConfiguration config,
          framework::ReadConfiguration(text, DisplayName(file)));
  KNX_TRY(const auto profiles, framework::BuildProfiles(config, plugins::AllPlugins()));
  KNX_TRY_DONE(WriteOut(Report(config, PaletteFor(Stream::kOut))));
  return kExitOk;
}

}  // namespace knx::cmd
