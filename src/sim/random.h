// Chance from a seed. The same on every machine, which the standard library's distributions are
// not.
#pragma once

#include <cstdint>

namespace knx::sim {

// splitmix64: small, fast, and every seed is a good one.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // 0 .. limit-1; 0 for limit 0. The bias of the remainder is far below what a simulation can see.
  std::uint64_t Below(std::uint64_t limit) { return limit == 0 ? 0 : Next() % limit; }
  // True in `percent` of a hundred cases.
  bool Chance(double percent) {
    return static_cast<double>(Next() >> 11) * 0x1.0p-53 * 100.0 < percent;
  }

 private:
  std::uint64_t state_;
};

}  // namespace knx::sim
