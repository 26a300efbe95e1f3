// bench-engine: decisions only, no I/O. Every repetition of every row is a process of its own.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "measure.h"
#include "report.h"
#include "workload.h"

namespace {

using knx::bench::Measurement;
using knx::bench::Row;
using knx::bench::Workload;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Measures in a child process and brings the numbers back through a pipe.
bool MeasureApart(const Workload& workload, Measurement& out) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const auto result = knx::bench::Measure(workload);
    if (!result.ok()) {
      std::fprintf(stderr, "bench-engine: %s\n", result.error().ToString().c_str());
      _exit(1);
    }
    const bool sent = write(ends[1], &*result, sizeof(Measurement)) == sizeof(Measurement);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  const bool received = read(ends[0], &out, sizeof(out)) == sizeof(out);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return received && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return std::filesystem::exists(path);
}

}  // namespace

int main(int argc, char** argv) {
  std::string out = "build/bench/engine.json";
  std::string workloads_file = KNX_SOURCE_DIR "/bench/engine/workloads.yaml";
  std::string only;
  std::string commit = "unknown";
  int repeat = 0;
  CLI::App app{"Measures decisions of the engine, without any I/O."};
  app.add_option("--out", out, "Where the JSON goes; the plot goes beside it");
  app.add_option("--workloads", workloads_file, "The rows to measure");
  app.add_option("--only", only, "Only rows whose name begins with this");
  app.add_option("--repeat", repeat, "Repetitions of every row instead of its own number");
  app.add_option("--commit", commit, "What is measured, for the record");
  CLI11_PARSE(app, argc, argv);

  auto workloads = knx::bench::ReadWorkloads(ReadFile(workloads_file), workloads_file);
  if (!workloads.ok()) {
    std::fprintf(stderr, "bench-engine: %s\n", workloads.error().ToString().c_str());
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string machine = knx::bench::DescribeMachine();
  fmt::print("machine: {}\ncommit:  {}\n\n{}", machine, commit, knx::bench::TableHeader());
  std::vector<Row> rows;
  for (const Workload& workload : *workloads) {
    if (workload.name.rfind(only, 0) != 0) continue;
    std::vector<Measurement> runs(static_cast<std::size_t>(repeat > 0 ? repeat : workload.repeat));
    for (Measurement& run : runs) {
      if (!MeasureApart(workload, run)) return 1;
    }
    rows.push_back(knx::bench::Summarise(workload, std::move(runs)));
    fmt::print("{}", knx::bench::TableLine(rows.back()));
    std::fflush(stdout);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::filesystem::path json(out);
  const std::string plot = knx::bench::CostPlot(rows);
  if (!WriteFile(json, knx::bench::ToJson(rows, machine, commit, seconds)) ||
      (!plot.empty() && !WriteFile(json.parent_path() / "engine-cost.svg", plot))) {
    std::fprintf(stderr, "bench-engine: cannot write %s\n", out.c_str());
    return 1;
  }
  fmt::print("\n{} rows in {:.0f} s, written to {}\n", rows.size(), seconds, out);
  return 0;
}
