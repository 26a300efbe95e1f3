#include "engine/departures.h"

namespace knx::engine {

std::uint64_t Departures::Begin(Departure departure, Time now) {
  if (departure.most > Duration{}) late_.emplace(now + departure.most, last_ + 1);
  if (departure.begins) beginning_.insert(departure.gang);
  all_.emplace(++last_, std::move(departure));
  return last_;
}

Departure* Departures::Find(std::uint64_t number) {
  const auto found = all_.find(number);
  return found == all_.end() ? nullptr : &found->second;
}

Departure Departures::End(std::uint64_t number) {
  const auto found = all_.find(number);
  Departure departure = std::move(found->second);
  all_.erase(found);
  if (departure.begins) beginning_.erase(departure.gang);
  return departure;
}

std::optional<std::uint64_t> Departures::PopLate(Time now) {
  while (!late_.empty() && late_.begin()->first <= now) {
    const std::uint64_t number = late_.begin()->second;
    late_.erase(late_.begin());
    if (all_.contains(number)) return number;
  }
  return std::nullopt;
}

}  // namespace knx::engine
