// Who belongs to which gang, and who of a gang has done its work.
#include <algorithm>

#include "cluster/state.h"
#include "k8s/kind_name.h"

namespace knx::cluster {
namespace {

// Where members disagree, the greatest counts.
void AddRole(const GangDeclaration& declared, GangRoles& roles) {
  if (declared.role_minimum == 0) return;
  std::int32_t& minimum = roles[declared.role];
  minimum = std::max(minimum, declared.role_minimum);
}

}  // namespace

void State::JoinGang(PodId id) {
  Pod& pod = pods_.Edit(id);
  if (!pod.gang->declared.problem.empty()) return;
  const GangDeclaration& declared = pod.gang->declared;
  const GangKey key{pod.namespace_, declared.source, declared.name};
  const GangId gang = pod.gang->id = gangs_.Join(key, id, BegunWith(pod, key));
  if (declared.source != GangSource::kPod) return;
  GangDemand demand{std::max(gangs_.Get(gang).minimum, declared.minimum), gangs_.Get(gang).roles};
  AddRole(declared, demand.roles);
  gangs_.SetDemand(gang, std::move(demand));
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
  if (gang.source != GangSource::kPod) return gangs_.DemandByObject(gang);
  GangDemand demand;
  for (const PodId member : gang.members) {
    const GangDeclaration& declared = pods_.Get(member).gang->declared;
    demand.minimum = std::max(demand.minimum, declared.minimum);
    AddRole(declared, demand.roles);
  }
  return demand;
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
  return gangs_.Get(id).minimum > 1 ? id : GangId{};
}

GangId State::AddFinished(const k8s::Pod& pod) {
  const auto declared = ReadGangDeclaration(pod);
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
  gangs_.SetObject(key, there ? GangTable::Groups(said->groups) : GangTable::Groups(), said->roles);
}

std::vector<GangId> State::GangsOf(const k8s::Object& object) const {
  const std::optional<GangObject> said = ReadGangObject(object);
  if (!said) return {};
  const Symbol namespace_ = words_.Find(k8s::MetaOf(object).namespace_);
  if (!namespace_.valid()) return {};
  return gangs_.NamedBy({namespace_, said->source, said->name});
}

}  // namespace knx::cluster
