// What is going to happen in the embedded cluster, in order of time and, at one time, in the order
// in which it was put down. Time exists only here: it stands still until the next entry is due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "scenario/timing.h"

namespace knx::sim {

using scenario::kMaxSpan;
using scenario::Timing;

class Agenda {
 public:
  using Act = std::function<void()>;
  // An entry in the background (a retry, a wake-up) does not keep a cluster from being settled.
  enum class Weight { kForeground, kBackground };

  explicit Agenda(Time begin) : now_(begin) {}

  [[nodiscard]] Time now() const { return now_; }
  // Spans below zero and beyond kMaxSpan are cut.
  void After(Duration span, Act act, Weight weight = Weight::kForeground);
  void At(Time when, Act act, Weight weight = Weight::kForeground);

  // When the next entry is due; kNever if there is none.
  [[nodiscard]] Time Next() const;
  // Moves to the next entry and does it. There must be one.
  void RunNext();
  // Lets time pass to `when` without anything happening. Nothing may be due before.
  void PassTo(Time when);

  [[nodiscard]] std::size_t foreground() const { return foreground_; }

 private:
  struct Entry {
    Time when;
    std::uint64_t order = 0;
    Weight weight = Weight::kForeground;
    Act act;
  };
  static bool Later(const Entry& a, const Entry& b) {
    return a.when != b.when ? a.when > b.when : a.order > b.order;
  }

  Time now_;
  std::uint64_t next_order_ = 0;
  std::size_t foreground_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace knx::sim
