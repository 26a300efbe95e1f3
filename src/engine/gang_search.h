// Looks for places for a gang where taking the best place for one member after the other does not
// find enough: tries other ways on the state itself, one after the other, and takes them back,
// until one is found, all have been tried, or a number of questions has been asked.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_count.h"
#include "engine/gang_goal.h"
#include "engine/gang_planner.h"
#include "engine/search_order.h"

namespace knx::engine {

class GangSearch {
 public:
  // Whether the pod fits on the node as the state is now.
  using Fits = std::function<bool(cluster::PodId, cluster::NodeRow)>;

  GangSearch(cluster::State& state, Fits fits, GangPlanner::Reserve reserve)
      : state_(state), fits_(std::move(fits)), reserve_(std::move(reserve)) {}

  struct Found {
    // They have taken their room. Empty: no way was found.
    std::vector<std::pair<cluster::PodId, cluster::NodeRow>> places;
    std::size_t evaluations = 0;
    bool all_tried = false;  // and there is no other way
  };
  // Places for members that reach the goal; who they are, and of which kinds of the count.
  Found Find(std::span<const SearchOrder::Kinded> members, const GangCount& count,
             const GangGoal& goal, std::size_t most_evaluations);

 private:
  // One member, and how far its possibilities have been tried.
  struct Step {
    std::size_t member = 0;
    std::size_t first_node = 0, next_node = 0;   // in nodes_: since which, and which is next
    std::optional<cluster::State::MarkId> mark;  // of the place that it has now
    bool left_out = false;                       // also without it
  };
  void OrderNodes();
  // Gives the step's member its next place; false: there is none.
  bool PlaceNext(Step& step);
  bool Take(cluster::PodId pod, cluster::NodeRow row, Step& step);
  // The node is no better and no worse than one that the step has tried in vain.
  [[nodiscard]] bool IsLikeTried(const Step& step, std::size_t node) const;
  [[nodiscard]] bool AreAlike(std::size_t a, std::size_t b) const;
  void TakeBack(Step& step);
  // What follows when a member has its place, or is left out; false: nothing does.
  bool StepOn();
  [[nodiscard]] bool may_go_on() const {
    return evaluations_ < most_evaluations_ && looks_ < kLooksPerEvaluation * most_evaluations_;
  }

  // Nodes that are passed over because they are full cost little, but not nothing.
  static constexpr std::size_t kLooksPerEvaluation = 1000;

  cluster::State& state_;
  Fits fits_;
  GangPlanner::Reserve reserve_;

  // Of one search.
  std::optional<SearchOrder> order_;
  std::optional<GangGoal> goal_;
  std::span<const GangCount::Kind> kinds_;
  std::vector<cluster::NodeRow> nodes_;  // where anybody could go, those with least room first
  std::vector<std::vector<bool>> open_;  // by kind, by position in nodes_
  std::vector<Step> steps_;
  std::vector<std::pair<cluster::PodId, cluster::NodeRow>> places_;
  std::size_t evaluations_ = 0, most_evaluations_ = 0, looks_ = 0;
  bool sure_ = false;   // what was tried in vain is in vain in any other order
  bool plain_ = false;  // nodes that are open to the same kinds and have the same left are alike
};

}  // namespace knx::engine
