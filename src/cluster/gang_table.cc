#include "cluster/gang_table.h"

#include <utility>

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

namespace {

std::int32_t InAll(std::int32_t minimum, std::int64_t of_roles) {
  return std::max(minimum,
                  static_cast<std::int32_t>(std::min<std::int64_t>(of_roles, kMaxGangMinimum)));
}

}  // namespace

std::int64_t GangDemand::of_roles() const {
  std::int64_t sum = 0;
  for (const auto& [role, count] : roles) sum += count;
  return sum;
}

std::int32_t GangDemand::in_all() const { return InAll(minimum, of_roles()); }

void GangTable::SetDemand(GangId id, GangDemand demand) {
  Gang& gang = gangs_[id.index];
  gang.roles_in_all = demand.of_roles();
  demand.minimum = InAll(demand.minimum, gang.roles_in_all);
  static_cast<GangDemand&>(gang) = std::move(demand);
  Touch(gang);
}

void GangTable::SettleDemand(GangId id, std::int32_t more_in_roles) {
  Gang& gang = gangs_[id.index];
  gang.roles_in_all += more_in_roles;
  gang.minimum = InAll(gang.minimum, gang.roles_in_all);
  Touch(gang);
}

GangId GangTable::Join(const GangKey& key, PodId pod, Time begun) {
  const auto [known, fresh] = by_name_.try_emplace(key);
  if (fresh) {
    // Not the one that became free last: who has not yet heard of its end would take the new gang
    // for the old one.
    if (free_.size() < 2) {
      known->second = GangId{static_cast<std::uint32_t>(gangs_.size())};
      gangs_.emplace_back();
    } else {
      known->second = free_.front();
      free_.pop_front();
    }
    Gang& made = gangs_[known->second.index];
    made.namespace_ = key.namespace_;
    made.source = key.source;
    made.name = key.name;
    if (HasObject(key.source)) SetDemand(known->second, DemandByObject(made));
    made.terms = TermsByObject(made);
  }
  Gang& gang = gangs_[known->second.index];
  gang.members.push_back(pod);
  // With nobody of the run before left, this is another.
  if (gang.placed == 0) gang.finished_and_gone = 0;
  SetBegun(known->second, std::min(gang.begun, begun));
  return known->second;
}

void GangTable::Leave(GangId id, PodId pod) {
  Gang& gang = gangs_[id.index];
  gang.members.erase(std::find(gang.members.begin(), gang.members.end(), pod));
  Touch(gang);
  if (!gang.members.empty()) return;
  by_name_.erase(gang.key());
  gang = {};
  free_.push_back(id);
}

// ---- who has finished ----

void GangTable::SetBegun(GangId id, Time begun) {
  Gang& gang = gangs_[id.index];
  gang.begun = begun;
  gang.finished = gang.finished_and_gone + finished_.Count(gang.key(), begun);
  Touch(gang);
}

GangId GangTable::Find(const GangKey& key) const {
  const auto known = by_name_.find(key);
  return known == by_name_.end() ? GangId{} : known->second;
}

GangId GangTable::AddFinished(const GangKey& key, FinishedMember pod) {
  return finished_.Add(key, std::move(pod)) ? Find(key) : GangId{};
}

GangId GangTable::RemoveFinished(const std::string& uid) {
  const auto removed = finished_.Remove(uid);
  if (!removed) return {};
  const GangId id = Find(removed->key);
  if (!id.valid()) return {};
  Gang& gang = gangs_[id.index];
  if (gang.placed > 0 && removed->last_run >= gang.begun) ++gang.finished_and_gone;
  SetBegun(id, gang.begun);
  return id;
}

// ---- objects ----

namespace {

void DemandSubGroups(std::span<const k8s::SubGroupPolicy> policies, GangDemand& demand) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (policies[i].minimum <= 0) continue;
    demand.min_sub_groups[KindOf(policies[i], i)] = std::min(policies[i].minimum, kMaxGangMinimum);
  }
}

}  // namespace

void GangTable::SetObject(const GangKey& object, Groups groups, const GangDemand& each,
                          std::vector<k8s::SubGroupPolicy> sub_groups) {
  const auto [first, last] = EntriesOf(objects_, object);
  objects_.erase(first, last);
  for (const auto& [name, minimum] : groups) {
    GangDemand& wanted = objects_[{object.namespace_, object.source, name}];
    wanted = each;
    wanted.minimum = std::clamp(minimum, 1, kMaxGangMinimum);
  }
  policies_.erase(object);
  if (!groups.empty() && !sub_groups.empty()) {
    DemandSubGroups(sub_groups, objects_[object]);
    policies_[object] = std::move(sub_groups);
  }
  for (const GangId id : NamedBy(object)) SetDemand(id, DemandByObject(Get(id)));
}

std::span<const k8s::SubGroupPolicy> GangTable::PoliciesOf(const Gang& gang) const {
  if (policies_.empty()) return {};
  const auto known = policies_.find(gang.key());
  if (known == policies_.end()) return {};
  return known->second;
}

void GangTable::SetTerms(const GangKey& object, const GangTerms& terms) {
  terms_.erase(object);
  if (terms != GangTerms{}) terms_.emplace(object, terms);
  if (const GangId id = Find(object); id.valid()) gangs_[id.index].terms = terms;
}

GangTerms GangTable::TermsByObject(const Gang& gang) const {
  const auto said = terms_.find(gang.key());
  return said == terms_.end() ? GangTerms{} : said->second;
}

std::vector<GangId> GangTable::NamedBy(const GangKey& object) const {
  std::vector<GangId> out;
  const auto [first, last] = EntriesOf(by_name_, object);
  for (auto gang = first; gang != last; ++gang) out.push_back(gang->second);
  return out;
}

GangDemand GangTable::DemandByObject(const Gang& gang) const {
  const auto said =
      objects_.find({gang.namespace_, gang.source, std::string(GroupOf(gang.source, gang.name))});
  return said == objects_.end() ? GangDemand{.minimum = Gang::kNoObject} : said->second;
}

std::size_t GangTable::bytes() const {
  std::size_t total = gangs_.size() * sizeof(Gang) + free_.size() * sizeof(GangId);
  for (const Gang& gang : gangs_) {
    total += gang.members.capacity() * sizeof(PodId) + gang.name.size();
  }
  return total + MapBytes(by_name_) + MapBytes(objects_) + MapBytes(policies_) + MapBytes(terms_) +
         finished_.bytes();
}

}  // namespace knx::cluster
