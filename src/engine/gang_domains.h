// Where a gang may be that has to be in one domain of a label of the nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_planner.h"
#include "engine/placement.h"

namespace knx::engine {

// Members of a gang that wait, and how many of them have to get a place at once.
struct Aspirants {
  cluster::GangId gang;
  std::span<const cluster::PodId> ready;
  std::size_t needed = 0;
};

struct GangDomains {
  Symbol key;                      // invalid: no node has the label
  std::vector<Confines> all = {};  // the best first
  bool pinned = false;             // members that have a place are there
};

// Where its members that have a place are; nullopt: none has, or they may be anywhere. Invalid:
// their nodes have no such label.
std::optional<Symbol> PinOf(const cluster::State& state, const cluster::Gang& gang);

// nullopt: it may be anywhere.
std::optional<GangDomains> DomainsFor(const cluster::State& state, const Aspirants& who,
                                      const GangPlanner& planner);

// Of members that have to be near others of the gang by their affinity: where all may be together,
// which a search that goes from one to the next may overlook. The first of many; nullopt: none has.
std::optional<GangDomains> DomainsByAffinity(const cluster::State& state, const Aspirants& who,
                                             const GangPlanner& planner);

}  // namespace knx::engine
