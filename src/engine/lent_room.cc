#include "engine/lent_room.h"

#include <algorithm>

#include "cluster/reservation_hold.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using cluster::ResourceAmount;
using cluster::ResourceVector;

namespace {

template <class Value>
bool Contains(const std::vector<Value>& all, const Value& value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

}  // namespace

// ---- lending ----

Loan LentRoom::Lend(std::span<const PodId> pods, const Reservation* executors) {
  Loan loan{.lent_before = holds_.size(), .members_before = members_.size()};
  if (book_.empty()) return loan;
  for (const PodId pod : pods) {
    for (const Reservation* const reservation : usable_(pod)) {
      for (const Reservation::Place& place : reservation->places) {
        if (!place.hold.valid() || !state_.pod(place.hold).node.valid()) continue;
        if (!loan.mark) loan.mark = state_.Mark();
        const NodeRow row = state_.pod(place.hold).node;
        loan.holds.emplace_back(place.hold, row);
        holds_.push_back({place.hold, row, reservation, &place});
        state_.Displace(place.hold);
      }
    }
  }
  // What was lent before, to the same ones, still is.
  if (!loan.mark) return loan;
  for (const PodId pod : pods) {
    if (loan.members_before == 0 || !Contains(members_, pod)) members_.push_back(pod);
  }
  if (executors != nullptr) {
    const std::vector<PodId> stand_for = executors->holds();
    members_.insert(members_.end(), stand_for.begin(), stand_for.end());
  }
  Index();
  return loan;
}

void LentRoom::TakeBack(const Loan& loan) {
  if (loan.mark) state_.Rollback(*loan.mark);
  End(loan);
}

void LentRoom::Keep(const Loan& loan) {
  if (loan.mark) state_.Commit(*loan.mark);
  End(loan);
}

void LentRoom::End(const Loan& loan) {
  if (!loan.mark) return;
  holds_.resize(loan.lent_before);
  members_.resize(loan.members_before);
  Index();
}

void LentRoom::Index() {
  by_row_.clear();
  reservations_.clear();
  kinds_.clear();
  kind_of_.clear();
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    by_row_[holds_[i].row].push_back(i);
    // Those of one come one after the other.
    const Reservation* const of = holds_[i].reservation;
    const bool same = !reservations_.empty() && reservations_.back() == of;
    if (!same && !Contains(reservations_, of)) reservations_.push_back(of);
  }
  // What stands for those to come is the last.
  for (const PodId member : members_) kind_of_.emplace(member, FindKind(member));
}

// ---- who may use what ----

std::size_t LentRoom::KindOf(PodId pod) const {
  if (holds_.empty()) return 0;
  const auto known = kind_of_.find(pod);
  return known == kind_of_.end() ? 0 : known->second;
}

std::size_t LentRoom::FindKind(PodId member) {
  std::vector<const Reservation*> usable;
  if (!cluster::IsHold(state_.pod(member))) {
    for (const Reservation* const each : usable_(member)) {
      if (Contains(reservations_, each)) usable.push_back(each);
    }
  } else if (kinds_.empty()) {
    // Nobody who is there may not use some of it.
    usable = reservations_;
  }
  if (usable.size() == reservations_.size()) return 0;
  const auto kind = std::find(kinds_.begin(), kinds_.end(), usable);
  const std::size_t number = static_cast<std::size_t>(kind - kinds_.begin()) + 1;
  if (kind == kinds_.end()) kinds_.push_back(std::move(usable));
  return number;
}

std::span<const Reservation* const> LentRoom::UsableByKind(std::size_t kind) const {
  return kind == 0 ? reservations_ : kinds_[kind - 1];
}

// ---- while one of them is planned ----

Placement LentRoom::Place(PodId pod, const std::function<Placement()>& place) {
  const std::size_t kind = KindOf(pod);
  if (kind == 0) return place();
  const auto mark = state_.Mark();
  const std::vector<Rest> rests = KeepFrom(kind, {});
  Placement found = place();
  while (found.node.valid() && !LeavesRest(pod, found.node, rests)) {
    // It does not fit beside what is left, and so not beside more: with the whole place there, the
    // plugins say so in their words.
    for (const Rest& rest : rests) {
      const bool waits = !state_.pod(rest.hold->pod).node.valid();
      if (rest.hold->row == found.node && waits) state_.Assume(rest.hold->pod, found.node);
    }
    found = place();
  }
  state_.Rollback(mark);
  return found;
}

bool LentRoom::Fits(PodId pod, NodeRow row, const std::function<bool()>& fits) {
  const std::size_t kind = KindOf(pod);
  if (kind == 0 || !by_row_.contains(row)) return fits();
  const auto mark = state_.Mark();
  const std::vector<Rest> rests = KeepFrom(kind, row);
  const bool does = fits() && LeavesRest(pod, row, rests);
  state_.Rollback(mark);
  return does;
}

std::map<std::size_t, ResourceVector> LentRoom::CountUsed() const {
  std::map<std::size_t, ResourceVector> left;
  for (const PodId member : members_) {
    const NodeRow row = state_.pod(member).node;
    const auto here = row.valid() ? by_row_.find(row) : by_row_.end();
    if (here == by_row_.end()) continue;
    const auto requests = state_.usage_of(member).requests;
    ResourceVector wanted(requests.begin(), requests.end());
    for (const Reservation* const reservation : UsableByKind(KindOf(member))) {
      for (const std::size_t i : here->second) {
        if (holds_[i].reservation != reservation) continue;
        TakeOut(left.try_emplace(i, holds_[i].place->left).first->second, wanted);
      }
    }
  }
  return left;
}

std::vector<LentRoom::Rest> LentRoom::KeepFrom(std::size_t kind, NodeRow row) {
  std::map<std::size_t, ResourceVector> used = CountUsed();
  const auto usable = UsableByKind(kind);
  std::vector<Rest> rests;
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    const Hold& hold = holds_[i];
    const bool is_for_it =
        std::find(usable.begin(), usable.end(), hold.reservation) != usable.end();
    if (is_for_it || (row.valid() && hold.row != row)) continue;
    if (const auto left = used.find(i); left != used.end()) {
      rests.push_back({&hold, std::move(left->second)});
    } else if (!state_.pod(hold.pod).node.valid()) {
      state_.Assume(hold.pod, hold.row);
    }
  }
  return rests;
}

bool LentRoom::LeavesRest(PodId pod, NodeRow row, std::span<const Rest> rests) const {
  std::map<cluster::ResourceId, std::int64_t> kept;
  for (const Rest& rest : rests) {
    const bool counted = state_.pod(rest.hold->pod).node.valid();
    if (rest.hold->row != row || counted || rest.left.empty()) continue;
    for (const ResourceAmount& entry : rest.left) kept[entry.id] += entry.amount;
    ++kept[cluster::kPods];
  }
  const cluster::NodeTable& nodes = state_.nodes();
  const auto requests = state_.usage_of(pod).requests;
  return std::all_of(kept.begin(), kept.end(), [&](const auto& entry) {
    const auto& [id, amount] = entry;
    const bool of_pods = id == cluster::kPods;
    const std::int64_t takes = of_pods ? 1 : cluster::AmountOf(requests, id);
    const std::int64_t used = of_pods ? nodes.pod_count(row) : nodes.requested(id)[row];
    return takes == 0 || used + takes + amount <= nodes.allocatable(id)[row];
  });
}

}  // namespace knx::engine
