// Roles in a gang: so many of each must be among those that start together.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "cluster/state.h"

namespace knx::engine {

// What a member is in its gang.
std::string_view RoleOf(const cluster::State& state, cluster::PodId member);

// How many members of each role have a place; only roles of which some must. A gang of which some
// have done their work has been whole: who follows only has to be enough, so it has no such roles.
std::map<std::string_view, std::size_t> PlacedInRoles(const cluster::State& state,
                                                      const cluster::Gang& gang);

// How many more of each role must get a place; only those that miss some.
std::map<std::string_view, std::size_t> MissingInRoles(const cluster::State& state,
                                                       const cluster::Gang& gang);

// How many more of each role would have to come: those that miss some even with all who wait and
// could start, which of a sub-group that cannot become whole nobody can.
std::map<std::string_view, std::size_t> MissingInRoles(const cluster::State& state,
                                                       const cluster::Gang& gang,
                                                       std::span<const cluster::PodId> waiting);

}  // namespace knx::engine
