#include "engine/gang_search.h"

#include <algorithm>
#include <tuple>

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

GangSearch::Found GangSearch::Find(std::span<const SearchOrder::Kinded> members,
                                   const GangCount& count, const GangGoal& goal,
                                   std::size_t most_evaluations) {
  order_.emplace(members, goal);
  goal_ = goal;
  kinds_ = count.kinds();
  evaluations_ = looks_ = 0;
  most_evaluations_ = most_evaluations;
  const auto all = [this](auto property) {
    return std::all_of(kinds_.begin(), kinds_.end(), property);
  };
  plain_ = all([](const GangCount::Kind& kind) { return kind.room.amounts_only; });
  // Room that is kept for members counts against others until they have a place.
  sure_ = state_.nominations().empty() &&
          all([](const GangCount::Kind& kind) { return kind.room.rejections_last; });
  OrderNodes();
  places_.clear();
  if (order_->size() == 0) return {{}, 0, true};
  steps_.assign(1, {});
  while (!steps_.empty() && may_go_on()) {
    Step& step = steps_.back();
    TakeBack(step);
    if (!step.left_out && PlaceNext(step)) {
      if (goal_->reached()) break;
      StepOn();
      continue;
    }
    const bool first_time = !std::exchange(step.left_out, true);
    if (!first_time || !StepOn()) steps_.pop_back();
  }
  Found found{{}, evaluations_, sure_ && steps_.empty()};
  const bool enough = goal_->reached() && !places_.empty();
  if (enough) found.places = places_;
  for (; !steps_.empty(); steps_.pop_back()) {
    Step& step = steps_.back();
    if (!enough) {
      TakeBack(step);
    } else if (step.mark) {
      state_.Commit(*step.mark);
    }
  }
  return found;
}

void GangSearch::OrderNodes() {
  state_.RefreshRanks();
  std::vector<std::tuple<std::size_t, std::uint32_t, NodeRow>> sized;
  std::vector<std::vector<bool>> open_to(kinds_.size());
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    open_to[kind].resize(state_.nodes().row_count());
    for (const NodeRow row : kinds_[kind].room.open) {
      const std::size_t room = RoomOn(state_, row, kinds_[kind].room.takes);
      if (room == 0) continue;
      open_to[kind][row.index] = true;
      sized.emplace_back(room, state_.nodes().rank(row), row);
    }
  }
  std::sort(sized.begin(), sized.end());
  nodes_.clear();
  std::vector<bool> known(state_.nodes().row_count());
  for (const auto& [room, rank, row] : sized) {
    if (!known[row.index]) nodes_.push_back(row);
    known[row.index] = true;
  }
  open_.assign(kinds_.size(), {});
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (const NodeRow row : nodes_) open_[kind].push_back(open_to[kind][row.index]);
  }
}

bool GangSearch::PlaceNext(Step& step) {
  const auto [pod, kind] = order_->at(step.member);
  while (step.next_node < nodes_.size() && may_go_on()) {
    const std::size_t node = step.next_node++;
    ++looks_;
    const NodeRow row = nodes_[node];
    if (!open_[kind][node] || RoomOn(state_, row, kinds_[kind].room.takes) == 0) continue;
    if (plain_ && IsLikeTried(step, node)) continue;
    ++evaluations_;
    if (fits_(pod, row) && Take(pod, row, step)) return true;
  }
  return false;
}

bool GangSearch::Take(PodId pod, NodeRow row, Step& step) {
  const auto mark = state_.Mark();
  state_.Assume(pod, row);
  if (!reserve_(pod, row).ok()) {
    state_.Rollback(mark);
    sure_ = false;
    return false;
  }
  step.mark = mark;
  places_.emplace_back(pod, row);
  goal_->Follow(places_);
  return true;
}

bool GangSearch::IsLikeTried(const Step& step, std::size_t node) const {
  // Those with as much room are neighbours, so that looking further back finds little more.
  constexpr std::size_t kLookBack = 32;
  const std::size_t first = std::max(step.first_node, node - std::min(node, kLookBack));
  for (std::size_t tried = first; tried < node; ++tried) {
    if (AreAlike(tried, node)) return true;
  }
  return false;
}

bool GangSearch::AreAlike(std::size_t a, std::size_t b) const {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (open_[kind][a] != open_[kind][b]) return false;
    for (const cluster::ResourceAmount& entry : kinds_[kind].room.takes) {
      if (FreeOn(state_, nodes_[a], entry.id) != FreeOn(state_, nodes_[b], entry.id)) return false;
    }
  }
  return true;
}

void GangSearch::TakeBack(Step& step) {
  if (!step.mark) return;
  state_.Rollback(*step.mark);
  step.mark.reset();
  places_.pop_back();
  goal_->Follow(places_);
}

bool GangSearch::StepOn() {
  const Step last = steps_.back();
  Step step;
  step.member = order_->After(last.member, last.left_out, *goal_);
  if (step.member == SearchOrder::kEnd) return false;
  // Members of a kind are alike: the later ones need not look where the earlier ones were tried in
  // vain.
  if (!last.left_out && order_->at(step.member).second == order_->at(last.member).second) {
    step.first_node = step.next_node = last.next_node - 1;
  }
  steps_.push_back(step);
  return true;
}

}  // namespace knx::engine
