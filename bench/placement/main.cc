// bench-placement: how well the engine queues, on published traces, beside the published numbers.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "../engine/report.h"
#include "measures.h"
#include "replay.h"
#include "traces.h"

namespace {

using knx::Result;
using knx::bench::Jobs;
using knx::bench::Machine;
using knx::bench::Outcome;
using knx::bench::Policy;

// The queue's order and the mode of backfill. The published EASY lets nobody pass who runs on for
// longer than until the promised start.
const Policy kPolicies[] = {
    {"easy-fcfs", "order: fcfs, shareNodes: false"},
    {"easy-sjf", "order: sjf, shareNodes: false"},
    {"conservative-fcfs", "mode: conservative, order: fcfs"},
    {"best", "order: best, shareNodes: false"},
};

// Where the ten windows of 1,024 jobs of the published table begin (RLScheduler, SC'20: the first
// ten numbers that gym draws with seed 1).
constexpr std::size_t kPublished[] = {1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085};
constexpr std::size_t kWindow = 1024;

// What others reached; 0: nothing is published.
struct Published {
  std::string_view benchmark, policy;
  double value;
  std::string_view of;
};
constexpr Published kOthers[] = {
    {"lublin-1", "easy-fcfs", 235.82, "EASY, FCFS"},
    {"lublin-1", "easy-sjf", 73.31, "EASY, SJF"},
    {"lublin-1", "best", 58.64, "RLScheduler, with EASY"},
    {"muri-1", "easy-fcfs", 10.3, "EASY, FIFO"},
    {"muri-1", "best", 2.41, "SJF, strict"},
    {"muri-3", "easy-fcfs", 3.81, "EASY, FIFO"},
    {"muri-3", "best", 2.23, "SJF, greedy"},
    {"helios", "easy-fcfs", 1.10, "EASY, FIFO"},
    {"helios", "best", 1.04, "SJF, greedy"},
};

struct Row {
  std::string benchmark, policy;
  double value = 0;  // what the published tables compare: slowdown, completion over the bound
  std::string json;  // what else there is to say, after the names
  std::string text;
};

struct Arguments {
  std::string data;
  std::string out = "build/bench/placement.json";
  std::string commit = "unknown";
  std::string only;
  std::size_t windows = 0;  // 0: those of the published table
};

void Progress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:<60}\r", text);
}

std::string BesidePublished(const Row& row) {
  for (const Published& other : kOthers) {
    if (other.benchmark == row.benchmark && other.policy == row.policy) {
      return fmt::format("{:>9.2f} ({})", other.value, other.of);
    }
  }
  return "";
}

void Print(const Row& row) {
  Progress("");
  fmt::print("{:<10} {:<18} {:>9.2f}   {:<36} {}\n", row.benchmark, row.policy, row.value,
             BesidePublished(row), row.text);
  std::fflush(stdout);
}

std::vector<std::size_t> WindowsOf(const Jobs& jobs, const Arguments& arguments) {
  if (arguments.windows == 0) return {std::begin(kPublished), std::end(kPublished)};
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < arguments.windows; ++i) {
    starts.push_back((jobs.size() - kWindow) * i / arguments.windows);
  }
  return starts;
}

Result<Row> PlayLublin(const Jobs& jobs, const Policy& policy, const Arguments& arguments) {
  // A pool of processors without places, as in the model that made the trace.
  const Machine machine{.nodes = 1, .per_node = 256, .resource = "cpu"};
  const std::vector<std::size_t> starts = WindowsOf(jobs, arguments);
  double slowdown = 0, utilisation = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Progress(fmt::format("lublin-1 {}: window {} of {}", policy.name, i + 1, starts.size()));
    const auto first = jobs.begin() + static_cast<std::ptrdiff_t>(starts[i]);
    const Jobs window(first, first + kWindow);
    KNX_TRY(const Outcome outcome, Replay(window, machine, policy));
    slowdown += MeanBoundedSlowdown(window, outcome);
    utilisation += Utilisation(window, machine, outcome);
  }
  const auto count = static_cast<double>(starts.size());
  slowdown /= count;
  utilisation /= count;
  return Row{"lublin-1", policy.name, slowdown,
             fmt::format("\"slowdown\": {:.2f}, \"utilisation\": {:.3f}", slowdown, utilisation),
             fmt::format("mean bounded slowdown; utilisation {:.3f}", utilisation)};
}

struct GangTrace {
  std::string name, file;
  Machine machine;
  knx::bench::Columns columns;
};

const knx::bench::Columns kMuri{"submit_time", "num_gpu", "duration", 1000, 1000};
const GangTrace kGangTraces[] = {
    {"muri-1", "muri1.csv", {8, 8, "nvidia.com/gpu"}, kMuri},
    {"muri-3", "muri3.csv", {8, 8, "nvidia.com/gpu"}, kMuri},
    {"helios",
     "helios_venus_2vc_sept.csv",
     {20, 8, "nvidia.com/gpu"},
     {"submit_time", "num_chips", "duration_s", 1'000'000, 1, "tenant", "vcvGl"}},
};

Result<Row> PlayGangs(const GangTrace& trace, const Jobs& jobs, const Policy& policy) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  Progress(fmt::format("{} {}: {} jobs", trace.name, policy.name, jobs.size()));
  KNX_TRY(const Outcome outcome, Replay(jobs, trace.machine, policy));
  const double completion = MeanCompletion(jobs, outcome);
  const double over = completion / CompletionBound(jobs, trace.machine);
  const double one = MeanWait(jobs, outcome, 0, 1), some = MeanWait(jobs, outcome, 1, 8),
               many = MeanWait(jobs, outcome, 8, kMost);
  return Row{trace.name, policy.name, over,
             fmt::format("\"jct\": {:.0f}, \"jct_over_bound\": {:.3f}, \"wait_by_gang_size\": "
                         "{{\"1\": {:.0f}, \"2-8\": {:.0f}, \"9+\": {:.0f}}}",
                         completion, over, one, some, many),
             fmt::format("mean completion over the bound; mean wait of 1, 2-8, more GPUs: {:.0f}, "
                         "{:.0f}, {:.0f} s",
                         one, some, many)};
}

knx::Status PlayAll(const Arguments& arguments, std::vector<Row>& rows) {
  const auto wanted = [&](const std::string& name) { return name.rfind(arguments.only, 0) == 0; };
  const std::string folder = arguments.data + "/traces/";
  if (wanted("lublin-1")) {
    KNX_TRY(const Jobs jobs, knx::bench::ReadSwf(folder + "lublin_256.swf"));
    for (const Policy& policy : kPolicies) {
      KNX_TRY(rows.emplace_back(), PlayLublin(jobs, policy, arguments));
      Print(rows.back());
    }
  }
  for (const GangTrace& trace : kGangTraces) {
    if (!wanted(trace.name)) continue;
    KNX_TRY(const Jobs jobs, knx::bench::ReadCsv(folder + trace.file, trace.columns));
    for (const Policy& policy : kPolicies) {
      KNX_TRY(rows.emplace_back(), PlayGangs(trace, jobs, policy));
      Print(rows.back());
    }
  }
  return knx::Ok();
}

std::string ToJson(const std::vector<Row>& rows, const std::string& machine,
                   const std::string& commit, double seconds) {
  std::string out =
      fmt::format("{{\"machine\": \"{}\", \"commit\": \"{}\", \"seconds\": {:.1f}, \"rows\": [",
                  machine, commit, seconds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("{}\n  {{\"benchmark\": \"{}\", \"policy\": \"{}\", {}}}", i == 0 ? "" : ",",
                       rows[i].benchmark, rows[i].policy, rows[i].json);
  }
  return out + "\n]}\n";
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Plays published traces of jobs through the engine, beside the published numbers."};
  app.add_option("--data", arguments.data, "The folder in which traces/ lies")->required();
  app.add_option("--out", arguments.out, "Where the JSON goes");
  app.add_option("--only", arguments.only, "Only benchmarks whose name begins with this");
  app.add_option("--windows", arguments.windows,
                 "So many windows of lublin-1, evenly spread, instead of the published ones");
  app.add_option("--commit", arguments.commit, "What is measured, for the record");
  CLI11_PARSE(app, argc, argv);

  const auto start = std::chrono::steady_clock::now();
  const std::string machine = knx::bench::DescribeMachine();
  fmt::print("machine: {}\ncommit:  {}\n\n{:<10} {:<18} {:>9}   {:<36}\n", machine,
             arguments.commit, "benchmark", "policy", "kubenexus", "published");
  std::vector<Row> rows;
  if (const knx::Status played = PlayAll(arguments, rows); !played.ok()) {
    std::fprintf(stderr, "bench-placement: %s\n", played.error().ToString().c_str());
    return 1;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::filesystem::path path(arguments.out);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << ToJson(rows, machine, arguments.commit, seconds);
  if (!std::filesystem::exists(path)) {
    std::fprintf(stderr, "bench-placement: cannot write %s\n", arguments.out.c_str());
    return 1;
  }
  fmt::print("\n{} rows in {:.0f} s, written to {}\n", rows.size(), seconds, arguments.out);
  return 0;
}
