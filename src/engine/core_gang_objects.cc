// Objects that say how many pods of a gang must start together: they come, change and go, before
// or after the pods that name them.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/counted.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::PodId;

void Core::OnGangObject(const k8s::Object& object, bool there, Time now) {
  struct Before {
    GangId id;
    cluster::GangDemand demand;
    cluster::GangTerms terms;
    Duration grace;
    std::size_t enough = 0;
  };
  std::vector<Before> all;
  for (const GangId id : state_.GangsOf(object)) {
    const cluster::Gang& gang = state_.gangs().Get(id);
    all.push_back({id, gang.demand(), gang.terms, GangArgsOf(gang).grace, EnoughOf(id)});
  }
  there ? state_.UpsertObject(object) : state_.RemoveObject(object);
  NoteGroupObject(object, there, now);
  for (const Before& before : all) {
    const cluster::Gang& gang = state_.gangs().Get(before.id);
    if (gang.terms != before.terms) {
      gangs_.ExtendGrace(before.id, GangArgsOf(gang).grace - before.grace);
    }
    const bool wants_otherwise = gang.demand() != before.demand;
    if (gang.terms != before.terms || wants_otherwise) TellWhoMayGo(before.id, now);
    if (!wants_otherwise) continue;
    OnDemandChanged(before.id, before.demand.together(), now);
    NoteGrown(before.id, before.enough, now);
  }
}

void Core::OnDemandChanged(GangId id, bool was_together, Time now) {
  const std::vector<PodId> members = state_.gangs().Get(id).members;
  WaitingGang* const waiting = gangs_.Find(id);
  const PodId stood = waiting == nullptr ? PodId{} : waiting->stands;
  const bool stays_gang = was_together && state_.gangs().Get(id).together();
  if (stays_gang && waiting != nullptr) waiting->said_missing = 0;  // another thing is missing now
  if (!stays_gang) {
    // Members become pods like any other, or these become members.
    CloseGang(id);
    for (const PodId member : members) {
      JoinOthers(member, now);
      queue_.AskGateAgain(member, now);
    }
  }
  for (const PodId member : members) NoteMember(member, now);
  // What it was refused is not what it asks for now.
  if (stood.valid()) queue_.Activate(stood, now);
  Touch(id);
}

void Core::NoteConflict(PodId id) {
  const cluster::GangMembership& membership = *state_.pod(id).gang;
  if (membership.conflict_said || !queue_.Contains(id)) return;
  const cluster::GangDeclaration& declared = membership.declared;
  const cluster::Gang& gang = state_.gangs().Get(membership.id);
  std::string conflict = declared.conflict;
  const bool contradicts = declared.minimum != 0 && cluster::HasObject(declared.source) &&
                           !gang.awaits_object() && declared.minimum != gang.minimum;
  if (conflict.empty() && contradicts) {
    conflict = fmt::format("the {} wants {} to start together, the pod {}: the object counts",
                           cluster::ObjectOf(gang.source), FormatCount(gang.minimum, "pod", "pods"),
                           declared.minimum);
  }
  const bool says_less = !cluster::HasObject(declared.source) && !declared.by_parts &&
                         declared.minimum < gang.said;
  if (conflict.empty() && says_less) {
    conflict = fmt::format(
        "the pod wants {} to start together, another of the group {}: the greatest counts",
        FormatCount(declared.minimum, "pod", "pods"), gang.said);
  }
  if (conflict.empty()) return;
  state_.NoteConflictSaid(id);
  EmitEvent(id, true, names::kEventGangConflict, names::kActionScheduling,
            fmt::format("pod group {}: {}", GangName(state_, membership.id), conflict));
}

void Core::NoteConflictsIn(GangId id, WaitingGang& waiting) {
  const std::int32_t said = state_.gangs().Get(id).said;
  if (std::exchange(waiting.noted_minimum, said) >= said) return;
  for (const PodId member : waiting.ready) NoteConflict(member);
}

}  // namespace knx::engine
