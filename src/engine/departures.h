// Members of gangs that are on their way together, and how far they have come. What becomes of them
// is for the core to say (core_departures.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/state.h"

namespace knx::engine {

// Members of a gang that were planned together and have yet to be bound.
struct Departure {
  cluster::GangId gang;
  std::vector<cluster::PodId> members;  // in the order in which they were given their places
  std::size_t arrived = 0;              // that wait for the others only
  Duration most = {};                   // it may take until all do; zero: as long as it takes
  bool whole = false;                   // with them it has all that it needs
  cluster::PodId driver = {};           // by whom they start without the others; invalid: nobody
  Symbol domain = {};   // of the gang's topology key, in which all are; invalid: none
  bool waited = false;  // things may have changed since it was planned
};

// One of them that could not be bound any more where it is to be.
struct LostPlace {
  cluster::PodId pod;
  std::string why;
};

class Departures {
 public:
  std::uint64_t Begin(Departure departure, Time now);
  // nullptr: it is over.
  [[nodiscard]] Departure* Find(std::uint64_t number);
  Departure End(std::uint64_t number);
  // How many of the gang are on their way.
  [[nodiscard]] std::size_t MembersOf(cluster::GangId gang) const;

  // The next that has taken too long by now, and is taken off the list of those that may.
  std::optional<std::uint64_t> PopLate(Time now);
  [[nodiscard]] Time NextLate() const { return late_.empty() ? kNever : late_.begin()->first; }

 private:
  std::map<std::uint64_t, Departure> all_;
  std::set<std::pair<Time, std::uint64_t>> late_;   // when they are, if they still are
  std::map<cluster::GangId, std::size_t> members_;  // so many of each
  std::uint64_t last_ = 0;
};

}  // namespace knx::engine
