// Gangs for which no places were found: whether there are none, which a count can show, or others
// than were tried first.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/shortened.h"
#include "engine/core.h"
#include "engine/demand_planner.h"
#include "engine/gang_roles.h"
#include "engine/gang_search.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

GangPlanner Core::MakePlanner(GangPlanner::Place place) {
  if (!place) place = [this](PodId pod) { return PlaceMember(pod); };
  const auto reserve = [this](PodId pod, NodeRow row) {
    std::uint8_t by = 0;
    return AskReserve(JudgeOf(pod), pod, row, by);
  };
  const auto kind = [this](PodId pod) { return lent_.KindOf(pod); };
  return {state_, std::move(place), reserve, kind, options_.halves_gangs};
}

GangCount Core::CountFor(std::span<const PodId> members,
                         std::vector<std::pair<PodId, std::size_t>>& by_kind, Symbol together,
                         bool with_others) {
  using Kind = std::tuple<cluster::ClassId, cluster::RelationId, std::size_t>;
  std::vector<Kind> kinds;
  for (const PodId member : members) {
    const Kind kind(state_.pod(member).pod_class, state_.RelationOf(member), lent_.KindOf(member));
    const auto at = std::find(kinds.begin(), kinds.end(), kind);
    by_kind.emplace_back(member, static_cast<std::size_t>(at - kinds.begin()));
    if (at == kinds.end()) kinds.push_back(kind);
  }
  std::stable_sort(by_kind.begin(), by_kind.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<GangCount::Kind> counted(kinds.size());
  for (const auto& [member, kind] : by_kind) {
    if (counted[kind].members++ > 0) continue;
    KindRoom& room = counted[kind].room;
    room = RoomOf(member, kinds.size() == 1 && !with_others);
    if (!together.valid()) continue;
    room.together.push_back(together);
    std::erase_if(room.open,
                  [&](NodeRow row) { return !state_.nodes().Label(row, together).valid(); });
  }
  return {state_, std::move(counted)};
}

namespace {

bool AllKnown(const GangCount& count) {
  return std::all_of(count.kinds().begin(), count.kinds().end(),
                     [](const GangCount::Kind& kind) { return kind.room.known; });
}

std::vector<PodId> KnownOf(std::span<const SearchOrder::Kinded> members, const GangCount& count) {
  std::vector<PodId> known;
  for (const auto& [pod, kind] : members) {
    if (count.kinds()[kind].room.known) known.push_back(pod);
  }
  return known;
}

// Whether it is worth while to search; otherwise the plan may say what the count shows.
bool MayFit(const GangCount& count, std::size_t needed, GangPlan& plan) {
  if (!AllKnown(count)) return false;
  GangBound bound = count.Tightest();
  if (bound.most >= needed) return true;
  plan.answer = GangAnswer::kImpossible;
  plan.bound = std::move(bound);
  return false;
}

}  // namespace

void Core::ConcludeHere(const Aspirants& who, GangPlanner& planner, GangPlan& plan) {
  // One more member for a gang that has all it needs: what was said about that one says it all.
  if (who.needed == 0 || plan.refusal.attempt.error) return;
  SearchHere(who, planner, plan);
  if (plan.places.empty()) return;
  std::vector<PodId> without = planner.LargestFirst(who.ready);
  std::erase_if(without, [this](PodId pod) { return state_.pod(pod).node.valid(); });
  if (IsChoosy(state_.gangs().Get(who.gang))) {
    return DemandPlanner(state_, planner, {who.gang, without, 0}).FillUp(plan);
  }
  planner.Fill(without, plan, who.ready.size());
}

void Core::SearchHere(const Aspirants& who, GangPlanner& planner, GangPlan& plan) {
  std::vector<SearchOrder::Kinded> by_kind;
  const GangCount count = CountFor(planner.LargestFirst(who.ready), by_kind);
  if (!AllKnown(count)) {
    // Others may do without those. Where they do not, that says nothing.
    const std::vector<PodId> known = KnownOf(by_kind, count);
    if (known.size() < who.needed) return;
    GangPlan tried;
    tried.evaluations = plan.evaluations;
    SearchHere({who.gang, known, who.needed}, planner, tried);
    plan.evaluations = tried.evaluations;
    plan.places = std::move(tried.places);
    if (!plan.places.empty()) plan.answer = GangAnswer::kPlaced;
    return;
  }
  if (!MayFit(count, who.needed, plan)) return;
  const cluster::Gang& gang = state_.gangs().Get(who.gang);
  const bool choosy = IsChoosy(gang);
  if (choosy && CountRoles(who, planner, plan)) return;
  // Where members are all alike, places for so many of them are easier to search for than for the
  // right ones; and where there are none for the ones, there are none for the others.
  if (choosy && count.kinds().size() == 1) {
    const auto mark = state_.Mark();
    const bool exist = !Search(by_kind, count, GangGoal(who.needed), plan).empty();
    state_.Rollback(mark);
    if (!exist && plan.answer == GangAnswer::kImpossible) return;
  }
  plan.places = Search(by_kind, count, GangGoal(state_, gang, who.ready, who.needed), plan);
  if (!plan.places.empty()) plan.answer = GangAnswer::kPlaced;
}

void Core::ConcludeForAll(std::span<const PodId> comers, GangPlanner& planner, GangPlan& plan) {
  if (plan.refusal.attempt.error) return;
  std::vector<SearchOrder::Kinded> by_kind;
  const GangCount count = CountFor(planner.LargestFirst(comers), by_kind);
  if (!MayFit(count, comers.size(), plan)) return;
  plan.places = Search(by_kind, count, GangGoal(comers.size()), plan);
  if (!plan.places.empty()) plan.answer = GangAnswer::kPlaced;
}

GangGoal::Places Core::Search(std::span<const SearchOrder::Kinded> members, const GangCount& count,
                              const GangGoal& goal, GangPlan& plan) {
  const framework::GangEntry* plugin = nullptr;  // holds have none
  for (std::size_t i = 0; i < members.size() && plugin == nullptr; ++i) {
    plugin = judge_.GangPluginOf(members[i].first);
  }
  const std::int32_t most = plugin == nullptr ? 0 : plugin->plugin->gang_args().search_evaluations;
  const std::size_t left =
      static_cast<std::size_t>(most) - std::min(plan.evaluations, static_cast<std::size_t>(most));
  GangSearch search(
      state_, [this](PodId pod, NodeRow row) { return FitsOn(pod, row); },
      [this](PodId pod, NodeRow row) {
        std::uint8_t by = 0;
        return AskReserve(JudgeOf(pod), pod, row, by);
      });
  GangSearch::Found found = search.Find(members, count, goal, left);
  plan.evaluations += found.evaluations;
  if (found.all_tried) plan.answer = GangAnswer::kImpossible;
  return std::move(found.places);
}

bool Core::CountRoles(const Aspirants& who, GangPlanner& planner, GangPlan& plan) {
  // Each costs as much as counting for a whole gang.
  constexpr std::size_t kMostCounted = 16;
  const cluster::Gang& gang = state_.gangs().Get(who.gang);
  const auto missing = MissingInRoles(state_, gang);
  if (missing.empty() || missing.size() > kMostCounted) return false;
  const auto shows = [&](std::span<const PodId> members, std::size_t needed, std::string_view of) {
    std::vector<SearchOrder::Kinded> by_kind;
    const GangCount count = CountFor(planner.LargestFirst(members), by_kind, {}, true);
    if (!AllKnown(count)) return false;
    GangBound bound = count.Tightest();
    if (bound.most >= needed) return false;
    bound.of = of;
    plan.answer = GangAnswer::kImpossible;
    plan.bound = std::move(bound);
    return true;
  };
  std::vector<PodId> fewest;  // that all of them need
  bool some_differ = false;
  for (const auto& [role, wanted] : missing) {
    std::vector<PodId> members;
    for (const PodId pod : who.ready) {
      if (RoleOf(state_, pod) == role) members.push_back(pod);
    }
    if (shows(members, wanted, fmt::format("role {}", Shortened(role, kLongestValue)))) return true;
    const auto like_first = [&](PodId pod) {
      return state_.pod(pod).pod_class == state_.pod(members[0]).pod_class &&
             state_.pod(pod).kin == state_.pod(members[0]).kin;
    };
    some_differ |= !std::all_of(members.begin(), members.end(), like_first);
    members.resize(std::min(wanted, members.size()));
    fewest.insert(fewest.end(), members.begin(), members.end());
  }
  if (some_differ || missing.size() == 1) return false;
  return shows(fewest, fewest.size(), "those that its roles need");
}

}  // namespace knx::engine
