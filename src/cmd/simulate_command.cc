#include "cmd/simulate_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cmd/json_writer.h"
#include "cmd/run_document.h"
#include "cmd/run_report.h"
#include "cmd/terminal.h"
#include "cmd/text_files.h"
#include "cmd/text_table.h"
#include "cmd/watched_run.h"
#include "cmd/yaml_writer.h"

namespace knx::cmd {
namespace {

namespace fs = std::filesystem;

Status CheckStandardInput(const SimulateOptions& options) {
  auto uses = std::count(options.files.begin(), options.files.end(), kStandardInput);
  if (options.config == kStandardInput) ++uses;
  if (uses > 1) return InvalidError("-: standard input can be read only once");
  return Ok();
}

// A slip of the finger must not empty what was to be read.
Status CheckRecord(const SimulateOptions& options) {
  if (options.record == kStandardInput) return InvalidError("--record: needs the name of a file");
  std::vector<std::string> inputs = options.files;
  if (!options.config.empty()) inputs.push_back(options.config);
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (fs::is_regular_file(input, ignored) && fs::equivalent(input, options.record, ignored)) {
      return InvalidError(fmt::format("--record: {} is an input of this run", options.record));
    }
  }
  return Ok();
}

Result<sim::TextFile> ReadTextFile(const std::string& path) {
  KNX_TRY(std::string text, ReadText(path));
  return sim::TextFile{.name = DisplayName(path), .text = std::move(text)};
}

Result<std::uint64_t> ParseSeed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stop == end) return seed;
  return InvalidError(fmt::format("--seed: {:?} is out of range, allowed is 0 to {}", text,
                                  std::numeric_limits<std::uint64_t>::max()));
}

Result<sim::SimulationRequest> RequestOf(const SimulateOptions& options) {
  sim::SimulationRequest request;
  KNX_TRY_DONE(CheckStandardInput(options));
  for (const std::string& path : options.files) {
    KNX_TRY(sim::TextFile file, ReadTextFile(path));
    request.files.push_back(std::move(file));
  }
  if (!options.config.empty()) {
    KNX_TRY(request.config, ReadTextFile(options.config));
  }
  if (!options.until.empty()) {
    auto until = ParseDuration(options.until);
    if (!until.ok()) return std::move(until).error().Within("--until");
    request.until = *until;
  }
  if (!options.seed.empty()) {
    KNX_TRY(request.seed, ParseSeed(options.seed));
  }
  request.threads = options.threads;
  request.keep_log = options.log;
  // A scenario stands alone, so what it names lies beside the first file.
  const fs::path folder = fs::path(options.files.front()).parent_path();
  request.read_file = [folder](std::string_view path) {
    return ReadText((folder / fs::path(path)).string());
  };
  return request;
}

std::string NamesOf(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(DisplayName(file));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool IsNothing(const sim::SimulationResult& result) {
  return result.scenario.empty() && result.nodes.empty() && result.counts.pods_created == 0;
}

std::string Render(const SimulateOptions& options, const sim::SimulationResult& result) {
  std::string out;
  if (options.form == OutputForm::kJson) {
    JsonWriter writer(out);
    WriteRun(result, writer);
    return out;
  }
  if (options.form == OutputForm::kYaml) {
    YamlWriter writer(out);
    WriteRun(result, writer);
    return out;
  }
  for (const std::string& line : result.log) out += Printable(line) + "\n";
  if (!result.log.empty()) out += "\n";
  return out + FormatRun(result, NamesOf(options.files), PaletteFor(Stream::kOut));
}

}  // namespace

Result<int> RunSimulate(const SimulateOptions& options) {
  KNX_TRY(sim::SimulationRequest request, RequestOf(options));
  std::optional<LineFile> record;
  if (!options.record.empty()) {
    KNX_TRY_DONE(CheckRecord(options));
    KNX_TRY(record, LineFile::Create(options.record));
    request.record = [&record](std::string_view line) { record->Add(line); };
  }
  KNX_TRY(const WatchedRun run, RunWatched(std::move(request)));
  if (record.has_value()) KNX_TRY_DONE(record->Close());
  if (IsNothing(run.result)) {
    return InvalidError(fmt::format("{}: neither a node nor anything that makes pods is in it",
                                    NamesOf(options.files)));
  }
  KNX_TRY_DONE(WriteOut(Render(options, run.result)));
  return ExitCodeOf(run);
}

}  // namespace knx::cmd
