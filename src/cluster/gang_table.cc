#include "cluster/gang_table.h"

#include <algorithm>

namespace knx::cluster {
namespace {

// Those entries whose names are that of the object, or begin with it where it has several groups.
template <class Map>
auto EntriesOf(Map& map, const GangKey& object) {
  if (object.source != GangSource::kWorkload) return map.equal_range(object);
  GangKey from = object, to = object;
  from.name += '/';
  to.name += static_cast<char>('/' + 1);
  return std::pair(map.lower_bound(from), map.lower_bound(to));
}

template <class Map>
std::size_t MapBytes(const Map& map) {
  constexpr std::size_t kMapNode = 4 * sizeof(void*);
  std::size_t total = 0;
  for (const auto& [key, value] : map) {
    total += kMapNode + sizeof(key) + sizeof(value) + key.name.size();
  }
  return total;
}

}  // namespace

GangId GangTable::Join(const GangKey& key, PodId pod, std::string_view owner) {
  const auto [known, fresh] = by_name_.try_emplace(key);
  if (fresh) {
    if (free_.empty()) {
      known->second = GangId{static_cast<std::uint32_t>(gangs_.size())};
      gangs_.emplace_back();
    } else {
      known->second = free_.back();
      free_.pop_back();
    }
    Gang& made = gangs_[known->second.index];
    made.namespace_ = key.namespace_;
    made.source = key.source;
    made.name = key.name;
    if (key.source != GangSource::kPod) made.minimum = MinimumByObject(made);
    const auto past = pasts_.find(owner);
    if (past != pasts_.end() && past->second.key == key) made.finished = past->second.finished;
  }
  gangs_[known->second.index].members.push_back(pod);
  return known->second;
}

void GangTable::Leave(GangId id, PodId pod, std::string_view owner) {
  Gang& gang = gangs_[id.index];
  gang.members.erase(std::find(gang.members.begin(), gang.members.end(), pod));
  if (!gang.members.empty()) return;
  if (gang.finished > 0 && !owner.empty()) Remember(gang, owner);
  by_name_.erase({gang.namespace_, gang.source, gang.name});
  gang = {};
  free_.push_back(id);
}

void GangTable::Remember(const Gang& gang, std::string_view owner) {
  const auto [past, fresh] = pasts_.try_emplace(std::string(owner));
  past->second = {{gang.namespace_, gang.source, gang.name}, gang.finished};
  if (!fresh) return;
  past_owners_.emplace_back(owner);
  if (past_owners_.size() <= kMostPasts) return;
  pasts_.erase(past_owners_.front());
  past_owners_.pop_front();
}

void GangTable::SetObject(const GangKey& object, Groups groups) {
  const auto [first, last] = EntriesOf(objects_, object);
  objects_.erase(first, last);
  for (const auto& [name, minimum] : groups) {
    objects_[{object.namespace_, object.source, name}] = std::clamp(minimum, 1, kMaxGangMinimum);
  }
  for (const GangId id : NamedBy(object)) {
    gangs_[id.index].minimum = MinimumByObject(gangs_[id.index]);
  }
}

std::vector<GangId> GangTable::NamedBy(const GangKey& object) const {
  std::vector<GangId> out;
  const auto [first, last] = EntriesOf(by_name_, object);
  for (auto gang = first; gang != last; ++gang) out.push_back(gang->second);
  return out;
}

std::int32_t GangTable::MinimumByObject(const Gang& gang) const {
  const auto said =
      objects_.find({gang.namespace_, gang.source, std::string(GroupOf(gang.source, gang.name))});
  return said == objects_.end() ? Gang::kNoObject : said->second;
}

std::size_t GangTable::bytes() const {
  std::size_t total = gangs_.size() * sizeof(Gang) + free_.capacity() * sizeof(GangId);
  for (const Gang& gang : gangs_) {
    total += gang.members.capacity() * sizeof(PodId) + gang.name.size();
  }
  constexpr std::size_t kUid = 36;
  total += pasts_.size() * (sizeof(Past) + 2 * (sizeof(std::string) + kUid));
  return total + MapBytes(by_name_) + MapBytes(objects_);
}

}  // namespace knx::cluster
