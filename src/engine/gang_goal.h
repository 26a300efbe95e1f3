// What a gang still needs so that it may start, counted while its members get places in a plan: so
// many in all, so many of each role, so many whole sub-groups, and no sub-group in parts. Whoever
// chooses members for a gang asks this and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

class GangGoal {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  using Places = std::vector<std::pair<cluster::PodId, cluster::NodeRow>>;

  // So many, whoever they are.
  explicit GangGoal(std::size_t needed) : needed_(needed), left_(needed) {}
  // `waiting`: who could get a place. `needed`: how many of them have to, at the least.
  GangGoal(const cluster::State& state, const cluster::Gang& gang,
           std::span<const cluster::PodId> waiting, std::size_t needed);

  // The places that were found so far, in the order in which they were: counts those that have come
  // since it was last called, and no longer those that were given up again.
  void Follow(const Places& places);
  [[nodiscard]] bool reached() const {
    return left_ == 0 && roles_short_ == 0 && kinds_short_ == 0 && in_parts_ == 0;
  }
  // How many have to get a place yet, whoever they are.
  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] bool misses_roles() const { return roles_short_ > 0; }

  // By position: of those roles of which some are missed, of the sub-groups in the order of their
  // names, and of kinds of sub-groups of which so many must start. kNone: of none.
  struct Belongs {
    std::size_t role = kNone, part = kNone;
  };
  [[nodiscard]] Belongs Of(cluster::PodId pod) const;
  // Its role misses some.
  [[nodiscard]] bool Wants(cluster::PodId pod) const;
  [[nodiscard]] std::size_t MissingInRole(std::size_t role) const;

  struct Part {
    std::size_t kind = kNone;
    std::size_t minimum = 0;  // members that make it whole
    std::size_t placed = 0;   // that have a place
    std::size_t chosen = 0;   // of these, in this plan
    std::size_t waiting = 0;  // that had none before
    [[nodiscard]] std::size_t missing() const { return placed >= minimum ? 0 : minimum - placed; }
    // Some of it have a place by this plan, and too few.
    [[nodiscard]] bool in_parts() const { return chosen > 0 && placed < minimum; }
  };
  [[nodiscard]] std::span<const Part> parts() const { return parts_; }
  [[nodiscard]] std::size_t roles() const { return roles_.size(); }
  [[nodiscard]] std::size_t kinds() const { return kinds_.size(); }
  // How many sub-groups of the kind have to become whole yet.
  [[nodiscard]] std::size_t MissingOfKind(std::size_t kind) const;

 private:
  struct Member {
    cluster::PodId pod;
    Belongs belongs;
  };
  void Count(cluster::PodId pod, bool there);
  void CountPart(Part& part, bool there);

  std::vector<Member> members_;  // by pod
  std::size_t needed_ = 0, left_ = 0;
  std::vector<std::int64_t> roles_, kinds_;  // missing; below zero: more than that
  std::vector<Part> parts_;
  std::size_t roles_short_ = 0, kinds_short_ = 0, in_parts_ = 0;
  std::vector<cluster::PodId> counted_;
};

}  // namespace knx::engine
