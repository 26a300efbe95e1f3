#include "engine/held_alike.h"

#include <algorithm>

namespace knx::engine {

namespace {

constexpr Duration kMoment = Duration::Seconds(1);

bool SaysTheSame(const Promise& a, const Promise& b) {
  return a.IsTo(b.pod, b.gang) && a.start == b.start && a.places == b.places;
}

}  // namespace

bool HeldAlike::Holds(std::span<const Promise> promises, Time now) const {
  return !kinds_.empty() && now - since_ < kMoment &&
         std::equal(promises_.begin(), promises_.end(), promises.begin(), promises.end(),
                    SaysTheSame);
}

bool HeldAlike::Contains(const Kind& kind, std::span<const Promise> promises, Time now) const {
  return kinds_.contains(kind) && Holds(promises, now);
}

void HeldAlike::Add(const Kind& kind, std::span<const Promise> promises, Time now) {
  if (!Holds(promises, now)) {
    kinds_.clear();
    promises_.assign(promises.begin(), promises.end());
    since_ = now;
  }
  kinds_.insert(kind);
}

}  // namespace knx::engine
