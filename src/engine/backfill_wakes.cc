// Who is tried again when, and what is forgotten of those who are there no more.
#include <algorithm>
#include <utility>

#include "engine/backfill.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// And who was named as late is tried by then.
constexpr Duration kNamedAgain = Duration::Seconds(60);

}  // namespace

void Backfill::GiveBack(PodId pod, cluster::GangId gang, Time now) {
  std::optional<Promise> promise = started_.TakeBack(pod, gang, now);
  if (!promise) return;
  // What those of the gang were promised meanwhile who had no place; all of them wait again.
  Drop([&](const Promise& other) { return other.IsTo(pod, gang); });
  promise->start = promise->due = now;
  promise->kept = kNever;
  promise->wake = now + kNamedAgain;  // it is tried after its back-off before that
  Insert(*std::move(promise));
}

std::optional<HeldAlike::Kind> Backfill::KindOf(const Waiter& waiter) const {
  // Where promises do not stand against those that come before, it matters who came when.
  if (waiter.gang.valid() || !waiter.args->hold_promises || HasPromise(waiter) ||
      state_.pod(waiter.pod).nominated.valid()) {
    return std::nullopt;
  }
  return HeldAlike::Kind{.pod_class = state_.pod(waiter.pod).pod_class.index,
                         .priority = waiter.priority,
                         .run_ns = RunTimeOf(waiter).ns,
                         .may_pass = MayPass(waiter)};
}

bool Backfill::IsHeldAlike(const Waiter& waiter, Time now) const {
  const std::optional<HeldAlike::Kind> kind = KindOf(waiter);
  return kind && alike_.Contains(*kind, promises_, now);
}

void Backfill::NoteHeldAlike(const Waiter& waiter, Time now) {
  if (const std::optional<HeldAlike::Kind> kind = KindOf(waiter)) {
    alike_.Add(*kind, promises_, now);
  }
}

std::vector<PodId> Backfill::TakeReleased(Time now) {
  if (held_.empty() && refused_.empty() && lost_.empty()) {
    moved_ = false;
    return {};
  }
  DropGone();
  if (!std::exchange(moved_, false)) return {};
  std::vector<PodId> released;
  for (const auto& [pod, gang] : std::exchange(lost_, {})) {
    const std::optional<Waiter> waiter = doors_.find({.pod = pod, .gang = gang});
    if (waiter) released.push_back(waiter->pod);
  }
  std::erase_if(held_, [&](PodId pod) {
    Pace& tries = tries_[pod];
    if (!tries.TakeOne(now)) {
      release_ = std::min(release_, tries.next_moment());
      moved_ = true;
      return false;
    }
    released.push_back(pod);
    return true;
  });
  if (const std::optional<Waiter> next = TakeFirstRefused()) released.push_back(next->pod);
  return released;
}

void Backfill::Forget(PodId pod) {
  alike_.Clear();  // another class may get the number of its own
  times_.Forget(pod);
  held_.erase(pod);
  tries_.erase(pod);
  refused_.erase({pod, {}});
  std::erase(lost_, std::pair(pod, cluster::GangId()));
  ForgetPlacesOf(pod);
}

void Backfill::ForgetPlacesOf(PodId pod) {
  started_.Forget(pod);
  // A gang that has lost a member is promised a start anew.
  Drop([&](const Promise& promise) { return promise.HasPlaceFor(pod); });
}

void Backfill::Forget(cluster::GangId gang) {
  refused_.erase({PodId(), gang});
  std::erase(lost_, std::pair(PodId(), gang));
  started_.Forget(gang);
  Drop([&](const Promise& promise) { return promise.gang == gang; });
}

std::vector<PodId> Backfill::PromisedOn(NodeRow row) {
  std::vector<PodId> owners;
  for (const Promise& promise : promises_) {
    if (!promise.IsOn(row)) continue;
    // Another may stand for the gang by now.
    if (const std::optional<Waiter> owner = doors_.find(promise)) owners.push_back(owner->pod);
  }
  return owners;
}

std::vector<PodId> Backfill::ForgetNode(NodeRow row) {
  started_.ForgetNode(row);
  std::vector<PodId> owners = PromisedOn(row);
  Drop([&](const Promise& promise) { return promise.IsOn(row); });
  return owners;
}

Time Backfill::NextStart() const {
  Time next = kNever;
  for (const Promise& promise : promises_) {
    if (promise.start < kUnknownEnd) next = std::min(next, promise.start);
  }
  return next;
}

Time Backfill::NextWake() const {
  Time wake = release_;
  for (const Promise& promise : promises_) wake = std::min(wake, promise.wake);
  return wake;
}

std::vector<PodId> Backfill::TakeLate(Time now) {
  DropGone();
  if (release_ <= now) release_ = kNever;
  std::vector<PodId> late;
  for (Promise& promise : promises_) {
    if (promise.wake > now) continue;
    promise.wake = now + kNamedAgain;
    late.push_back(doors_.find(promise)->pod);
  }
  return late;
}

std::size_t Backfill::bytes() const {
  return times_.bytes() + started_.bytes() + alike_.bytes() +
         promises_.capacity() * sizeof(Promise) +
         tries_.size() * sizeof(decltype(tries_)::value_type) +
         refused_.size() * sizeof(decltype(refused_)::value_type);
}

}  // namespace knx::engine
