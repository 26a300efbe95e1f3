// What a gang asks of a plan. A gang that was refused is tried again when it comes to ask for less,
// or for something else, although nothing has changed for the pods that wait.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "cluster/state.h"

namespace knx::engine {

class GangBook;
struct WaitingGang;

struct GangDemand {
  std::size_t needed = 0;                    // at once
  std::size_t to_come = 0;                   // that its driver would have to make
  bool was_whole = false;                    // some have done their work
  std::map<std::string, std::size_t> roles;  // how many more of each
  // Members that make each whole, and that have a place.
  std::map<std::string, std::pair<std::size_t, std::size_t>> sub_groups;

  // Whether a plan may meet this that did not meet the other.
  [[nodiscard]] bool MayBeMetAfter(const GangDemand& other) const {
    return needed < other.needed || to_come != other.to_come || was_whole != other.was_whole ||
           roles != other.roles || sub_groups != other.sub_groups;
  }
};

GangDemand DemandOf(const cluster::State& state, const GangBook& book, cluster::GangId id,
                    const WaitingGang& waiting);

}  // namespace knx::engine
