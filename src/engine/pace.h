// How often one who is held back for a promise is let try again: some times within a moment. Where
// promises move with every try that is for nothing, so that it is half as often in each moment that
// follows, down to once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace knx::engine {

class Pace {
 public:
  // False: not before the next moment.
  bool TakeOne(Time now) {
    if (begin_ + kMoment <= now) {
      const bool goes_on = taken_ == Most() && now < begin_ + kMoment + kMoment;
      halved_ = goes_on ? std::min(halved_ + 1, kMostHalved) : 0;
      begin_ = now;
      taken_ = 0;
    }
    if (taken_ == Most()) return false;
    ++taken_;
    return true;
  }
  [[nodiscard]] Time next_moment() const { return begin_ + kMoment; }

 private:
  static constexpr Duration kMoment = Duration::Seconds(1);
  static constexpr std::uint32_t kMost = 8, kMostHalved = 3;
  [[nodiscard]] std::uint32_t Most() const { return kMost >> halved_; }

  Time begin_ = {};
  std::uint32_t taken_ = 0, halved_ = 0;
};

}  // namespace knx::engine
