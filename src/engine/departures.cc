#include "engine/departures.h"

namespace knx::engine {

std::uint64_t Departures::Begin(Departure departure, Time now) {
  if (departure.most > Duration{}) late_.emplace(now + departure.most, last_ + 1);
  members_[departure.gang] += departure.members.size();
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
  const auto members = members_.find(departure.gang);
  members->second -= departure.members.size();
  if (members->second == 0) members_.erase(members);
  return departure;
}

std::size_t Departures::MembersOf(cluster::GangId gang) const {
  const auto members = members_.find(gang);
  return members == members_.end() ? 0 : members->second;
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
