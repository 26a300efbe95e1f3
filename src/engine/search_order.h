// In which order the members of a gang are tried when places are searched for them, one after the
// other, with each and without it; and which members need not be tried without others, because that
// leads nowhere or nowhere new.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_goal.h"

namespace knx::engine {

class SearchOrder {
 public:
  static constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
  // A member, and a number that it shares with all that no plugin can tell from it.
  using Kinded = std::pair<cluster::PodId, std::size_t>;

  // `goal`: before anybody has a place. Those of sub-groups that cannot become whole are not in it.
  SearchOrder(std::span<const Kinded> members, const GangGoal& goal);

  [[nodiscard]] const Kinded& at(std::size_t member) const { return members_[member]; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

  // Who is tried after this one, that has a place or is left out; kEnd: with that the goal cannot
  // be reached any more. `goal` knows who has a place.
  [[nodiscard]] std::size_t After(std::size_t member, bool left_out, const GangGoal& goal) const;

 private:
  // A sub-group: those from `begin` to before `end`.
  struct Range {
    std::size_t part = GangGoal::kNone, begin = 0, end = 0;
    std::size_t twin = kEnd;  // a range before it whose sub-group is the same for all that matters
  };
  void DropHopeless(const GangGoal& goal);
  void Sort(const GangGoal& goal);
  void FindRanges(const GangGoal& goal);
  void FindTwins(const GangGoal& goal);
  [[nodiscard]] bool AreAlike(std::size_t a, std::size_t b) const;
  // Whether those from `from` on may do, without those from `skipped` to there.
  [[nodiscard]] bool MayBeEnough(std::size_t skipped, std::size_t from, const GangGoal& goal) const;

  std::vector<Kinded> members_;
  std::vector<GangGoal::Belongs> belongs_;  // by member
  std::vector<Range> ranges_;
  std::vector<std::size_t> range_of_;              // by member; kEnd: in no sub-group
  std::vector<std::vector<std::size_t>> by_role_;  // the members of each
  std::vector<std::vector<std::size_t>> by_kind_;  // where the sub-groups of each begin
};

}  // namespace knx::engine
