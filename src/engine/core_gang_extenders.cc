// Gangs about whose members extenders are asked: waiting for what they say, and keeping to it.
#include <algorithm>

#include "cluster/reservation_hold.h"
#include "engine/core.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

void Core::DecideAsking(PodId id, GangId gang, Time now) {
  WaitingGang& waiting = *gangs_.Find(gang);
  if (gang_extenders_.Ask(gang, waiting.ready, now)) {
    // It comes to its turn again when all have answered.
    waiting.stands = {};
    queue_.PutBack(id, now);
    return SettleGang(gang, now);
  }
  if (const std::string* const failure = gang_extenders_.FailureFor(gang)) {
    GangPlan plan;
    ++waiting.attempts;
    plan.refusal.attempt.error = true;
    plan.refusal.message = *failure;
    RefuseGang(id, gang, plan, {}, now);
  } else {
    DecideGang(id, gang, now);
  }
  gang_extenders_.End(gang);
}

// Also those that are full now: others of the gang may make a difference, and so may evictions.
std::vector<std::string> Core::NodesInQuestion(PodId member) {
  std::vector<std::string> names;
  const KindRoom room = placer_.RoomOf(ProfileOf(member), member, false);
  for (const NodeRow row : room.open) {
    const bool too_small = std::any_of(room.takes.begin(), room.takes.end(), [&](const auto& each) {
      return state_.nodes().allocatable(each.id)[row] < each.amount;
    });
    if (!too_small) names.push_back(state_.nodes().name(row));
  }
  std::sort(names.begin(), names.end());
  return names;
}

const GangRound::Kind* Core::SaidAbout(PodId member) {
  if (options_.extenders.empty() || cluster::IsHold(state_.pod(member))) return nullptr;
  const GangId gang = GangOf(member);
  return gang.valid() ? gang_extenders_.SaidAbout(gang, member) : nullptr;
}

Placement Core::PlaceMember(PodId member) {
  const GangRound::Kind* const said = SaidAbout(member);
  const framework::Profile& profile = JudgeOf(member);
  if (said == nullptr) {
    return lent_.Place(member,
                       [&] { return placer_.PlaceInPlan(profile, member, FailedOn(member)); });
  }
  Placement placement;
  const NodeRow nominated = state_.pod(member).nominated;
  const std::span<const NodeRow> failed = FailedOn(member);
  const bool failed_there = std::find(failed.begin(), failed.end(), nominated) != failed.end();
  if (nominated.valid() && !failed_there && FitsOn(member, nominated)) {
    placement.node = nominated;
    return placement;
  }
  return lent_.Place(member, [&] {
    Placement found =
        placer_.ChooseAmong(profile, member, said->rows, said->scores, FailedOn(member));
    if (found.node.valid() || found.attempt.error) return found;
    ExtenderVerdicts verdicts = said->verdicts;
    found = placer_.RefuseInPlan(profile, member, verdicts);
    found.message += gang_extenders_.WhoTook(*said);
    return found;
  });
}

bool Core::FitsOn(PodId member, NodeRow row) {
  const GangRound::Kind* const said = SaidAbout(member);
  if (said != nullptr && !said->Allows(row)) return false;
  return lent_.Fits(member, row, [&] { return placer_.Fits(JudgeOf(member), member, row); });
}

KindRoom Core::RoomOf(PodId member, bool alone) {
  KindRoom room = placer_.RoomOf(JudgeOf(member), member, alone);
  // What is lent there to others of the plan makes a difference, too.
  room.amounts_only &= lent_.KindOf(member) == 0;
  if (const GangRound::Kind* const said = SaidAbout(member)) {
    std::erase_if(room.open, [said](NodeRow row) { return !said->Allows(row); });
  }
  return room;
}

}  // namespace knx::engine
