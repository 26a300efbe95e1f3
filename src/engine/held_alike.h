// Pods that are like one that was just held back for a promise. To find out whether one may start
// beside promises costs much, and thousands that are alike are tried one after the other: the first
// stands for all, until something happens that may help, or a promise moves. As time goes by alone
// more may become possible, so that it is found out anew after a moment. Numbers of classes are
// used again: whoever lets one go clears this.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/promise.h"

namespace knx::engine {

class HeldAlike {
 public:
  // All that decides where a pod may start that has no promise, no place in sight and no room that
  // is reserved for it.
  struct Kind {
    std::uint32_t pod_class = 0;
    std::int32_t priority = 0;
    std::int64_t run_ns = 0;
    bool may_pass = true;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  [[nodiscard]] bool Contains(const Kind& kind, std::span<const Promise> promises, Time now) const;
  void Add(const Kind& kind, std::span<const Promise> promises, Time now);
  void Clear() { kinds_.clear(); }
  [[nodiscard]] std::size_t bytes() const { return kinds_.size() * sizeof(Kind); }

 private:
  [[nodiscard]] bool Holds(std::span<const Promise> promises, Time now) const;

  std::set<Kind> kinds_;
  std::vector<Promise> promises_;  // as they were when the first of them was held back
  Time since_;
};

}  // namespace knx::engine
