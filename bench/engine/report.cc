#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace knx::bench {

Row Summarise(const Workload& workload, std::vector<Measurement> runs) {
  std::sort(runs.begin(), runs.end(),
            [](const Measurement& a, const Measurement& b) { return a.per_second < b.per_second; });
  Row row{workload, runs[runs.size() / 2], 0};
  row.spread_percent =
      100 * (runs.back().per_second - runs.front().per_second) / row.median.per_second;
  return row;
}

std::string TableHeader() {
  return fmt::format("{:<20} {:>9} {:>9} {:>12} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}\n", "row",
                     "nodes", "pods", "decisions/s", "spread", "p50 us", "p99 us", "RSS MB",
                     "known MB", "B/pod");
}

std::string TableLine(const Row& row) {
  const Measurement& m = row.median;
  return fmt::format(
      "{:<20} {:>9} {:>9} {:>12.0f} {:>7.1f}% {:>9.2f} {:>9.2f} {:>8.1f} {:>9.1f} {:>9.0f}\n",
      row.workload.name, row.workload.nodes, row.workload.pods, m.per_second, row.spread_percent,
      m.p50_us, m.p99_us, m.rss_mb, m.counted_mb, m.bytes_per_pod);
}

std::string ToJson(const std::vector<Row>& rows, const std::string& machine,
                   const std::string& commit, double seconds) {
  std::string out =
      fmt::format("{{\"machine\": \"{}\", \"commit\": \"{}\", \"seconds\": {:.1f}, \"rows\": [",
                  machine, commit, seconds);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Measurement& m = row.median;
    out += fmt::format(
        "{}\n  {{\"name\": \"{}\", \"nodes\": {}, \"pods\": {}, \"classes\": {}, \"threads\": 1, "
        "\"per_second\": {:.0f}, \"spread_percent\": {:.1f}, \"p50_us\": {:.3f}, \"p99_us\": "
        "{:.3f}, "
        "\"total_ms\": {:.3f}, \"rss_mb\": {:.1f}, \"bytes_per_pod\": {:.0f}}}",
        i == 0 ? "" : ",", row.workload.name, row.workload.nodes, row.workload.pods,
        row.workload.classes, m.per_second, row.spread_percent, m.p50_us, m.p99_us, m.total_ms,
        m.rss_mb, m.bytes_per_pod);
  }
  return out + "\n]}\n";
}

std::string CostPlot(const std::vector<Row>& rows) {
  constexpr double kWidth = 640, kHeight = 360, kLeft = 70, kBottom = 310, kTop = 30, kRight = 610;
  std::vector<std::pair<double, double>> points;  // nodes, microseconds a pod
  for (const Row& row : rows) {
    if (row.workload.name.rfind("plain/", 0) == 0) {
      points.emplace_back(row.workload.nodes, 1e6 / row.median.per_second);
    }
  }
  std::sort(points.begin(), points.end());
  if (points.size() < 2) return {};
  double highest = 0;
  for (const auto& point : points) highest = std::max(highest, point.second);
  highest *= 1.1;
  const double first = std::log10(points.front().first);
  const double span = std::log10(points.back().first) - first;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"18\">Cost of one decision over the size of the cluster (default profile, "
      "one core)"
      "</text>\n",
      kWidth, kHeight, kLeft);
  std::string line;
  for (const auto& [nodes, cost] : points) {
    const double x = kLeft + (std::log10(nodes) - first) / span * (kRight - kLeft);
    const double y = kBottom - cost / highest * (kBottom - kTop);
    line += fmt::format("{:.1f},{:.1f} ", x, y);
    svg += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" fill=\"#1f6feb\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"middle\">{3:.1f} us</text>\n"
        "<text x=\"{0:.1f}\" y=\"{4}\" text-anchor=\"middle\">{5:.0f}</text>\n",
        x, y, y - 10, cost, kBottom + 20, nodes);
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\"/>\n", line);
  svg += fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"black\"/>\n",
                     kLeft, kBottom, kRight);
  return svg +
         fmt::format("<text x=\"{}\" y=\"{}\">nodes (log)</text>\n</svg>\n", kLeft, kHeight - 10);
}

std::string DescribeMachine() {
  std::string model = "unknown CPU";
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  double memory_gb = 0;
  std::ifstream memory("/proc/meminfo");
  for (std::string line; std::getline(memory, line);) {
    if (line.rfind("MemTotal:", 0) == 0) memory_gb = std::stod(line.substr(9)) / (1 << 20);
  }
  return fmt::format("{} cores, {:.0f} GB, {}", std::thread::hardware_concurrency(), memory_gb,
                     model);
}

}  // namespace knx::bench
