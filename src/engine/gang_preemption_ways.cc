// Room for a gang in more than one way, where the first breaks other gangs.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engine/broken_gangs.h"
#include "engine/gang_preemption.h"
#include "engine/importance.h"
#include "engine/victim_choice.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

// How often others may be chosen, where so many pods have to be moved for each try: what the search
// costs hardly depends on their number.
std::size_t AttemptsFor(std::size_t pods) {
  constexpr std::size_t kPodsMoved = 100'000, kFewest = 4, kMost = 200;
  return std::clamp(kPodsMoved / std::max<std::size_t>(pods, 1), kFewest, kMost);
}

}  // namespace

// A gang with more than it needs gives up its least important members first, and whole gangs go in
// the order in which they matter. Where that breaks one, or would not do at all, those are tried
// who are in the way, and then who is chosen so that fewer break.
GangRoom GangPreemptor::FindAnyWay(GangId gang, const Plan& plan,
                                   const std::function<GangRoom()>& find) {
  ListUnits(gang);
  if (units_.empty() && leaving_.empty()) return {};
  GangRoom room = find();
  if (IsGoodEnough(room)) return room;
  // Those in the way of a better room may be others.
  constexpr int kMostRounds = 3;
  for (int round = 0; may_choose_ && round < kMostRounds; ++round) {
    const std::vector<PodId> in_the_way = InTheWay(gang, room, plan);
    if (in_the_way.empty()) return room;
    chosen_.insert(in_the_way.begin(), in_the_way.end());
    ListUnits(gang);
    chosen_.clear();
    GangRoom other = find();
    const bool is_better = !other.places.empty() && (room.places.empty() || other.harm < room.harm);
    if (!is_better) break;
    room = std::move(other);
    if (IsGoodEnough(room)) return room;
  }
  ListUnits(gang);
  const std::optional<std::vector<PodId>> chosen = ChooseVictims(gang, room, plan);
  if (!chosen) return room;
  chosen_.insert(chosen->begin(), chosen->end());
  const std::vector<GangId> broken = GangsBrokenBy(state_, *chosen);
  may_break_ = std::set<GangId>(broken.begin(), broken.end());
  ListUnits(gang);
  chosen_.clear();
  may_break_.reset();
  return Lesser(std::move(room), find());
}

bool GangPreemptor::IsGoodEnough(const GangRoom& room) const {
  return room.places.empty() ? !may_choose_ : room.harm.gangs_broken < (may_choose_ ? 1 : 2);
}

std::vector<PodId> GangPreemptor::InTheWay(GangId gang, const GangRoom& room, const Plan& plan) {
  const std::vector<PodId> may_go = AllWhoMayGo(gang);
  Places places = room.places;
  if (places.empty()) {
    const auto mark = state_.Mark();
    for (const PodId pod : may_go) state_.Displace(pod);
    places = plan(0);
    state_.Rollback(mark);
  }
  std::set<NodeRow> rows;
  for (const auto& [member, row] : places) rows.insert(row);
  std::vector<PodId> pods;
  std::copy_if(may_go.begin(), may_go.end(), std::back_inserter(pods),
               [&](PodId pod) { return rows.contains(state_.pod(pod).node); });
  return pods;
}

std::optional<std::vector<PodId>> GangPreemptor::ChooseVictims(GangId gang, const GangRoom& room,
                                                               const Plan& plan) {
  std::set<GangId> listed;
  std::vector<GangId> may_break;
  for (const Unit& unit : units_) {
    if (unit.gang.valid()) listed.insert(unit.gang);
    if (unit.breaks) may_break.push_back(unit.gang);
  }
  std::vector<PodId> may_go = AllWhoMayGo(gang);
  // Of a gang that lacks somebody already all go, or nobody.
  std::erase_if(may_go, [&](PodId pod) {
    const GangId of = TiedTo(state_, pod);
    return of.valid() && !listed.contains(of) && Above(state_.gangs().Get(of)) < 0;
  });
  // Who is tied to nobody comes back last.
  std::sort(may_go.begin(), may_go.end(), [this](PodId a, PodId b) {
    const bool tied_a = TiedTo(state_, a).valid(), tied_b = TiedTo(state_, b).valid();
    return tied_a != tied_b ? tied_a : MoreImportant(state_, a, b);
  });
  VictimChoice choice(
      state_, may_go, [&](const auto& staying) { return GoneWithout(may_go, staying, plan); },
      AttemptsFor(members_.size() + may_go.size()));
  return choice.Find(may_break, GangsBrokenBy(state_, room.victims));
}

std::optional<std::vector<PodId>> GangPreemptor::GoneWithout(std::span<const PodId> may_go,
                                                             const std::set<PodId>& staying,
                                                             const Plan& plan) {
  std::vector<std::pair<PodId, NodeRow>> gone;
  std::map<GangId, std::int64_t> above;  // how many members the gangs have beyond their minimum
  for (const PodId pod : may_go) {
    if (staying.contains(pod)) continue;
    gone.emplace_back(pod, state_.pod(pod).node);
    const GangId gang = TiedTo(state_, pod);
    if (gang.valid()) above.emplace(gang, Above(state_.gangs().Get(gang)));
  }
  const auto mark = state_.Mark();
  for (const auto& [pod, row] : gone) state_.Displace(pod);
  const Places places = plan(0);
  if (!places.empty()) PutBack(places, gone, above);
  state_.Rollback(mark);
  if (places.empty()) return std::nullopt;
  std::vector<PodId> pods;
  for (const auto& [pod, row] : gone) pods.push_back(pod);
  return pods;
}

void GangPreemptor::PutBack(const Places& places, std::vector<std::pair<PodId, NodeRow>>& gone,
                            std::map<GangId, std::int64_t>& above) {
  std::set<NodeRow> rows;
  for (const auto& [member, row] : places) rows.insert(row);
  std::erase_if(gone, [&](const auto& pod) { return !rows.contains(pod.second); });
  for (const auto& [pod, row] : gone) {
    if (const auto gang = above.find(TiedTo(state_, pod)); gang != above.end()) --gang->second;
  }
  std::set<PodId> tried;
  // First those whose gangs have too few without them.
  for (const bool all : {false, true}) {
    std::erase_if(gone, [&](const auto& pod) {
      const auto gang = above.find(TiedTo(state_, pod.first));
      const bool is_missed = gang != above.end() && gang->second < 0;
      if ((!all && !is_missed) || !tried.insert(pod.first).second) return false;
      Unit unit;
      unit.pods.push_back(pod);
      state_.Assume(pod.first, pod.second);
      if (!KeepTheirPlaces(places, &unit)) {
        state_.Displace(pod.first);
        return false;
      }
      if (gang != above.end()) ++gang->second;
      return true;
    });
  }
}

}  // namespace knx::engine
