#include "sim/agenda.h"

#include <algorithm>

#include "base/check.h"

namespace knx::sim {

void Agenda::After(Duration span, Act act, Weight weight) {
  At(now_ + std::clamp(span, Duration{}, kMaxSpan), std::move(act), weight);
}

void Agenda::At(Time when, Act act, Weight weight) {
  if (weight == Weight::kForeground) ++foreground_;
  heap_.push_back({std::max(when, now_), next_order_++, weight, std::move(act)});
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

Time Agenda::Next() const { return heap_.empty() ? kNever : heap_.front().when; }

void Agenda::RunNext() {
  KNX_CHECK(!heap_.empty(), "nothing is on the agenda");
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  const Entry entry = std::move(heap_.back());
  heap_.pop_back();
  if (entry.weight == Weight::kForeground) --foreground_;
  now_ = entry.when;
  entry.act();
}

void Agenda::PassTo(Time when) {
  KNX_CHECK(when <= Next(), "time must not pass over what is due");
  now_ = std::max(now_, when);
}

}  // namespace knx::sim
