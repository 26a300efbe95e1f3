// Who has to go so that a gang fits that does not. The plan is tried on the state itself, between a
// mark and a rollback, and is carried out by whoever asked.
//
// Who leaves for others already counts as gone, as a member of its gang and by the room it takes;
// who was promised that room, and is as important, has it.
//
// Gangs go as wholes, or only what they have above their minimum. Everybody who goes is less
// important than every member of the gang that comes: so with every plan the list of the priorities
// of all pods that have a place, the greatest first, becomes greater, and plans cannot chase each
// other for ever.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_planner.h"

namespace knx::engine {

// What room costs. Of two the lesser is better, compared in the order in which it stands here.
struct Harm {
  std::size_t violations = 0;  // victims that disruption budgets protect, or that refuse to go
  std::size_t gangs_broken = 0;
  std::int32_t priority = INT32_MIN;          // the highest of the victims
  bool works = false;                         // one of them does not fill gaps
  cluster::Tier tier = cluster::Tier::kNone;  // the highest of them
  std::int64_t lost = 0;                      // seconds of work
  std::size_t pods = 0;
  friend auto operator<=>(const Harm&, const Harm&) = default;
};

struct GangRoom {
  std::vector<std::pair<cluster::PodId, cluster::NodeRow>> places;  // none: nobody's end helps
  std::vector<cluster::PodId> victims;                              // the most important first
  Harm harm;
};

// What is there, and does less harm.
GangRoom Lesser(GangRoom a, GangRoom b);

class GangPreemptor {
 public:
  // What it has to be told.
  struct Outside {
    // Whether the pod fits on the node as the state is now.
    std::function<bool(cluster::PodId, cluster::NodeRow)> fits;
    // Whether the pod is where another was promised a start.
    std::function<bool(cluster::PodId)> borrows;
    // Whether the pod is spared, unless for what keeps the cluster going.
    std::function<bool(cluster::PodId)> spared;
    // Whether the end of the pod is of no use, because its room is kept for it.
    std::function<bool(cluster::PodId)> expected_back;
    // Whether the pod could not be evicted lately. It goes only where there is no other way.
    std::function<bool(cluster::PodId)> refuses;
    // Whether the pod leaves for others already: its room is as good as free.
    std::function<bool(cluster::PodId)> gives_way;
    // Whether anybody's end on the node is of use.
    std::function<bool(cluster::NodeRow)> may_use;
    // Until when who has started has worked.
    Time now;
  };

  GangPreemptor(cluster::State& state, GangPlanner& planner, Outside outside)
      : state_(state), planner_(planner), outside_(std::move(outside)) {}

  // Room for so many of the members of the gang. The state is as before when it returns. Places
  // without victims: room for it becomes free without anybody else's end.
  GangRoom Find(cluster::GangId gang, std::span<const cluster::PodId> members, std::size_t needed);

  // Room for those of the members that are chosen where everybody has gone who may go, which
  // `clear` lets happen; none: nobody can be.
  using Choose = std::function<std::vector<cluster::PodId>(std::span<const cluster::PodId> members,
                                                           const std::function<void()>& clear)>;
  GangRoom FindForSome(cluster::GangId gang, std::span<const cluster::PodId> members,
                       const Choose& choose);

  using Places = std::vector<std::pair<cluster::PodId, cluster::NodeRow>>;
  // The same where the best place for one after the other is not the only way. `search` gives
  // places to as many of the members as must start, as the state is, or to none.
  using Search = std::function<Places(std::span<const cluster::PodId> members)>;
  GangRoom FindBySearch(cluster::GangId gang, std::span<const cluster::PodId> members,
                        const Search& search);

 private:
  // Pods that go together or not at all.
  struct Unit {
    std::vector<std::pair<cluster::PodId, cluster::NodeRow>> pods;
    cluster::GangId gang;   // that they belong to, if any
    bool violates = false;  // a disruption budget, or one of them refuses to go
    bool breaks = false;    // a gang has less than its minimum then
    // Of the gang, if any; and whether nobody is left of it then, who else of it goes before.
    std::string_view sub_group = {};
    bool drains = false;
    bool fills = true;  // gaps, as they say, or where another was promised a start
    std::int32_t priority = INT32_MIN;
    cluster::Tier tier = cluster::Tier::kNone;  // the highest
    Time start = kNever;                        // of the one that lost most
  };
  // Places for all who must start when the first so many units are gone, which it lets happen;
  // none: these are too few.
  using Plan = std::function<Places(std::size_t units)>;

  // No member says that nobody is to go for it.
  [[nodiscard]] bool MayEvict(std::span<const cluster::PodId> members) const;
  [[nodiscard]] bool MayGo(cluster::PodId pod, cluster::GangId gang) const;
  [[nodiscard]] std::int32_t LeastPriority(std::span<const cluster::PodId> members) const;
  // How many members a gang has beyond its minimum.
  [[nodiscard]] static std::int64_t Above(const cluster::Gang& gang);
  // The least harm of what is found where those go first who matter least, those who are in the
  // way, and those who are chosen so that fewer gangs break. `plan`: places when the first so many
  // units are gone.
  GangRoom FindAnyWay(cluster::GangId gang, const Plan& plan,
                      const std::function<GangRoom()>& find);
  // No other way can break fewer gangs.
  [[nodiscard]] bool IsGoodEnough(const GangRoom& room) const;
  // Who is where members would be: in that room, or if all had gone who may.
  std::vector<cluster::PodId> InTheWay(cluster::GangId gang, const GangRoom& room,
                                       const Plan& plan);
  // Who could go so that fewer gangs break than with that room, if there is any.
  std::optional<std::vector<cluster::PodId>> ChooseVictims(cluster::GangId gang,
                                                           const GangRoom& room, const Plan& plan);
  // Who of them goes where these stay, if that is enough.
  std::optional<std::vector<cluster::PodId>> GoneWithout(std::span<const cluster::PodId> may_go,
                                                         const std::set<cluster::PodId>& staying,
                                                         const Plan& plan);
  // Lets those who are gone come back as far as the members keep their places; with how many each
  // gang has beyond its minimum if nobody of it is gone.
  void PutBack(const Places& places,
               std::vector<std::pair<cluster::PodId, cluster::NodeRow>>& gone,
               std::map<cluster::GangId, std::int64_t>& above);
  [[nodiscard]] std::vector<cluster::PodId> AllWhoMayGo(cluster::GangId gang) const;
  void ListLeaving();
  // Into units_ and leaving_.
  void ListUnits(cluster::GangId gang);
  void ListUnitsOf(cluster::GangId gang);
  [[nodiscard]] std::vector<cluster::PodId> SurplusOf(const cluster::Gang& gang,
                                                      std::span<const cluster::PodId> placed) const;
  // What a gang has above its minimum, member by member; whole sub-groups above theirs.
  void ListSurplus(cluster::GangId gang, std::vector<cluster::PodId>& placed);
  void ListSubGroups(cluster::GangId gang, std::vector<cluster::PodId>& placed);
  Unit& AddUnit(std::span<const cluster::PodId> pods, cluster::GangId gang, bool breaks);
  // The least harm first.
  void SortUnits();
  // Lets those who leave and the first so many units go.
  void Clear(std::size_t units);
  // `stay`: members that fit before keep their places.
  Places PlanWithout(std::size_t units, bool stay);
  // With the fewest units gone; none: even all of them are too few.
  GangRoom FindWith(const Plan& plan);
  // How many units have to go at least; nullopt: even all of them are too few.
  std::optional<std::size_t> FewestUnits(const Plan& plan);
  GangRoom Settle(std::size_t count, const Plan& plan);
  // Lets units come back as far as the gang keeps its places. Gives those that cannot. `thorough`:
  // looks at all members each time, not only at those beside whom somebody comes back.
  std::vector<const Unit*> Spare(const Places& places, std::size_t count, bool thorough);
  [[nodiscard]] Harm HarmOf(std::span<const Unit* const> gone) const;
  bool KeepTheirPlaces(const Places& places, const Unit* beside);

  cluster::State& state_;
  GangPlanner& planner_;
  Outside outside_;

  // Of one search.
  std::vector<cluster::PodId> members_;
  std::size_t needed_ = 0;
  std::int32_t priority_ = 0;  // of the least important member
  std::vector<Unit> units_;
  std::vector<cluster::PodId> leaving_;  // for others
  bool may_choose_ = false;              // which of its members a gang can do without
  std::set<cluster::PodId> chosen_;      // who goes first of what gangs can do without
  // The others must not.
  std::optional<std::set<cluster::GangId>> may_break_;
};

}  // namespace knx::engine
