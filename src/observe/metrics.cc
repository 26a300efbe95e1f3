#include "observe/metrics.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace knx::observe {
namespace {

class CollectedFamily final : public MetricFamily {
 public:
  CollectedFamily(const MetricSpec& spec, MetricRegistry::Collect collect)
      : MetricFamily(spec), collect_(std::move(collect)) {}

  void Write(ExpositionWriter& writer) const override {
    bool first = true;
    collect_([&](std::initializer_list<std::string_view> labels, double value) {
      if (std::exchange(first, false)) writer.Head(spec());
      writer.Sample(spec(), std::vector<std::string>(labels.begin(), labels.end()), value);
    });
  }

 private:
  MetricRegistry::Collect collect_;
};

}  // namespace

void Histogram::Observe(double value) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<std::size_t>(bucket - bounds_.begin())];
  sum_ += value;
}

template <class Value>
Value& ValueFamily<Value>::With(std::initializer_list<std::string_view> labels) {
  const auto known = values_.find(labels);
  if (known != values_.end()) return known->second;
  KNX_CHECK(labels.size() == spec().labels().size(), "a metric is given other labels than it has");
  std::vector<std::string> key(labels.begin(), labels.end());
  if constexpr (std::is_same_v<Value, Histogram>) {
    return values_.emplace(std::move(key), Histogram(spec().buckets.Bounds())).first->second;
  } else {
    return values_.emplace(std::move(key), Value{}).first->second;
  }
}

template <class Value>
void ValueFamily<Value>::Write(ExpositionWriter& writer) const {
  if (values_.empty()) return;
  writer.Head(spec());
  for (const auto& [labels, value] : values_) {
    if constexpr (std::is_same_v<Value, Histogram>) {
      writer.Histogram(spec(), labels, value.bounds(), value.counts(), value.sum());
    } else {
      writer.Sample(spec(), labels, value.value());
    }
  }
}

template class ValueFamily<Counter>;
template class ValueFamily<Gauge>;
template class ValueFamily<Histogram>;

void MetricRegistry::Put(const MetricSpec& spec, std::unique_ptr<MetricFamily> family) {
  const bool fresh = families_.emplace(spec.name, std::move(family)).second;
  KNX_CHECK(fresh, "two metrics have the same name");
}

template <class Value>
ValueFamily<Value>& MetricRegistry::Add(const MetricSpec& spec) {
  auto family = std::make_unique<ValueFamily<Value>>(spec);
  ValueFamily<Value>& added = *family;
  Put(spec, std::move(family));
  // Without labels there is a value from the beginning: zero.
  if (spec.labels().empty()) added.With();
  return added;
}

template ValueFamily<Counter>& MetricRegistry::Add<Counter>(const MetricSpec&);
template ValueFamily<Gauge>& MetricRegistry::Add<Gauge>(const MetricSpec&);
template ValueFamily<Histogram>& MetricRegistry::Add<Histogram>(const MetricSpec&);

void MetricRegistry::AddCollected(const MetricSpec& spec, Collect collect) {
  Put(spec, std::make_unique<CollectedFamily>(spec, std::move(collect)));
}

std::string MetricRegistry::Text() const {
  std::string text;
  ExpositionWriter writer(text);
  for (const auto& [name, family] : families_) family->Write(writer);
  return text;
}

std::vector<const MetricSpec*> MetricRegistry::specs() const {
  std::vector<const MetricSpec*> specs;
  for (const auto& [name, family] : families_) specs.push_back(&family->spec());
  return specs;
}

}  // namespace knx::observe
