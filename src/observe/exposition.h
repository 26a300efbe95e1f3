// The text in which Prometheus reads metrics (format 0.0.4), written line by line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace knx::observe {

// What a server says the text is.
inline constexpr std::string_view kExpositionContentType =
    "text/plain; version=0.0.4; charset=utf-8";

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

// The upper bounds first, first*factor, first*factor², …; whatever is above all of them is counted
// too.
struct Buckets {
  double first = 0, factor = 2;
  int count = 0;
  [[nodiscard]] std::vector<double> Bounds() const;
};

// What a metric is called and what it means. Every one of them stands in metric_table.h.
struct MetricSpec {
  static constexpr std::size_t kMostLabels = 8;

  std::string_view name;
  MetricType type = MetricType::kCounter;
  std::string_view help;
  std::array<std::string_view, kMostLabels> label_names{};  // until the first that is empty
  Buckets buckets{};                                        // of a histogram

  [[nodiscard]] std::span<const std::string_view> labels() const {
    std::size_t count = 0;
    while (count < kMostLabels && !label_names[count].empty()) ++count;
    return {label_names.data(), count};
  }
};

std::string_view TypeName(MetricType type);

using LabelValues = std::span<const std::string>;

class ExpositionWriter {
 public:
  explicit ExpositionWriter(std::string& out) : out_(out) {}

  // Before the samples of a metric.
  void Head(const MetricSpec& spec);
  void Sample(const MetricSpec& spec, LabelValues labels, double value);
  void Sample(const MetricSpec& spec, LabelValues labels, std::uint64_t value);
  // `counts`: one more than bounds, each for its bucket alone.
  void Histogram(const MetricSpec& spec, LabelValues labels, std::span<const double> bounds,
                 std::span<const std::uint64_t> counts, double sum);

 private:
  void Begin(const MetricSpec& spec, std::string_view suffix, LabelValues labels,
             std::string_view le);

  std::string& out_;
};

// As Prometheus reads numbers: "0.25", "+Inf", "NaN".
std::string FormatNumber(double value);

}  // namespace knx::observe
