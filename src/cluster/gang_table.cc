#include "cluster/gang_table.h"

#include <algorithm>

namespace knx::cluster {

GangId GangTable::Join(Symbol namespace_, std::string_view name, PodId pod) {
  const auto [known, fresh] = by_name_.try_emplace({namespace_, std::string(name)});
  if (fresh) {
    if (free_.empty()) {
      known->second = GangId{static_cast<std::uint32_t>(gangs_.size())};
      gangs_.emplace_back();
    } else {
      known->second = free_.back();
      free_.pop_back();
    }
    Gang& made = gangs_[known->second.index];
    made.namespace_ = namespace_;
    made.name = name;
  }
  gangs_[known->second.index].members.push_back(pod);
  return known->second;
}

void GangTable::Leave(GangId id, PodId pod) {
  Gang& gang = gangs_[id.index];
  gang.members.erase(std::find(gang.members.begin(), gang.members.end(), pod));
  if (!gang.members.empty()) return;
  by_name_.erase({gang.namespace_, gang.name});
  gang = {};
  free_.push_back(id);
}

std::size_t GangTable::bytes() const {
  std::size_t total = gangs_.size() * sizeof(Gang) + free_.capacity() * sizeof(GangId);
  for (const Gang& gang : gangs_) total += gang.members.capacity() * sizeof(PodId);
  // A node of the map, and the name in it and in the gang.
  constexpr std::size_t kMapNode = 4 * sizeof(void*);
  for (const auto& [key, id] : by_name_)
    total += kMapNode + sizeof(key) + sizeof(id) + 2 * key.second.size();
  return total;
}

}  // namespace knx::cluster
