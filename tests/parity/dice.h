// Chance for the generator, and a record of which features a case came to have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "sim/random.h"

namespace knx::parity {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  bool Chance(double percent) { return random_.Chance(percent); }
  // Also notes the feature if it comes about.
  bool Feature(const char* name, double percent) {
    if (!Chance(percent)) return false;
    features_.insert(name);
    return true;
  }
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(high - low + 1)));
  }
  // Small numbers far more often than great ones.
  std::int64_t Skewed(std::int64_t low, std::int64_t high) {
    const double u = static_cast<double>(random_.Below(1'000'000)) / 1e6;
    return low + static_cast<std::int64_t>(static_cast<double>(high - low) * u * u * u);
  }
  template <class T>
  const T& Pick(const std::vector<T>& from) {
    return from[random_.Below(from.size())];
  }
  std::string Pick(std::initializer_list<const char*> from) {
    return *(from.begin() + random_.Below(from.size()));
  }
  [[nodiscard]] const std::set<std::string>& features() const { return features_; }

 private:
  sim::Random random_;
  std::set<std::string> features_;
};

}  // namespace knx::parity
