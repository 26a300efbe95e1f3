#include "cluster/gang_table.h"

#include <algorithm>

namespace knx::cluster {

GangId GangTable::Open(Symbol namespace_, std::string_view name) {
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
  return known->second;
}

GangId GangTable::Join(Symbol namespace_, std::string_view name, PodId pod) {
  const GangId id = Open(namespace_, name);
  gangs_[id.index].members.push_back(pod);
  return id;
}

void GangTable::Finish(Symbol namespace_, std::string_view name, std::string_view uid) {
  if (finished_.contains(uid)) return;
  const GangId id = Open(namespace_, name);
  ++gangs_[id.index].finished;
  finished_.emplace(uid, id);
}

GangId GangTable::ForgetFinished(std::string_view uid) {
  const auto found = finished_.find(uid);
  if (found == finished_.end()) return {};
  const GangId id = found->second;
  finished_.erase(found);
  --gangs_[id.index].finished;
  CloseIfEmpty(id);
  return id;
}

void GangTable::Leave(GangId id, PodId pod) {
  Gang& gang = gangs_[id.index];
  gang.members.erase(std::find(gang.members.begin(), gang.members.end(), pod));
  CloseIfEmpty(id);
}

void GangTable::CloseIfEmpty(GangId id) {
  if (Contains(id)) return;
  Gang& gang = gangs_[id.index];
  by_name_.erase({gang.namespace_, gang.name});
  gang = {};
  free_.push_back(id);
}

std::size_t GangTable::bytes() const {
  std::size_t total = gangs_.size() * sizeof(Gang) + free_.capacity() * sizeof(GangId);
  for (const Gang& gang : gangs_) total += gang.members.capacity() * sizeof(PodId);
  for (const auto& [uid, id] : finished_) total += 6 * sizeof(void*) + uid.size();
  // A node of the map, and the name in it and in the gang.
  constexpr std::size_t kMapNode = 4 * sizeof(void*);
  for (const auto& [key, id] : by_name_)
    total += kMapNode + sizeof(key) + sizeof(id) + 2 * key.second.size();
  return total;
}

}  // namespace knx::cluster
