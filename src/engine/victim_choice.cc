#include "engine/victim_choice.h"

#include <algorithm>
#include <utility>

#include "engine/broken_gangs.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

VictimChoice::VictimChoice(const cluster::State& state, std::span<const PodId> may_go,
                           Attempt attempt, std::size_t attempts)
    : state_(state),
      attempt_(std::move(attempt)),
      left_(attempts),
      // A search in vain must leave some for others.
      of_search_((attempts + 1) / 2) {
  for (const PodId pod : may_go) {
    if (!GangsBrokenBy(state_, std::span(&pod, 1)).empty()) needed_.push_back(pod);
  }
}

// First without any of them; then without one after the other, those who matter most first; and as
// two may have been taken where a third alone would do, with each alone.
std::optional<VictimChoice::Pods> VictimChoice::Find(std::span<const GangId> may_break,
                                                     std::span<const GangId> enough) {
  std::optional<Pods> best = FindWith({});
  if (best || may_break.empty()) return best;
  GangSet breaking(enough.begin(), enough.end());
  const auto take = [&](std::optional<Pods> found) {
    if (!found) return;
    best = std::move(found);
    const std::vector<GangId> broken = GangsBrokenBy(state_, *best);
    breaking = GangSet(broken.begin(), broken.end());
  };
  if (enough.empty()) {
    take(FindWith(GangSet(may_break.begin(), may_break.end())));
    if (!best) return std::nullopt;
  }
  for (auto gang = may_break.rbegin(); gang != may_break.rend() && breaking.size() > 1; ++gang) {
    GangSet others = breaking;
    if (others.erase(*gang) > 0) take(FindWith(others));
  }
  for (auto gang = may_break.begin(); gang != may_break.end() && breaking.size() > 1; ++gang) {
    take(FindWith({*gang}));
  }
  return best;
}

std::optional<VictimChoice::Pods> VictimChoice::FindWith(const GangSet& may_break) {
  staying_.clear();
  going_.clear();
  for (const PodId pod : needed_) {
    if (!may_break.contains(TiedTo(state_, pod))) staying_.insert(pod);
  }
  end_ = left_ - std::min(left_, of_search_);
  const std::optional<Pods> first = Try();
  if (!first) return std::nullopt;
  const PodSet needed = staying_;
  if (std::optional<Pods> gone = Descend(*first, may_break)) return gone;
  staying_ = needed;
  return Search(*first, may_break);
}

std::optional<VictimChoice::Pods> VictimChoice::Try() {
  if (left_ <= end_) return std::nullopt;
  --left_;
  return attempt_(staying_);
}

// Node by node: as long as no gang breaks those go who are gone there; of the others those stay
// whose gangs cannot spare them as well, so that the room is looked for elsewhere.
std::optional<VictimChoice::Pods> VictimChoice::Descend(Pods gone, const GangSet& may_break) {
  for (std::size_t i = 0; i < of_search_ / 2; ++i) {
    if (BrokenBy(gone, may_break).empty()) return gone;
    std::vector<Pods> by_node;
    for (const PodId pod : gone) {
      const auto same = std::find_if(by_node.begin(), by_node.end(), [&](const Pods& pods) {
        return state_.pod(pods.front()).node == state_.pod(pod).node;
      });
      (same == by_node.end() ? by_node.emplace_back() : *same).push_back(pod);
    }
    if (by_node.size() == 1) break;
    Pods going;
    for (const Pods& pods : by_node) {
      const std::size_t before = going.size();
      going.insert(going.end(), pods.begin(), pods.end());
      const std::vector<GangId> broken = BrokenBy(going, may_break);
      if (broken.empty()) continue;
      going.resize(before);
      for (const PodId pod : pods) {
        const auto gang = std::find(broken.begin(), broken.end(), TiedTo(state_, pod));
        if (gang != broken.end()) staying_.insert(pod);
      }
    }
    std::optional<Pods> next = Try();
    if (!next) break;
    gone = std::move(*next);
  }
  return std::nullopt;
}

// One of the members of a gang of which too many go has to stay. Once nothing was found where the
// first of them does, it goes, and so on; as soon as too many go by that, there is no way.
std::optional<VictimChoice::Pods> VictimChoice::Search(const Pods& gone,
                                                       const GangSet& may_break) {
  const Pods members = TooMany(gone, may_break);
  if (members.empty()) return gone;
  const std::size_t going_before = going_.size();
  std::optional<Pods> found;
  for (const PodId member : members) {
    if (std::find(going_.begin(), going_.end(), member) != going_.end()) continue;
    staying_.insert(member);
    if (const std::optional<Pods> next = Try()) found = Search(*next, may_break);
    staying_.erase(member);
    going_.push_back(member);
    if (found || left_ <= end_ || !TooMany(going_, may_break).empty()) break;
  }
  going_.resize(going_before);
  return found;
}

std::vector<GangId> VictimChoice::BrokenBy(const Pods& gone, const GangSet& may_break) const {
  std::vector<GangId> broken = GangsBrokenBy(state_, gone);
  std::erase_if(broken, [&](GangId gang) { return may_break.contains(gang); });
  return broken;
}

VictimChoice::Pods VictimChoice::TooMany(const Pods& gone, const GangSet& may_break) const {
  const std::vector<GangId> broken = BrokenBy(gone, may_break);
  Pods members;
  if (broken.empty()) return members;
  GangId first;
  for (const PodId pod : gone) {
    const GangId gang = TiedTo(state_, pod);
    if (std::find(broken.begin(), broken.end(), gang) == broken.end()) continue;
    if (!first.valid()) first = gang;
    if (gang == first) members.push_back(pod);
  }
  return members;
}

}  // namespace knx::engine
