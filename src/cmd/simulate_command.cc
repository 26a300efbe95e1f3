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

#include "base/quoted_text.h"
#include "cmd/json_writer.h"
#include "cmd/run_document.h"
#include "cmd/run_report.h"
#include "cmd/terminal.h"
#include "cmd/text_files.h"
#include "cmd/watched_run.h"
#include "cmd/yaml_writer.h"
#include "scenario/timing.h"
#include "scenario/variants.h"

namespace knx::cmd {
namespace {

namespace fs = std::filesystem;

Status CheckStandardInput(const SimulateOptions& options) {
  auto uses = std::count(options.files.begin(), options.files.end(), kStandardInput);
  if (options.config == kStandardInput) ++uses;
  if (uses > 1) return InvalidError("-: standard input can be read only once");
  return Ok();
}

// Every file of a run that was read, so that a slip of the finger does not empty one.
class Inputs {
 public:
  Result<std::string> Read(const std::string& path) {
    paths_.push_back(path);
    return ReadText(path);
  }
  [[nodiscard]] bool Have(const std::string& path) const {
    return std::any_of(paths_.begin(), paths_.end(),
                       [&](const std::string& input) { return IsSameFile(input, path); });
  }

 private:
  std::vector<std::string> paths_;
};

// What --record writes. A scenario names inputs of its own, which are known when the first line
// comes, and not before.
class Record {
 public:
  Record(const std::string& path, const Inputs& inputs)
      : path_(path), inputs_(inputs), file_(path) {}

  void Add(std::string_view line) {
    if (!checked_) refused_ = inputs_.Have(path_);
    checked_ = true;
    if (!refused_) file_.Add(line);
  }
  [[nodiscard]] bool failed() const { return refused_ || file_.failed(); }
  Status Close() {
    if (refused_) return Refusal();
    return file_.Close();
  }
  [[nodiscard]] Status Check() const {
    if (path_ == kStandardInput) return InvalidError("--record: needs the name of a file");
    if (inputs_.Have(path_)) return Refusal();
    return Ok();
  }

 private:
  [[nodiscard]] Error Refusal() const {
    return InvalidError(fmt::format("--record: {} is an input of this run", path_));
  }

  const std::string& path_;
  const Inputs& inputs_;
  LineFile file_;
  bool checked_ = false, refused_ = false;
};

Result<sim::TextFile> ReadTextFile(const std::string& path, Inputs& inputs) {
  KNX_TRY(std::string text, inputs.Read(path));
  return sim::TextFile{.name = DisplayName(path), .text = std::move(text)};
}

// A whole number after a flag.
template <class Number>
Result<Number> ParseNumber(std::string_view flag, const std::string& text, Number min, Number max) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool all_digits =
      text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == std::string::npos;
  if (text.empty() || text == "-" || !all_digits) {
    return InvalidError(fmt::format("{}: {:?} is not a whole number", flag, text));
  }
  if (error == std::errc() && stop == end && number >= min && number <= max) return number;
  return InvalidError(
      fmt::format("{}: {} is out of range, allowed is {} to {}", flag, text, min, max));
}

Result<Duration> ParseUntil(const std::string& text) {
  constexpr std::string_view kFlag = "--until";
  auto until = ParseDuration(text);
  if (!until.ok()) return std::move(until).error().Within(kFlag);
  if (*until >= Duration{} && *until <= scenario::kMaxSpan) return *until;
  return InvalidError(fmt::format("{}: {} is out of range, allowed is 0s to {}", kFlag, text,
                                  FormatDuration(scenario::kMaxSpan)));
}

Result<sim::SimulationRequest> RequestOf(const SimulateOptions& options, Inputs& inputs) {
  sim::SimulationRequest request;
  request.checking = sim::Checking::kSparing;
  KNX_TRY_DONE(CheckStandardInput(options));
  for (const std::string& path : options.files) {
    KNX_TRY(sim::TextFile file, ReadTextFile(path, inputs));
    request.files.push_back(std::move(file));
  }
  if (options.config.has_value()) {
    KNX_TRY(request.config, ReadTextFile(*options.config, inputs));
  }
  if (options.until.has_value()) {
    KNX_TRY(request.until, ParseUntil(*options.until));
  }
  if (options.seed.has_value()) {
    KNX_TRY(request.seed, ParseNumber<std::uint64_t>("--seed", *options.seed, 0,
                                                     std::numeric_limits<std::uint64_t>::max()));
  }
  if (options.variant.has_value()) {
    KNX_TRY(const std::size_t number,
            ParseNumber<std::size_t>("--variant", *options.variant, 1, scenario::kMaxVariants));
    request.variant = number - 1;
  }
  if (options.threads.has_value()) {
    KNX_TRY(request.threads, ParseNumber("--threads", *options.threads, 1, sim::kMaxThreads));
  }
  request.keep_log = options.log;
  // A scenario stands alone, so what it names lies beside the first file.
  const fs::path folder = fs::path(options.files.front()).parent_path();
  request.read_file = [folder, &inputs](std::string_view path) {
    return inputs.Read((folder / fs::path(path)).string());
  };
  return request;
}

std::string NamesOf(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(DisplayName(file));
  return fmt::format("{}", fmt::join(names, ", "));
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

Result<WatchedRun> RunFor(const SimulateOptions& options, std::optional<std::string> explain) {
  Inputs inputs;
  KNX_TRY(sim::SimulationRequest request, RequestOf(options, inputs));
  request.explain = std::move(explain);
  std::optional<Record> record;
  if (options.record.has_value()) {
    record.emplace(*options.record, inputs);
    KNX_TRY_DONE(record->Check());
    request.record = [&record](std::string_view line) { record->Add(line); };
    request.progress = [&record](const sim::SimulationProgress&) { return !record->failed(); };
  }
  KNX_TRY(WatchedRun run, RunWatched(std::move(request)));
  if (record.has_value()) KNX_TRY_DONE(record->Close());
  return run;
}

Result<int> RunSimulate(const SimulateOptions& options) {
  KNX_TRY(const WatchedRun run, RunFor(options, std::nullopt));
  KNX_TRY_DONE(WriteOut(Render(options, run.result)));
  return ExitCodeOf(run);
}

}  // namespace knx::cmd
