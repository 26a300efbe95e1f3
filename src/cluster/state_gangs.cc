// Who belongs to which gang, and who of a gang has done its work.
#include <algorithm>
#include <utility>

#include "cluster/state.h"
#include "k8s/kind_name.h"

namespace knx::cluster {
namespace {

// Where members disagree, the greatest counts, whoever comes first. How many more its role needs.
std::int32_t AddMinimums(const GangDeclaration& declared, GangDemand& demand) {
  demand.minimum = std::max(demand.minimum, declared.minimum);
  if (!declared.by_parts) demand.said = std::max(demand.said, declared.minimum);
  if (declared.role_minimum == 0) return 0;
  std::int32_t& minimum = demand.roles[declared.role];
  const std::int32_t before = std::exchange(minimum, std::max(minimum, declared.role_minimum));
  return minimum - before;
}

// What members say of their sub-groups, whoever says how many of the gang must start.
void AddWishes(const GangDeclaration& declared, GangDemand& demand) {
  if (!declared.sub_group.empty()) {
    std::int32_t& minimum = demand.sub_groups[declared.sub_group].minimum;
    minimum = std::max(minimum, declared.sub_group_minimum);
  }
  if (declared.min_sub_groups > 0) {
    std::int32_t& count = demand.min_sub_groups[""];
    count = std::max(count, declared.min_sub_groups);
  }
}

// Of several keys the first by the alphabet, and an object's before those of the pods.
void AddTopologyKey(const GangDeclaration& declared, std::string& key) {
  if (declared.topology_key.empty()) return;
  if (key.empty() || declared.topology_key < key) key = declared.topology_key;
}

}  // namespace

void State::JoinGang(PodId id) {
  Pod& pod = pods_.Edit(id);
  if (!pod.gang->declared.problem.empty()) return;
  const GangDeclaration& declared = pod.gang->declared;
  const GangKey key{pod.namespace_, declared.source, declared.name};
  const GangId gang = pod.gang->id = gangs_.Join(key, id, BegunWith(pod, key));
  AssignSubGroup(id);
  const bool by_pods = !HasObject(declared.source);
  const bool plain = pod.gang->sub_group.empty() && declared.min_sub_groups == 0;
  // Where an object has a word in it.
  const bool asks_object = !by_pods && !declared.topology_key.empty();
  if (asks_object) return gangs_.SetDemand(gang, CountGangDemand(gang));
  if (!by_pods && plain) return;
  GangDemand& demand = gangs_.EditDemand(gang);
  const std::int32_t more_in_roles = by_pods ? AddMinimums(declared, demand) : 0;
  if (by_pods) AddTopologyKey(declared, demand.topology_key);
  AddSubGroup(pod, demand);
  gangs_.SettleDemand(gang, more_in_roles);
}

void State::LeaveGang(PodId id) {
  const GangId gang = named_gang_of(id);
  if (!gang.valid()) return;
  gangs_.Leave(gang, id);
  if (!gangs_.Contains(gang)) return;
  gangs_.SetDemand(gang, CountGangDemand(gang));
  RecountFinished(gang);
}

GangDemand State::CountGangDemand(GangId id) const {
  const Gang& gang = gangs_.Get(id);
  const bool by_pods = !HasObject(gang.source);
  GangDemand demand = by_pods ? GangDemand() : gangs_.DemandByObject(gang);
  std::string key;
  for (const PodId member : gang.members) {
    const GangDeclaration& declared = pods_.Get(member).gang->declared;
    if (by_pods) AddMinimums(declared, demand);
    AddSubGroup(pods_.Get(member), demand);
    AddTopologyKey(declared, key);
  }
  if (demand.topology_key.empty()) demand.topology_key = std::move(key);
  return demand;
}

// As its object divides the gang; where it does not, as its members say.
void State::AddSubGroup(const Pod& member, GangDemand& demand) const {
  const auto policies = gangs_.PoliciesOf(gangs_.Get(member.gang->id));
  if (policies.empty()) return AddWishes(member.gang->declared, demand);
  SubGroupPlace place = FindSubGroup(policies, label_sets_.Get(member.labels));
  if (place.policy == nullptr) return;
  demand.sub_groups[place.name] = {std::clamp(place.policy->size, 1, kMaxGangMinimum),
                                   std::move(place.kind)};
}

void State::AssignSubGroup(PodId id) {
  Pod& pod = pods_.Edit(id);
  const auto policies = gangs_.PoliciesOf(gangs_.Get(pod.gang->id));
  pod.gang->sub_group = policies.empty() ? pod.gang->declared.sub_group
                                         : FindSubGroup(policies, label_sets_.Get(pod.labels)).name;
}

// Who is about to leave may be of the run before.
Time State::BegunWith(const Pod& member, const GangKey& key) const {
  return member.terminating ? kNever : gangs_.BegunBy(key, member.gang->owner, member.created);
}

GangId State::RecountFinished(GangId id) {
  if (!id.valid()) return {};
  const GangKey key = gangs_.Get(id).key();
  if (gangs_.HasFinished(key)) {
    Time begun = kNever;
    for (const PodId member : gangs_.Get(id).members) {
      begun = std::min(begun, BegunWith(pods_.Get(member), key));
    }
    gangs_.SetBegun(id, begun);
  }
  return gangs_.Get(id).together() ? id : GangId{};
}

GangId State::AddFinished(const k8s::Pod& pod) {
  const auto declared = ReadGangDeclaration(pod, operator_gangs_);
  if (!declared || !declared->problem.empty()) return {};
  const GangKey key{words_.Intern(pod.meta.namespace_), declared->source, declared->name};
  return RecountFinished(gangs_.AddFinished(key, ReadFinishedMember(pod)));
}

GangId State::RemoveFinished(const std::string& uid) {
  return RecountFinished(gangs_.RemoveFinished(uid));
}

void State::SetGangObject(const k8s::Object& object, bool there) {
  const std::optional<GangObject> said = ReadGangObject(object);
  if (!said) return;
  const GangKey key{words_.Intern(k8s::MetaOf(object).namespace_), said->source, said->name};
  const GangDemand each{.roles = said->roles,
                        .topology_key = said->topology_key,
                        .resources = ToResourceVector(said->resources, resource_names_)};
  gangs_.SetObject(key, there ? GangTable::Groups(said->groups) : GangTable::Groups(), each,
                   said->sub_groups);
  gangs_.SetTerms(key, there ? said->terms : GangTerms{});
  for (const GangId id : gangs_.NamedBy(key)) {
    for (const PodId member : gangs_.Get(id).members) AssignSubGroup(member);
    gangs_.SetDemand(id, CountGangDemand(id));
  }
}

std::vector<GangId> State::GangsOf(const k8s::Object& object) const {
  const std::optional<GangObject> said = ReadGangObject(object);
  if (!said) return {};
  const Symbol namespace_ = words_.Find(k8s::MetaOf(object).namespace_);
  if (!namespace_.valid()) return {};
  return gangs_.NamedBy({namespace_, said->source, said->name});
}

void State::SetEvicted(PodId id, bool evicted) {
  KNX_CHECK(!recording(), "a pod is evicted while a plan is open");
  Pod& pod = pods_.Edit(id);
  if (pod.evicted == evicted) return;
  const bool counted = pod.fills_gang();
  pod.evicted = evicted;
  if (!pod.node.valid()) return;
  const bool in_gang = pod.gang != nullptr && pod.gang->id.valid();
  if (in_gang && counted != pod.fills_gang()) gangs_.CountPlaced(pod.gang->id, counted ? -1 : +1);
  TouchUsage(pod.node);  // who looks for victims there finds others
}

}  // namespace knx::cluster
