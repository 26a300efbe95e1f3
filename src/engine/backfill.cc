#include "engine/backfill.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::BackfillMode;
using framework::BackfillOrder;

namespace {

// Another may come to stand for a gang.
std::pair<PodId, cluster::GangId> KeyOf(const Waiter& waiter) {
  return {waiter.gang.valid() ? PodId() : waiter.pod, waiter.gang};
}

bool Touches(const Backfill::Places& places, const Promise& promise) {
  return std::any_of(places.begin(), places.end(),
                     [&](const auto& place) { return promise.IsOn(place.second); });
}

// Whether this is the start that was promised to it, so that it need not care about promises that
// were given after its own: those have been made with that in mind. Elsewhere than it was promised
// it has to, unless nothing comes of its promise otherwise.
bool IsItsStart(const Promise& promise, const Backfill::Places& places, Time now) {
  if (promise.start == kUnknownEnd) return true;
  if (promise.start > now) return false;
  return promise.kept <= now - kLate ||
         std::is_permutation(places.begin(), places.end(), promise.places.begin(),
                             promise.places.end(),
                             [](const auto& a, const auto& b) { return a.second == b.second; });
}

// Whether the start has come that it was promised.
bool IsDue(std::span<const Promise> promises, const Waiter& waiter, Time now) {
  return std::any_of(promises.begin(), promises.end(), [&](const Promise& promise) {
    return promise.Is(waiter) && promise.start <= now;
  });
}

}  // namespace

// ---- the order ----

Duration Backfill::RunTimeOf(const Waiter& waiter) const {
  Duration longest;
  for (const PodId member : waiter.members) {
    const std::optional<Duration> run = times_.RunTimeOf(member);
    if (!run) return {};
    longest = std::max(longest, *run);
  }
  return longest;
}

Duration Backfill::KnownRunTimeOf(const Waiter& waiter, std::size_t before) const {
  const std::span<const Promise> given = std::span(promises_).first(before);
  const bool open = std::any_of(given.begin(), given.end(), std::mem_fn(&Promise::IsOpen));
  return open ? Duration{} : RunTimeOf(waiter);
}

double Backfill::SizeOf(const Waiter& waiter) const {
  double devices = 0, cpus = 0;
  for (const PodId member : waiter.members) {
    for (const cluster::ResourceAmount& entry : state_.class_of(member).requests) {
      const auto amount = static_cast<double>(entry.amount);
      if (entry.id == cluster::kCpu) cpus += amount / 1000;
      if (entry.id.index < cluster::kFirstScalar) continue;
      // Devices have a vendor's name; huge pages and volumes have none.
      if (state_.resources().Name(entry.id).find('/') != std::string::npos) devices += amount;
    }
  }
  return std::max(devices > 0 ? devices : cpus, 1.0);
}

bool Backfill::HasPromise(const Waiter& waiter) const {
  return std::any_of(promises_.begin(), promises_.end(),
                     [&](const Promise& promise) { return promise.Is(waiter); });
}

Time Backfill::WakeFor(Time start) { return start < kUnknownEnd ? start + kLate : kNever; }

std::vector<Promise>::iterator Backfill::PromiseTo(const Waiter& waiter) {
  return std::find_if(promises_.begin(), promises_.end(),
                      [&](const Promise& promise) { return promise.Is(waiter); });
}

Time Backfill::OrderOf(const Waiter& waiter) const {
  if (waiter.args->hold_promises && HasPromise(waiter))
    return {std::numeric_limits<std::int64_t>::min()};
  if (waiter.args->order == BackfillOrder::kFcfs) return waiter.since;
  Duration run = RunTimeOf(waiter);
  if (run == Duration{}) run = waiter.args->assumed_run;
  if (waiter.args->order == BackfillOrder::kSjf) return {run.ns};
  const double patience = waiter.args->patience * static_cast<double>(run.ns) * SizeOf(waiter);
  // Beyond any time, and small enough to be added to one.
  constexpr double kLongest = 4e18;
  return waiter.since + Duration::Nanoseconds(std::llround(std::min(patience, kLongest)));
}

bool Backfill::Outranks(const Waiter& waiter, const Waiter& other) const {
  if (waiter.priority != other.priority) return waiter.priority > other.priority;
  return !other.args->hold_promises && OrderOf(waiter) < OrderOf(other);
}

// ---- who may pass ----

bool Backfill::IsFree(const Waiter& waiter, const Places& places) const {
  const auto is_nominated = [this](PodId member) { return state_.pod(member).nominated.valid(); };
  // Others have gone for it: not for nothing. And what has begun is completed first: they may wait
  // for its end, which does not come before it is complete.
  return waiter.begun || doors_.is_own(places) ||
         std::any_of(waiter.members.begin(), waiter.members.end(), is_nominated);
}

bool Backfill::WouldDelay(const Waiter& waiter, const Places& places,
                          std::span<const PodId> victims, Time now) {
  const Unchanged unchanged(*this);
  const auto mark = state_.Mark();
  for (const PodId victim : victims) {
    if (state_.pod(victim).node.valid()) state_.Displace(victim);
  }
  const Passing passing = MayStart(waiter, places, now);
  state_.Rollback(mark);
  return passing == Passing::kForbidden;
}

Passing Backfill::MayStart(const Waiter& waiter, const Places& places, Time now) {
  if (IsFree(waiter, places)) return Passing::kNobody;
  DropGone(&waiter);
  const Passing passing = Judge({waiter, places, now});
  if (passing != Passing::kForbidden) return passing;
  if (!IsDue(promises_, waiter, now)) return passing;
  Promise& own = *PromiseTo(waiter);
  if (own.kept != kNever) return passing;
  own.kept = now;
  own.wake = std::min(own.wake, WakeFor(now));
  return passing;
}

Passing Backfill::Judge(const Turn& turn) {
  const auto& [waiter, places, now] = turn;
  // Who comes to its start late may make those late who come after it.
  const bool agreed = promises_.size() > 1 && HasPromise(waiter);
  if (agreed) Agree(turn);
  const InTheWay in_the_way = InTheWayOf(waiter, places, now);
  const auto& promises = in_the_way.promises;
  if (promises.empty()) return Passing::kNobody;
  if (in_the_way.passes && !MayPass(waiter)) return Passing::kForbidden;
  const auto untouched = [&turn](const Promise* promise) {
    return !Touches(turn.places, *promise);
  };
  if (std::all_of(promises.begin(), promises.end(), untouched)) return Passing::kBeside;
  const auto in_time = [&](const Promise* promise) {
    return untouched(promise) || EndsBefore(turn.waiter, *promise, turn.now);
  };
  if (std::all_of(promises.begin(), promises.end(), in_time)) return Passing::kInTime;
  if (!MayShare(waiter, in_the_way, now)) return Passing::kForbidden;
  std::optional<std::vector<Promise>> moved = Beside(waiter, places, now);
  if (!moved && !agreed && Agree(turn)) moved = Beside(waiter, places, now);
  if (!moved) return Passing::kForbidden;
  promises_ = *std::move(moved);  // those that moved did so for one that starts now
  return Passing::kBeside;
}

std::optional<Detour> Backfill::Around(const Waiter& waiter, Time now) {
  const InTheWay in_the_way = InTheWayOf(waiter, {}, now);
  if (in_the_way.passes && !MayPass(waiter)) return std::nullopt;
  const bool shares = MayShare(waiter, in_the_way, now);
  return Detour{.waiter = waiter,
                .closed = ClosedTo(waiter, in_the_way, now),
                .left_out = {},
                .tries = shares ? waiter.args->shared_nodes_tried : 0,
                .pod_class = state_.pod(waiter.pod).pod_class,
                .now = now};
}

bool Backfill::MayShare(const Waiter& waiter, const InTheWay& in_the_way, Time now) const {
  const bool comes_first = HasPromise(waiter) && !in_the_way.passes;
  return waiter.args->share_nodes || comes_first || IsDue(promises_, waiter, now);
}

std::vector<NodeRow> Backfill::ClosedTo(const Waiter& waiter, const InTheWay& in_the_way,
                                        Time now) {
  std::vector<NodeRow> rows;
  for (const Promise* const promise : in_the_way.promises) {
    if (EndsBefore(waiter, *promise, now)) continue;
    for (const auto& [pod, row] : promise->places) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  // Its own is open to it when its time has come; of those of a gang it matters who goes where.
  if (waiter.gang.valid() || !IsDue(promises_, waiter, now)) return rows;
  const auto own = PromiseTo(waiter);
  std::erase_if(rows, [&](NodeRow row) { return own->IsOn(row); });
  return rows;
}

Backfill::Places Backfill::TakePromised(const Waiter& waiter, Time now) {
  if (!IsDue(promises_, waiter, now)) return {};
  const Promise& own = *PromiseTo(waiter);
  const bool all_wait =
      std::none_of(own.places.begin(), own.places.end(),
                   [this](const auto& place) { return state_.pod(place.first).node.valid(); });
  if (!all_wait) return {};
  const auto mark = state_.Mark();
  const bool taken = TakePlaces(own) &&
                     std::all_of(own.places.begin(), own.places.end(), [this](const auto& place) {
                       return doors_.reserve(place.first, place.second);
                     });
  taken ? state_.Commit(mark) : state_.Rollback(mark);
  return taken ? own.places : Places{};
}

bool Backfill::LeavesRoom(const Waiter& waiter, const Places& places, Time now) {
  if (doors_.is_own(places)) return true;
  return Beside(waiter, places, now).has_value();
}

Backfill::InTheWay Backfill::InTheWayOf(const Waiter& waiter, const Places& places, Time now) {
  DropGone(&waiter);
  InTheWay in_the_way;
  bool before = true;
  for (const Promise& promise : promises_) {
    if (promise.Is(waiter)) {
      // Its time has come, and who was promised a start after it comes after it. Two that are late
      // would wait for each other.
      if (IsItsStart(promise, places, now)) break;
      before = false;
      continue;
    }
    const std::optional<Waiter> owner = doors_.find(promise);
    if (!owner || Outranks(waiter, *owner)) continue;
    in_the_way.promises.push_back(&promise);
    in_the_way.passes = in_the_way.passes || before;
  }
  return in_the_way;
}

bool Backfill::MayPass(const Waiter& waiter) const {
  return std::all_of(waiter.members.begin(), waiter.members.end(),
                     [this](PodId member) { return times_.MayPass(member); });
}

bool Backfill::EndsBefore(const Waiter& waiter, const Promise& promise, Time now) const {
  const Duration run = RunTimeOf(waiter);
  return run > Duration{} && now + run <= promise.start && !promise.IsOpen();
}

std::optional<std::vector<Promise>> Backfill::Beside(const Waiter& waiter, const Places& places,
                                                     Time now) {
  const auto before = static_cast<std::size_t>(PromiseTo(waiter) - promises_.begin());
  const Duration run = KnownRunTimeOf(waiter, before);
  std::vector<Step> steps = Future(now);
  // What it is promised itself is over when it starts.
  std::erase_if(steps, [&](const Step& step) {
    return step.kind != Step::Kind::kEnd && promises_[step.promise].Is(waiter);
  });
  const auto mark = state_.Mark();
  for (const auto& [pod, row] : places) {
    if (!state_.pod(pod).node.valid()) state_.Assume(pod, row);
    // Where its room is taken already the future has an end for it, of a pod that has not begun.
    std::erase_if(steps, [who = pod](const Step& step) { return step.pod == who; });
    if (run > Duration{}) steps.push_back({now + run, Step::Kind::kEnd, pod});
  }
  std::stable_sort(steps.begin(), steps.end());
  std::optional<std::vector<Promise>> tried = promises_;
  if (!HappenAll(steps, *tried)) tried.reset();
  state_.Rollback(mark);
  return tried;
}

// ---- promises ----

const Promise* Backfill::Refuse(const Waiter& waiter, Time now) {
  DropGone();
  NoteBetrayed(now);
  const Places nowhere;
  const Turn turn{waiter, nowhere, now};
  if (!HasPromise(waiter)) return GiveFirst(turn);
  if (promises_.size() == 1) {
    const Promise before = std::move(promises_.front());
    promises_.clear();
    const bool given = Give(waiter, &before, false, now);
    moved_ = moved_ || !given || promises_.back().start != before.start ||
             promises_.back().places != before.places;
    return given ? &promises_.back() : nullptr;
  }
  Agree(turn);
  if (!HasPromise(waiter)) return nullptr;
  Improve(waiter, now);
  return &*PromiseTo(waiter);
}

void Backfill::NoteBetrayed(Time now) {
  const auto broke_its_word = [&](PodId pod) {
    return times_.Borrows(pod) && times_.TakesTooLong(pod, now);
  };
  for (Promise& promise : promises_) {
    promise.betrayed |= std::any_of(promise.places.begin(), promise.places.end(), [&](auto& place) {
      if (!state_.nodes().has_node(place.second)) return false;
      const auto pods = state_.nodes().pods(place.second);
      return std::any_of(pods.begin(), pods.end(), broke_its_word);
    });
  }
}

const Promise* Backfill::GiveFirst(const Turn& turn) {
  const Waiter& waiter = turn.waiter;
  std::vector<Promise> after;
  const auto comes_after = [&](const Promise& promise) {
    const std::optional<Waiter> owner = doors_.find(promise);
    const bool after_it = !owner || Outranks(waiter, *owner);
    if (after_it) after.push_back(promise);
    return after_it;
  };
  const std::vector<Promise> as_they_were = promises_;
  const bool had_moved = moved_;
  std::erase_if(promises_, comes_after);
  const bool full = IsFull(waiter, promises_.size());
  if (!full && !promises_.empty()) Agree(turn);
  if (full || !Give(waiter, nullptr, false, turn.now)) {
    // Who is promised nothing takes nothing from others.
    promises_ = as_they_were;
    moved_ = had_moved;
    if (full) refused_.insert(KeyOf(waiter));
    return nullptr;
  }
  refused_.erase(KeyOf(waiter));
  GiveBehind(after, turn.now);
  // There may be another for the next.
  moved_ = moved_ || (!refused_.empty() && !IsFull(waiter, promises_.size()));
  return &*PromiseTo(waiter);
}

void Backfill::GiveBehind(std::span<const Promise> before, Time now) {
  for (const Promise& promise : before) {
    const std::optional<Waiter> owner = doors_.find(promise);
    const bool full = owner && IsFull(*owner, promises_.size());
    const bool given = owner && !full && Give(*owner, &promise, true, now);
    if (owner && !given) lost_.push_back(KeyOf(*owner));
    if (full) refused_.insert(KeyOf(*owner));
    moved_ = moved_ || !given || promises_.back().start != promise.start ||
             promises_.back().places != promise.places;
  }
}

bool Backfill::IsFull(const Waiter& waiter, std::size_t before) {
  const bool easy = waiter.args->mode == BackfillMode::kEasy;
  return before >= (easy ? 1 : static_cast<std::size_t>(waiter.args->promises));
}

std::optional<Waiter> Backfill::TakeFirstRefused() {
  std::optional<Waiter> first;
  std::erase_if(refused_, [&](const auto& refused) {
    const std::optional<Waiter> waiter =
        doors_.find({.pod = refused.first, .gang = refused.second});
    if (!waiter) return true;
    if (IsFull(*waiter, promises_.size())) return false;
    const bool earlier =
        !first || waiter->priority > first->priority ||
        (waiter->priority == first->priority && OrderOf(*waiter) < OrderOf(*first));
    if (earlier) first = waiter;
    return false;
  });
  if (first) refused_.erase(KeyOf(*first));
  return first;
}

bool Backfill::Give(const Waiter& waiter, const Promise* before, bool now_too, Time now) {
  std::optional<Found> found = Earliest(waiter, {promises_.size(), now_too, kNever, now});
  if (!found) return false;
  promises_.push_back({.pod = waiter.pod,
                       .gang = waiter.gang,
                       .start = found->start,
                       .due = found->start,
                       .first = before == nullptr ? found->start : before->first,
                       .betrayed = before != nullptr && before->betrayed,
                       .places = std::move(found->places),
                       .run = RunTimeOf(waiter),
                       .wake = WakeFor(found->start),
                       .may_pass = MayPass(waiter),
                       .number = before == nullptr ? ++given_ : before->number,
                       .tried = before == nullptr || found->start > now ? kNever : before->tried});
  return true;
}

void Backfill::Improve(const Waiter& waiter, Time now) {
  const auto own = PromiseTo(waiter);
  const auto place = own - promises_.begin();
  Promise promise = std::move(*own);
  promises_.erase(own);
  const auto before = static_cast<std::size_t>(place);
  std::optional<Found> found = Earliest(waiter, {before, false, promise.start, now});
  if (found) {
    promise.start = promise.due = found->start;
    promise.places = std::move(found->places);
    promise.wake = WakeFor(promise.start);
    moved_ = true;
  }
  promises_.insert(promises_.begin() + place, std::move(promise));
}

std::optional<Promise> Backfill::Start(const Waiter& waiter, Passing passing, Time now) {
  for (const PodId member : waiter.members) {
    times_.NotePlaced(member, passing == Passing::kInTime, now);
    held_.erase(member);
    tries_.erase(member);
  }
  refused_.erase(KeyOf(waiter));
  const auto own = PromiseTo(waiter);
  if (own == promises_.end()) return std::nullopt;
  std::optional<Promise> kept = *own;
  kept->tried = std::min(kept->tried, now);
  Drop([&](const Promise& promise) { return promise.Is(waiter); });
  started_.Keep(*kept);
  return kept;
}

void Backfill::Insert(Promise promise) {
  const auto later = std::find_if(promises_.begin(), promises_.end(), [&](const Promise& other) {
    return other.number > promise.number;
  });
  promises_.insert(later, std::move(promise));
}

std::optional<Promise> Backfill::TakeOut(cluster::GangId gang) {
  const auto own = std::find_if(promises_.begin(), promises_.end(), [gang](const Promise& promise) {
    return promise.IsTo(PodId(), gang);
  });
  if (own == promises_.end()) return std::nullopt;
  std::optional<Promise> promise = std::move(*own);
  promises_.erase(own);
  return promise;
}

void Backfill::PutBack(Promise promise, std::span<const PodId> before,
                       std::span<const PodId> after) {
  if (before.size() != after.size()) {
    moved_ = true;
    return;
  }
  for (auto& [pod, row] : promise.places) {
    const auto at = std::find(before.begin(), before.end(), pod);
    if (at != before.end()) pod = after[static_cast<std::size_t>(at - before.begin())];
  }
  Insert(std::move(promise));
}

void Backfill::Drop(absl::FunctionRef<bool(const Promise&)> which) {
  if (std::erase_if(promises_, which) > 0) moved_ = true;
}

void Backfill::DropGone(const Waiter* but) {
  Drop([&](const Promise& promise) {
    return (but == nullptr || !promise.Is(*but)) && !doors_.waits(promise);
  });
}

}  // namespace knx::engine
