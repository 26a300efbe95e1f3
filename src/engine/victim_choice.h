// Who goes, where several could, so that as few gangs break as possible. It tries whom the room
// takes that somebody wants: of a gang that would break thereby one has to stay more, each of them
// in turn, until no gang breaks that need not. If that takes too long it gives up, and others go.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

class VictimChoice {
 public:
  using Pods = std::vector<cluster::PodId>;
  using PodSet = std::set<cluster::PodId>;
  using GangSet = std::set<cluster::GangId>;
  // Who goes of those that may where these stay, the most important member of a gang first;
  // nullopt: there is no room without others.
  using Attempt = std::function<std::optional<Pods>(const PodSet& staying)>;

  // `may_go`: everybody of whom somebody may. The state has to be the same between two attempts.
  // `attempts`: so many at the most.
  VictimChoice(const cluster::State& state, std::span<const cluster::PodId> may_go, Attempt attempt,
               std::size_t attempts);

  // Breaks as few gangs as it finds a way to, none but these, who matter least first. nullopt:
  // there is none, or none with fewer than those of whom `enough` says that it can be done with
  // them; empty: that is not known of any.
  std::optional<Pods> Find(std::span<const cluster::GangId> may_break,
                           std::span<const cluster::GangId> enough);

 private:
  // Nobody else breaks.
  std::optional<Pods> FindWith(const GangSet& may_break);
  // The next attempt, if there is one left.
  std::optional<Pods> Try();
  // From those who go if only those stay who must: in few steps, which need not lead there.
  std::optional<Pods> Descend(Pods gone, const GangSet& may_break);
  // In all ways, one after the other.
  std::optional<Pods> Search(const Pods& gone, const GangSet& may_break);
  // Gangs that must not break.
  [[nodiscard]] std::vector<cluster::GangId> BrokenBy(const Pods& gone,
                                                      const GangSet& may_break) const;
  // Of the gang of the most important of them that breaks and must not; empty: none does.
  [[nodiscard]] Pods TooMany(const Pods& gone, const GangSet& may_break) const;

  const cluster::State& state_;
  Attempt attempt_;
  std::size_t left_;       // attempts
  std::size_t of_search_;  // as many of them as one search may have
  std::size_t end_ = 0;    // of the search: as many are left then
  Pods needed_;            // whose end breaks a gang, whoever else of it stays
  // Of one search: who stays, and who goes in any case because all ways were tried where he stays.
  PodSet staying_;
  Pods going_;
};

}  // namespace knx::engine
