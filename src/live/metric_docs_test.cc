// The metrics as documented, compared with those of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/process_metrics.h"
#include "observe/metric_table.h"
#include "observe/scheduler_metrics.h"

namespace knx::live {
namespace {

using observe::FormatNumber;
using observe::MetricSpec;
using observe::SchedulerMetrics;
using observe::TypeName;
namespace table = observe::table;

using Row = std::vector<std::string>;  // type, then the labels

std::string Document() {
  std::ifstream file(KNX_SOURCE_DIR "/docs/metrics.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// What stands between backticks.
std::vector<std::string> Quoted(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t begin = text.find('`'); begin != std::string_view::npos;) {
    const std::size_t end = text.find('`', begin + 1);
    out.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return out;
}

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = line.find('|');
    std::string_view cell = line.substr(0, end);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    cells.emplace_back(cell);
    line.remove_prefix(std::min(end, line.size() - 1) + 1);
  }
  return cells;
}

// Rows of tables of metrics; `absent`: of the table of those that are not there.
std::map<std::string, Row> Documented(std::set<std::string>& absent) {
  std::map<std::string, Row> rows;
  std::string text = Document();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() == 4) {
      Row& row = rows[Quoted(cells[0]).at(0)];
      row = Quoted(cells[2]);
      row.insert(row.begin(), cells[1]);
    } else {
      for (const std::string& name : Quoted(cells[0])) absent.insert(name);
    }
  }
  return rows;
}

std::map<std::string, Row> Real() {
  SchedulerMetrics metrics;
  AddProcessMetrics(metrics.registry());
  std::vector<const MetricSpec*> specs = metrics.registry().specs();
  specs.push_back(&table::kPodRequest);
  specs.push_back(&table::kPodLimit);
  std::map<std::string, Row> rows;
  for (const MetricSpec* spec : specs) {
    Row& row = rows[std::string(spec->name)];
    row.emplace_back(TypeName(spec->type));
    for (const std::string_view label : spec->labels()) row.emplace_back(label);
  }
  return rows;
}

TEST(MetricDocs, IsWhatTheDocumentSays) {
  std::set<std::string> absent;
  EXPECT_EQ(Documented(absent), Real());
  EXPECT_THAT(absent, ::testing::Contains("scheduler_goroutines"));
  for (const auto& [name, row] : Real()) EXPECT_FALSE(absent.contains(name)) << name;
}

TEST(MetricDocs, CountersAndOnlyCountersEndAsCountersDo) {
  for (const auto& [name, row] : Real()) {
    EXPECT_EQ(row.front() == "counter", name.ends_with("_total")) << name;
  }
}

// Those of kube-scheduler 1.36, from its source.
TEST(MetricDocs, HasTheBucketsOfKubeScheduler) {
  struct Case {
    const MetricSpec& spec;
    double first, last;
    std::size_t count;
  };
  const Case cases[] = {
      {table::kAttemptDuration, 0.001, 16.384, 15},
      {table::kAlgorithmDuration, 0.001, 16.384, 15},
      {table::kSliDuration, 0.01, 5242.88, 20},
      {table::kPodAttempts, 1, 16, 5},
      {table::kPreemptionVictims, 1, 64, 7},
      {table::kEventHandling, 0.0001, 0.2048, 12},
      {table::kApiCallDuration, 0.001, 16.384, 15},
      {table::kGangAttemptDuration, 0.001, 16.384, 15},
      {table::kGangAlgorithmDuration, 0.001, 16.384, 15},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec.name);
    const std::vector<double> bounds = c.spec.buckets.Bounds();
    ASSERT_EQ(bounds.size(), c.count);
    EXPECT_EQ(bounds.front(), c.first);
    EXPECT_EQ(FormatNumber(bounds.back()), FormatNumber(c.last));
  }
}

}  // namespace
}  // namespace knx::live
