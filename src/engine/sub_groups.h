// Sub-groups of a gang: parts of it that each start whole or not at all, and of which so many must.
// A gang of which some have done their work has been whole: who follows only has to be enough, and
// what is there of a sub-group is all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

// Which sub-group of its gang a member is in; empty: none.
std::string_view SubGroupOf(const cluster::State& state, cluster::PodId member);

bool HasSubGroups(const cluster::Gang& gang);
// Of each kind so many must start, if any.
const std::map<std::string, std::int32_t, std::less<>>& MinSubGroups(const cluster::Gang& gang);

struct SubGroup {
  std::string_view name, kind;
  std::size_t minimum = 0;              // members that make it whole
  std::size_t placed = 0;               // that have a place
  std::vector<cluster::PodId> waiting;  // that could get one, in the order in which they came
  [[nodiscard]] bool whole() const { return placed >= minimum; }
  [[nodiscard]] std::size_t missing() const { return whole() ? 0 : minimum - placed; }
  [[nodiscard]] bool can_be_whole() const { return placed + waiting.size() >= minimum; }
};

// How a gang stands with its sub-groups.
struct SubGroups {
  std::vector<SubGroup> all;          // by name
  std::vector<cluster::PodId> loose;  // those who wait and are in none
};
SubGroups SubGroupsOf(const cluster::State& state, const cluster::Gang& gang,
                      std::span<const cluster::PodId> waiting = {});

// How many more sub-groups have to become whole.
std::size_t MissingSubGroups(const cluster::Gang& gang, const SubGroups& groups);
// How many more members that takes at the least.
std::size_t LeastForSubGroups(const cluster::Gang& gang, const SubGroups& groups);
// Whether somebody of those who wait could start, and enough of them for the gang.
bool FillSubGroups(const cluster::State& state, const cluster::Gang& gang,
                   std::span<const cluster::PodId> waiting);

// Those of them who could: who is in no sub-group, or in one that can become whole.
std::vector<cluster::PodId> CouldStart(const cluster::State& state, const cluster::Gang& gang,
                                       std::span<const cluster::PodId> waiting);

// Sub-groups that are whole and would not be without these pods.
std::vector<std::string_view> SubGroupsBrokenBy(const cluster::State& state, cluster::GangId id,
                                                std::span<const cluster::PodId> leaving);

}  // namespace knx::engine
