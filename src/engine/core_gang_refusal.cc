// Gangs for which no places were found: whether there are none, which a count can show, or others
// than were tried first.
#include <fmt/format.h>

#include <algorithm>

#include "engine/core.h"
#include "engine/gang_help.h"
#include "engine/gang_search.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

GangPlanner Core::MakePlanner(GangPlanner::Place place) {
  if (!place) place = [this](PodId pod) { return PlaceMember(pod); };
  return {state_, std::move(place), [this](PodId pod, NodeRow row) {
            std::uint8_t by = 0;
            return AskReserve(JudgeOf(pod), pod, row, by);
          }};
}

GangCount Core::CountFor(std::span<const PodId> members,
                         std::vector<std::pair<PodId, std::size_t>>& by_kind, Symbol together) {
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
    KindRoom& room = counted[kind].room;
    room = RoomOf(member, kinds.size() == 1);
    if (!together.valid()) continue;
    room.together.push_back(together);
    std::erase_if(room.open,
                  [&](NodeRow row) { return !state_.nodes().Label(row, together).valid(); });
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
  const framework::GangEntry* const plugin =
      judge_.GangPluginOf(plan.blocked.valid() ? plan.blocked : members.front());
  const std::int32_t most = plugin == nullptr ? 0 : plugin->plugin->gang_args().search_evaluations;
  const std::size_t left =
      static_cast<std::size_t>(most) - std::min(plan.evaluations, static_cast<std::size_t>(most));
  GangSearch search(
      state_, [this](PodId pod, NodeRow row) { return FitsOn(pod, row); },
      [this](PodId pod, NodeRow row) {
        std::uint8_t by = 0;
        return AskReserve(JudgeOf(pod), pod, row, by);
      });
  GangSearch::Found found = search.Find(by_kind, count, needed, left);
  plan.evaluations += found.evaluations;
  if (found.all_tried) plan.answer = GangAnswer::kImpossible;
  if (found.places.empty()) return;
  plan.answer = GangAnswer::kPlaced;
  plan.places = std::move(found.places);
  std::vector<PodId> without = planner.LargestFirst(members);
  std::erase_if(without, [this](PodId pod) { return state_.pod(pod).node.valid(); });
  planner.Fill(without, plan, members.size());
}

// ---- explaining it ----

std::optional<GangInquiry> Core::InquireGang(std::string_view uid) {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid() || state_.pod(id).node.valid() || !IsOurs(id)) return std::nullopt;
  const GangId gang = GangOf(id);
  const WaitingGang* const waiting = gang.valid() ? gangs_.Find(gang) : nullptr;
  if (waiting == nullptr) return std::nullopt;
  const cluster::Gang& record = state_.gangs().Get(gang);
  GangInquiry inquiry;
  inquiry.name = GangName(state_, gang);
  inquiry.minimum = static_cast<std::size_t>(record.minimum);
  inquiry.placed = record.placed + record.finished;
  inquiry.ready = waiting->ready.size();
  inquiry.needed = NeededBy(gang);
  inquiry.complete = HasEnough(gang, *waiting);
  inquiry.message = WhyWaiting(uid);
  if (!inquiry.complete) return inquiry;
  const Loan loan = Lend(waiting->ready);
  const auto mark = state_.Mark();
  GangPlanner planner = MakePlanner();
  const GangPlan plan = PlanNow(gang, planner);
  inquiry.answer = plan.answer;
  inquiry.fitting = plan.places.empty() ? plan.fitting : plan.places.size();
  state_.Rollback(mark);
  if (plan.places.empty()) {
    inquiry.message = WhyRefused(state_, gang, inquiry.needed, plan);
    Explain(waiting->ready, planner, plan, inquiry);
  }
  TakeBackLoan(loan);
  return inquiry;
}

void Core::Explain(std::span<const PodId> members, GangPlanner& planner, const GangPlan& plan,
                   GangInquiry& inquiry) {
  const auto text = [this](Symbol symbol) { return std::string(state_.words().Text(symbol)); };
  std::vector<cluster::ResourceId> scarce;
  if (plan.bound) {
    scarce = plan.bound->by;
    inquiry.proof = Describe(state_, *plan.bound);
    inquiry.most = plan.bound->most;
    for (const cluster::ResourceId resource : scarce) {
      inquiry.scarce.push_back(state_.resources().Name(resource));
    }
  }
  const std::string& key = state_.gangs().Get(GangOf(members.front())).topology_key;
  const auto domains =
      DomainsFor(state_, {GangOf(members.front()), members, inquiry.needed}, planner);
  std::optional<Placer::Confinement> confinement;
  for (const GangPlan::Domain& domain : plan.domains) {
    inquiry.together = key;
    inquiry.domains.push_back({text(domain.value), domain.fitting});
  }
  // What helps is looked for where most fit already.
  const auto is_best = [&](const Confines& one) { return one.value == plan.domains[0].value; };
  if (!plan.domains.empty()) {
    confinement.emplace(placer_, *std::find_if(domains->all.begin(), domains->all.end(), is_best));
  }
  std::vector<GangSearch::Member> by_kind;
  const GangCount count = CountFor(members, by_kind);
  if (plan.domains.empty() && plan.bound && plan.bound->together.valid()) {
    inquiry.together = text(plan.bound->together);
    for (const GangCount::Domain& domain : count.ByDomain(plan.bound->together)) {
      inquiry.domains.push_back({text(domain.value), domain.most});
    }
  }
  if (inquiry.needed == 0) return;
  GangHelpFinder finder(state_, planner, [this](PodId pod, NodeRow row) {
    return placer_.Fits(ProfileOf(pod), pod, row);
  });
  const cluster::Gang& gang = state_.gangs().Get(GangOf(members.front()));
  std::vector<PodId> wanted(members.begin(), members.end());
  std::size_t needed = inquiry.needed;
  if (HasSubGroups(gang)) {
    wanted = WantedBySubGroups(state_, gang, members, needed);
    needed = wanted.size();
  }
  const GangHelp help = finder.Find(wanted, needed, count, scarce);
  if (help.like.valid()) inquiry.like = state_.nodes().name(help.like);
  inquiry.nodes = help.nodes;
  for (const PodId pod : help.pods) {
    inquiry.pods.push_back(
        fmt::format("{}/{}", text(state_.pod(pod).namespace_), state_.pod(pod).name));
  }
  std::sort(inquiry.pods.begin(), inquiry.pods.end());
}

}  // namespace knx::engine
