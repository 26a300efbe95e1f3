// Counters, gauges and histograms of one thread, and all of them as text for Prometheus.
// Our own and not a library's: those are made for many threads, so that every count costs an atomic
// or a lock and every look at a label a map of strings, and they want a server of their own. Here a
// count is an addition to a number whose place is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "observe/exposition.h"

namespace knx::observe {

class Counter {
 public:
  void Add(std::uint64_t more = 1) { value_ += more; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

class Gauge {
 public:
  void Set(double value) { value_ = value; }
  void Add(double more) { value_ += more; }
  [[nodiscard]] double value() const { return value_; }

 private:
  double value_ = 0;
};

class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1, 0) {}
  void Observe(double value);

  [[nodiscard]] std::span<const double> bounds() const { return bounds_; }
  [[nodiscard]] std::span<const std::uint64_t> counts() const { return counts_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

// One metric, with a value for every combination of labels that occurred.
class MetricFamily {
 public:
  explicit MetricFamily(const MetricSpec& spec) : spec_(spec) {}
  virtual ~MetricFamily() = default;
  [[nodiscard]] const MetricSpec& spec() const { return spec_; }
  // Head and samples; nothing at all while there are no samples.
  virtual void Write(ExpositionWriter& writer) const = 0;

 private:
  const MetricSpec& spec_;
};

template <class Value>
class ValueFamily final : public MetricFamily {
 public:
  using MetricFamily::MetricFamily;
  // Found or made; stays where it is. The values of the labels in the order of the table.
  Value& With(std::initializer_list<std::string_view> labels = {});
  void Write(ExpositionWriter& writer) const override;

 private:
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(),
          [](std::string_view x, std::string_view y) { return x < y; });
    }
  };
  std::map<std::vector<std::string>, Value, Less> values_;
};

class MetricRegistry {
 public:
  // The spec must stay where it is, and its name be new.
  ValueFamily<Counter>& AddCounter(const MetricSpec& spec) { return Add<Counter>(spec); }
  ValueFamily<Gauge>& AddGauge(const MetricSpec& spec) { return Add<Gauge>(spec); }
  ValueFamily<Histogram>& AddHistogram(const MetricSpec& spec) { return Add<Histogram>(spec); }

  // Looked up elsewhere whenever somebody reads: gauges, and counts that others keep.
  using Report = std::function<void(std::initializer_list<std::string_view> labels, double value)>;
  using Collect = std::function<void(const Report& report)>;
  void AddCollected(const MetricSpec& spec, Collect collect);

  // Everything, in the order of the names.
  [[nodiscard]] std::string Text() const;
  [[nodiscard]] std::vector<const MetricSpec*> specs() const;

 private:
  template <class Value>
  ValueFamily<Value>& Add(const MetricSpec& spec);
  void Put(const MetricSpec& spec, std::unique_ptr<MetricFamily> family);

  std::map<std::string_view, std::unique_ptr<MetricFamily>> families_;
};

}  // namespace knx::observe
