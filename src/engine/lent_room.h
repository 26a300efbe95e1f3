// Room that is kept for pods, lent to them while they are planned. Among those who are planned
// together there may be some whom it is not for: to these it stays taken, but for what others of
// the plan have used of it. Nothing of this outlasts the plan.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/placement.h"
#include "engine/reservation_book.h"

namespace knx::engine {

// Places that are lent to those they are for while these are planned.
struct Loan {
  std::optional<cluster::State::MarkId> mark = {};  // nullopt: nothing is lent
  std::vector<std::pair<cluster::PodId, cluster::NodeRow>> holds = {};
  std::size_t lent_before = 0, members_before = 0;
};

class LentRoom {
 public:
  // The reservations that the pod may use.
  using Usable = std::function<std::vector<Reservation*>(cluster::PodId)>;

  LentRoom(cluster::State& state, const ReservationBook& book, Usable usable)
      : state_(state), book_(book), usable_(std::move(usable)) {}

  // What any of the pods may use has no room in the state until it is taken back, or kept.
  // `executors`: whose places are planned with them; they may use what all of the pods may, whom
  // those to come are likely to be like. nullptr: nobody's.
  Loan Lend(std::span<const cluster::PodId> pods, const Reservation* executors = nullptr);
  void TakeBack(const Loan& loan);
  // The plan stays; who lent it gives what is left its room again.
  void Keep(const Loan& loan);

  // Pods of one number may use the same of what is lent; 0: all of it, or the pod is none of those
  // to whom it is lent. Others are only planned to see what becomes of them later.
  [[nodiscard]] std::size_t KindOf(cluster::PodId pod) const;
  // The answer for a pod that is planned, as if what is not for it were taken.
  Placement Place(cluster::PodId pod, const std::function<Placement()>& place);
  bool Fits(cluster::PodId pod, cluster::NodeRow row, const std::function<bool()>& fits);

 private:
  struct Hold {
    cluster::PodId pod;  // that stands for it
    cluster::NodeRow row;
    const Reservation* reservation = nullptr;
    const Reservation::Place* place = nullptr;
  };
  // What is left of a place of which others of the plan have used some.
  struct Rest {
    const Hold* hold = nullptr;
    cluster::ResourceVector left;
  };

  void End(const Loan& loan);
  void Index();
  std::size_t FindKind(cluster::PodId member);
  [[nodiscard]] std::span<const Reservation* const> UsableByKind(std::size_t kind) const;
  // By position in holds_, of those of which the plan has used some.
  [[nodiscard]] std::map<std::size_t, cluster::ResourceVector> CountUsed() const;
  // Gives what is not for them its room again, on that node or on all; those are given that cannot
  // have it, because others use some of it.
  std::vector<Rest> KeepFrom(std::size_t kind, cluster::NodeRow row);
  [[nodiscard]] bool LeavesRest(cluster::PodId pod, cluster::NodeRow row,
                                std::span<const Rest> rests) const;

  cluster::State& state_;
  const ReservationBook& book_;
  Usable usable_;
  std::vector<Hold> holds_;
  std::vector<cluster::PodId> members_;  // to whom it is lent
  // What follows from these.
  std::map<cluster::NodeRow, std::vector<std::size_t>> by_row_;  // positions in holds_
  std::vector<const Reservation*> reservations_;                 // of holds_, each once
  std::vector<std::vector<const Reservation*>> kinds_;           // what others than kind 0 may use
  absl::flat_hash_map<cluster::PodId, std::size_t> kind_of_;     // of members_
};

}  // namespace knx::engine
