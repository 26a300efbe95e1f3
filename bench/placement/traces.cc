#include "traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

namespace knx::bench {
namespace {

Error CannotRead(const std::string& path) {
  return InvalidError(
      fmt::format("cannot read {}: the traces are not part of this repository; --data says in "
                  "which folder they are (traces/ in it)",
                  path));
}

Error Malformed(const std::string& path, std::size_t line, std::string_view what) {
  return InvalidError(fmt::format("{}:{}: {}", path, line, what));
}

// nullopt: it is no number.
std::optional<double> ToNumber(const std::string& text) {
  try {
    std::size_t used = 0;
    const double number = std::stod(text, &used);
    if (used == text.size() && std::isfinite(number)) return number;
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

Duration Of(double amount, std::int64_t per_second) {
  return Duration::Nanoseconds(std::llround(amount / static_cast<double>(per_second) * 1e9));
}

std::vector<std::string> SplitAt(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// A trace begins with its first job.
void Settle(Jobs& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.submitted < b.submitted; });
  const Duration first = jobs.empty() ? Duration{} : jobs.front().submitted;
  for (Job& job : jobs) job.submitted = job.submitted - first;
}

}  // namespace

Result<Jobs> ReadSwf(const std::string& path) {
  std::ifstream in(path);
  if (!in) return CannotRead(path);
  // Positions in a line, of 18.
  constexpr std::size_t kSubmitted = 1, kRun = 3, kUsed = 4, kAsked = 7, kFields = 18;
  Jobs jobs;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == ';') continue;
    std::istringstream fields(line);
    std::vector<std::int64_t> values;
    for (std::int64_t value = 0; fields >> value;) values.push_back(value);
    if (values.size() < kFields) return Malformed(path, number, "a line of 18 numbers is wanted");
    if (values[kRun] <= 0) continue;
    jobs.push_back({Duration::Seconds(values[kSubmitted]), Duration::Seconds(values[kRun]),
                    static_cast<std::int32_t>(std::max(values[kUsed], values[kAsked]))});
  }
  Settle(jobs);
  return jobs;
}

Result<Jobs> ReadCsv(const std::string& path, const Columns& columns) {
  std::ifstream in(path);
  if (!in) return CannotRead(path);
  std::vector<std::string> names;
  const auto position = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  Jobs jobs;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> values = SplitAt(line, ',');
    if (names.empty()) {
      names = values;
      for (const std::string& name : {columns.submitted, columns.size, columns.run}) {
        if (position(name) == names.size()) {
          return Malformed(path, number, fmt::format("no column is called {:?}", name));
        }
      }
      continue;
    }
    if (values.size() != names.size()) return Malformed(path, number, "too few or many values");
    if (!columns.column.empty() && position(columns.column) < values.size() &&
        values[position(columns.column)] != columns.value) {
      continue;
    }
    const auto submitted = ToNumber(values[position(columns.submitted)]);
    const auto size = ToNumber(values[position(columns.size)]);
    const auto run = ToNumber(values[position(columns.run)]);
    if (!submitted || !size || !run) return Malformed(path, number, "a number is wanted");
    if (*size <= 0 || *run <= 0) continue;
    jobs.push_back({Of(*submitted, columns.per_second), Of(*run, columns.run_per_second),
                    static_cast<std::int32_t>(*size)});
  }
  Settle(jobs);
  return jobs;
}

}  // namespace knx::bench
