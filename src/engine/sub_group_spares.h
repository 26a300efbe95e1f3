// Which sub-groups a gang that has all it needs can do without, counted while they go.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "cluster/state.h"
#include "engine/sub_groups.h"

namespace knx::engine {

class SubGroupSpares {
 public:
  // `placed`: who is left, apart from those above the minimum of their sub-groups, who go first.
  // `groups` has to outlive this.
  SubGroupSpares(const cluster::State& state, const cluster::Gang& gang,
                 std::span<const cluster::PodId> placed, const SubGroups& groups);

  // Whether it can do without this sub-group of these members, too; from then on it does.
  bool Take(std::string_view name, std::span<const cluster::PodId> members);

 private:
  void Count(std::string_view role, std::int64_t members);

  const cluster::State& state_;
  std::int64_t above_ = 0;
  std::map<std::string_view, std::int64_t> in_roles_, whole_;  // beyond what must be there
  std::map<std::string_view, const SubGroup*> groups_;
};

}  // namespace knx::engine
