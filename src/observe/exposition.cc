#include "observe/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "base/quoted_text.h"

namespace knx::observe {
namespace {

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Line ends and backslashes everywhere, quotation marks where the text stands between two of them.
// Texts may come from outside, and Prometheus refuses a whole page for one that is not UTF-8.
void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::string shown = IsPlain(line) ? std::string() : Printable(line);
    for (const char c : shown.empty() ? line : std::string_view(shown)) {
      if (c == '\\' || (c == '"' && quoted)) out += '\\';
      out += c;
    }
    if (end == std::string_view::npos) return;
    out += "\\n";
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<double> Buckets::Bounds() const {
  std::vector<double> bounds;
  double bound = first;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(bound);
    bound *= factor;
  }
  return bounds;
}

std::string_view TypeName(MetricType type) {
  constexpr std::string_view kNames[] = {"counter", "gauge", "histogram"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string FormatNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void ExpositionWriter::Head(const MetricSpec& spec) {
  out_ += fmt::format("# HELP {} ", spec.name);
  AppendEscaped(out_, spec.help, false);
  out_ += fmt::format("\n# TYPE {} {}\n", spec.name, TypeName(spec.type));
}

void ExpositionWriter::Begin(const MetricSpec& spec, std::string_view suffix, LabelValues labels,
                             std::string_view le) {
  const auto names = spec.labels();
  KNX_CHECK(names.size() == labels.size(), "a metric has other labels than it was made with");
  out_ += spec.name;
  out_ += suffix;
  char separator = '{';
  const auto add = [&](std::string_view name, std::string_view value) {
    out_ += separator;
    separator = ',';
    out_ += name;
    out_ += "=\"";
    AppendEscaped(out_, value, true);
    out_ += '"';
  };
  for (std::size_t i = 0; i < names.size(); ++i) add(names[i], labels[i]);
  if (!le.empty()) add("le", le);
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void ExpositionWriter::Sample(const MetricSpec& spec, LabelValues labels, double value) {
  Begin(spec, "", labels, "");
  out_ += FormatNumber(value);
  out_ += '\n';
}

void ExpositionWriter::Sample(const MetricSpec& spec, LabelValues labels, std::uint64_t value) {
  Begin(spec, "", labels, "");
  fmt::format_to(std::back_inserter(out_), "{}\n", value);
}

void ExpositionWriter::Histogram(const MetricSpec& spec, LabelValues labels,
                                 std::span<const double> bounds,
                                 std::span<const std::uint64_t> counts, double sum) {
  KNX_CHECK(counts.size() == bounds.size() + 1, "a histogram has no count above its last bound");
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    so_far += counts[i];
    Begin(spec, "_bucket", labels, i < bounds.size() ? FormatNumber(bounds[i]) : "+Inf");
    fmt::format_to(std::back_inserter(out_), "{}\n", so_far);
  }
  Begin(spec, "_sum", labels, "");
  out_ += FormatNumber(sum);
  out_ += '\n';
  Begin(spec, "_count", labels, "");
  fmt::format_to(std::back_inserter(out_), "{}\n", so_far);
}

}  // namespace knx::observe
