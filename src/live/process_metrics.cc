#include "live/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include "observe/metric_table.h"

namespace knx::live {

using observe::MetricRegistry;
namespace table = observe::table;

namespace {

std::string ReadAll(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::uint64_t> NumberAt(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

double TicksPerSecond() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

// When the machine was started, in seconds since 1970.
std::optional<std::uint64_t> BootTime() {
  const std::string text = ReadAll("/proc/stat");
  constexpr std::string_view kKey = "\nbtime ";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  return NumberAt(std::string_view(text).substr(at + kKey.size()));
}

std::size_t OpenFiles() {
  std::error_code error;
  std::size_t count = 0;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // one of them is the directory that is being read
}

// One number of /proc/self/stat, nothing where there is none.
template <class Of>
MetricRegistry::Collect FromStat(Of of) {
  return [of](const MetricRegistry::Report& report) {
    const auto stat = ParseProcessStat(ReadAll("/proc/self/stat"));
    if (stat.ok()) report({}, of(*stat));
  };
}

}  // namespace

Result<ProcessStat> ParseProcessStat(std::string_view text) {
  // The name of the program stands in brackets and may hold spaces and brackets itself.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return InvalidError("no name of a program");
  text.remove_prefix(name_end + 1);
  std::array<std::uint64_t, 53> fields{};  // counted from 1, as proc(5) does
  for (std::size_t field = 3; field < fields.size(); ++field) {
    const std::size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) {
      constexpr std::size_t kLastNeeded = 24;
      if (field <= kLastNeeded) return InvalidError("too few numbers");
      break;
    }
    text.remove_prefix(begin);
    fields[field] = NumberAt(text).value_or(0);
    text.remove_prefix(std::min(text.find_first_of(" \n"), text.size()));
  }
  return ProcessStat{.user_ticks = fields[14],
                     .system_ticks = fields[15],
                     .start_ticks = fields[22],
                     .virtual_bytes = fields[23],
                     .resident_pages = fields[24]};
}

void AddProcessMetrics(MetricRegistry& registry) {
  registry.AddCollected(table::kProcessCpu, FromStat([](const ProcessStat& stat) {
                          return static_cast<double>(stat.user_ticks + stat.system_ticks) /
                                 TicksPerSecond();
                        }));
  registry.AddCollected(table::kProcessResident, FromStat([](const ProcessStat& stat) {
                          return static_cast<double>(stat.resident_pages) *
                                 static_cast<double>(sysconf(_SC_PAGESIZE));
                        }));
  registry.AddCollected(table::kProcessVirtual, FromStat([](const ProcessStat& stat) {
                          return static_cast<double>(stat.virtual_bytes);
                        }));
  registry.AddCollected(table::kProcessFds, [](const MetricRegistry::Report& report) {
    report({}, static_cast<double>(OpenFiles()));
  });
  registry.AddCollected(table::kProcessMaxFds, [](const MetricRegistry::Report& report) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) report({}, static_cast<double>(limit.rlim_cur));
  });
  // Neither changes while we run.
  const auto boot = BootTime();
  const auto stat = ParseProcessStat(ReadAll("/proc/self/stat"));
  if (!boot || !stat.ok()) return;
  const double start =
      static_cast<double>(*boot) + static_cast<double>(stat->start_ticks) / TicksPerSecond();
  registry.AddCollected(table::kProcessStart,
                        [start](const MetricRegistry::Report& report) { report({}, start); });
}

}  // namespace knx::live
