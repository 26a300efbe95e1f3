// Gangs for which no places were found: whether there are none, which a count can show, or others
// than were tried first.
#include <algorithm>

#include "engine/core.h"
#include "engine/gang_search.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

GangCount Core::CountFor(std::span<const PodId> members,
                         std::vector<std::pair<PodId, std::size_t>>& by_kind) {
  using Kind = std::pair<cluster::ClassId, cluster::RelationId>;
  std::vector<Kind> kinds;
  for (const PodId member : members) {
    const Kind kind(state_.pod(member).pod_class, state_.RelationOf(member));
    const auto at = std::find(kinds.begin(), kinds.end(), kind);
    by_kind.emplace_back(member, static_cast<std::size_t>(at - kinds.begin()));
    if (at == kinds.end()) kinds.push_back(kind);
  }
  std::stable_sort(by_kind.begin(), by_kind.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<GangCount::Kind> counted(kinds.size());
  for (const auto& [member, kind] : by_kind) {
    if (counted[kind].members++ > 0) continue;
    counted[kind].room = placer_.RoomOf(ProfileOf(member), member, kinds.size() == 1);
  }
  return {state_, std::move(counted)};
}

void Core::Conclude(std::span<const PodId> members, std::size_t needed, GangPlanner& planner,
                    GangPlan& plan, bool any_will_do) {
  // One more member for a gang that has all it needs: what was said about that one says it all.
  if (needed == 0 || plan.refusal.attempt.error) return;
  std::vector<GangSearch::Member> by_kind;
  const GangCount count = CountFor(planner.LargestFirst(members), by_kind);
  const auto known = [](const GangCount::Kind& kind) { return kind.room.known; };
  if (!std::all_of(count.kinds().begin(), count.kinds().end(), known)) return;
  GangBound bound = count.Tightest();
  if (bound.most < needed) {
    plan.answer = GangAnswer::kImpossible;
    plan.bound = std::move(bound);
    return;
  }
  if (!any_will_do) return;
  const framework::GangEntry* const plugin = judge_.GangPluginOf(plan.blocked);
  const std::int32_t most = plugin == nullptr ? 0 : plugin->plugin->gang_args().search_evaluations;
  GangSearch search(
      state_, [this](PodId pod, NodeRow row) { return placer_.Fits(ProfileOf(pod), pod, row); },
      [this](PodId pod, NodeRow row) {
        std::uint8_t by = 0;
        return AskReserve(ProfileOf(pod), pod, row, by);
      });
  GangSearch::Found found = search.Find(by_kind, count, needed, static_cast<std::size_t>(most));
  plan.evaluations = found.evaluations;
  if (found.all_tried) plan.answer = GangAnswer::kImpossible;
  if (found.places.empty()) return;
  plan.answer = GangAnswer::kPlaced;
  plan.places = std::move(found.places);
  std::vector<PodId> without = planner.LargestFirst(members);
  std::erase_if(without, [this](PodId pod) { return state_.pod(pod).node.valid(); });
  planner.Fill(without, plan, members.size());
}

}  // namespace knx::engine
