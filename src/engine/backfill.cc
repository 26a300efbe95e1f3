#include "engine/backfill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::BackfillMode;
using framework::BackfillOrder;

namespace {

// How long after a promised start it is noticed that nothing has come of it: whoever has just ended
// may not have been heard of.
constexpr Duration kLate = Duration::Seconds(1);
// And who was named as late is tried by then.
constexpr Duration kNamedAgain = Duration::Seconds(60);

bool Touches(const Backfill::Places& places, const Promise& promise) {
  return std::any_of(places.begin(), places.end(), [&](const auto& place) {
    return std::any_of(promise.places.begin(), promise.places.end(),
                       [&](const auto& promised) { return promised.second == place.second; });
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
  const std::vector<Promise> promises = promises_;
  const auto mark = state_.Mark();
  for (const PodId victim : victims) {
    if (state_.pod(victim).node.valid()) state_.Displace(victim);
  }
  const Passing passing = MayStart(waiter, places, now);
  state_.Rollback(mark);
  promises_ = promises;
  return passing == Passing::kForbidden;
}

Passing Backfill::MayStart(const Waiter& waiter, const Places& places, Time now) {
  if (IsFree(waiter, places)) return Passing::kNobody;
  const std::vector<const Promise*> in_the_way = InTheWayOf(waiter, now);
  if (in_the_way.empty()) return Passing::kNobody;
  if (!MayPass(waiter)) return Passing::kForbidden;
  const auto untouched = [&](const Promise* promise) { return !Touches(places, *promise); };
  if (std::all_of(in_the_way.begin(), in_the_way.end(), untouched)) return Passing::kBeside;
  const auto in_time = [&](const Promise* promise) {
    return untouched(promise) || EndsBefore(waiter, *promise, now);
  };
  if (std::all_of(in_the_way.begin(), in_the_way.end(), in_time)) return Passing::kInTime;
  if (!waiter.args->share_nodes) return Passing::kForbidden;
  std::optional<std::vector<Promise>> moved = Beside(waiter, places, now);
  if (!moved) return Passing::kForbidden;
  promises_ = *std::move(moved);  // those that moved did so for one that starts now
  return Passing::kBeside;
}

std::optional<Detour> Backfill::Around(const Waiter& waiter, Time now) {
  auto closed = ClosedTo(waiter, now);
  if (!closed) return std::nullopt;
  const std::int32_t tries = waiter.args->share_nodes ? waiter.args->shared_nodes_tried : 0;
  return Detour{waiter, *std::move(closed), {}, tries, state_.pod(waiter.pod).pod_class, now};
}

std::optional<std::vector<NodeRow>> Backfill::ClosedTo(const Waiter& waiter, Time now) {
  const std::vector<const Promise*> in_the_way = InTheWayOf(waiter, now);
  if (!in_the_way.empty() && !MayPass(waiter)) return std::nullopt;
  std::vector<NodeRow> rows;
  for (const Promise* const promise : in_the_way) {
    if (EndsBefore(waiter, *promise, now)) continue;
    for (const auto& [pod, row] : promise->places) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

bool Backfill::LeavesRoom(const Waiter& waiter, const Places& places, Time now) {
  if (doors_.is_own(places)) return true;
  return Beside(waiter, places, now).has_value();
}

std::vector<const Promise*> Backfill::InTheWayOf(const Waiter& waiter, Time now) {
  DropGone(&waiter);
  std::vector<const Promise*> in_the_way;
  for (const Promise& promise : promises_) {
    if (promise.Is(waiter)) {
      // Its time has come, and who was promised a start after it comes after it. Two that are late
      // would wait for each other.
      if (promise.start <= now || promise.start == kUnknownEnd) break;
      continue;
    }
    const std::optional<Waiter> owner = doors_.find(promise);
    if (owner && !Outranks(waiter, *owner)) in_the_way.push_back(&promise);
  }
  return in_the_way;
}

bool Backfill::MayPass(const Waiter& waiter) const {
  return std::all_of(waiter.members.begin(), waiter.members.end(),
                     [this](PodId member) { return times_.MayPass(member); });
}

bool Backfill::EndsBefore(const Waiter& waiter, const Promise& promise, Time now) const {
  const Duration run = RunTimeOf(waiter);
  return run > Duration{} && now + run <= promise.start && promise.start < kUnknownEnd;
}

std::optional<std::vector<Promise>> Backfill::Beside(const Waiter& waiter, const Places& places,
                                                     Time now) {
  // Where it is not known when places become free, nobody is known to have ended by then.
  const bool open_end = std::any_of(promises_.begin(), promises_.end(), [](const Promise& promise) {
    return promise.start == kUnknownEnd;
  });
  const Duration run = open_end ? Duration{} : RunTimeOf(waiter);
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
  const auto give = [&](const Waiter& to, Time first) {
    std::optional<Found> found = Earliest(to, now);
    if (!found) return false;
    const bool timed = found->start < kUnknownEnd;
    promises_.push_back({to.pod, to.gang, found->start, first == kNever ? found->start : first,
                         std::move(found->places), RunTimeOf(to),
                         timed ? found->start + kLate : kNever});
    return true;
  };
  auto own = std::find_if(promises_.begin(), promises_.end(),
                          [&](const Promise& promise) { return promise.Is(waiter); });
  if (own == promises_.end()) {
    // Those behind it lose what they were promised.
    Drop([&](const Promise& promise) {
      const std::optional<Waiter> owner = doors_.find(promise);
      return !owner || Outranks(waiter, *owner);
    });
    const bool easy = waiter.args->mode == BackfillMode::kEasy;
    const std::size_t most = easy ? 1 : static_cast<std::size_t>(waiter.args->promises);
    return promises_.size() < most && give(waiter, kNever) ? &promises_.back() : nullptr;
  }
  // Those who were promised a start after it come after it: where its own moves, theirs do.
  const auto place = static_cast<std::size_t>(own - promises_.begin());
  const Promise before = std::move(*own);
  const std::vector<Promise> after(own + 1, promises_.end());
  promises_.resize(place);
  const bool given = give(waiter, before.first);
  const bool moved = !given || promises_.back().start != before.start;
  moved_ = moved_ || moved || promises_.back().places != before.places;
  for (const Promise& promise : after) {
    if (moved) {
      give(*doors_.find(promise), promise.first);
    } else {
      promises_.push_back(promise);
    }
  }
  return given ? &promises_[place] : nullptr;
}

std::optional<Promise> Backfill::Start(const Waiter& waiter, Passing passing, Time now) {
  for (const PodId member : waiter.members) {
    times_.NotePlaced(member, passing == Passing::kInTime, now);
    held_.erase(member);
  }
  const auto own = std::find_if(promises_.begin(), promises_.end(),
                                [&](const Promise& promise) { return promise.Is(waiter); });
  if (own == promises_.end()) return std::nullopt;
  std::optional<Promise> kept = *own;
  Drop([&](const Promise& promise) { return promise.Is(waiter); });
  return kept;
}

void Backfill::Drop(absl::FunctionRef<bool(const Promise&)> which) {
  if (std::erase_if(promises_, which) > 0) moved_ = true;
}

void Backfill::DropGone(const Waiter* but) {
  Drop([&](const Promise& promise) {
    return (but == nullptr || !promise.Is(*but)) && !doors_.waits(promise);
  });
}

std::vector<PodId> Backfill::TakeReleased() {
  if (held_.empty()) {
    moved_ = false;
    return {};
  }
  DropGone();
  if (!std::exchange(moved_, false)) return {};
  const std::set<PodId> released = std::exchange(held_, {});
  return {released.begin(), released.end()};
}

void Backfill::Forget(PodId pod) {
  times_.Forget(pod);
  held_.erase(pod);
  // A gang that has lost a member is promised a start anew.
  Drop([&](const Promise& promise) {
    return std::any_of(promise.places.begin(), promise.places.end(),
                       [&](const auto& place) { return place.first == pod; });
  });
}

void Backfill::Forget(cluster::GangId gang) {
  Drop([&](const Promise& promise) { return promise.gang == gang; });
}

std::vector<PodId> Backfill::ForgetNode(NodeRow row) {
  std::vector<PodId> owners;
  Drop([&](const Promise& promise) {
    const bool is_there = std::any_of(promise.places.begin(), promise.places.end(),
                                      [&](const auto& place) { return place.second == row; });
    if (is_there) owners.push_back(promise.pod);
    return is_there;
  });
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
  Time wake = kNever;
  for (const Promise& promise : promises_) wake = std::min(wake, promise.wake);
  return wake;
}

std::vector<PodId> Backfill::TakeLate(Time now) {
  DropGone();
  std::vector<PodId> late;
  for (Promise& promise : promises_) {
    if (promise.wake > now) continue;
    promise.wake = now + kNamedAgain;
    late.push_back(doors_.find(promise)->pod);
  }
  return late;
}

// ---- the future ----

std::vector<Backfill::Step> Backfill::Future(Time now) const {
  std::vector<Step> steps;
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    for (const PodId pod : state_.nodes().pods(NodeRow{row})) {
      const Time end = times_.EndOf(pod, now);
      if (end < kNever) steps.push_back({end, Step::Kind::kEnd, pod});
    }
  });
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    const Promise& promise = promises_[i];
    steps.push_back({promise.start, Step::Kind::kPromisedStart, {}, i});
    if (promise.run > Duration{} && promise.start < kUnknownEnd) {
      steps.push_back({promise.start + promise.run, Step::Kind::kPromisedEnd, {}, i});
    }
  }
  std::stable_sort(steps.begin(), steps.end());
  return steps;
}

bool Backfill::Happen(const Step& step, std::vector<Promise>& promises) {
  if (step.kind == Step::Kind::kEnd) {
    if (state_.pod(step.pod).node.valid()) state_.Displace(step.pod);
    return true;
  }
  Promise& promise = promises[step.promise];
  if (step.kind == Step::Kind::kPromisedEnd) {
    for (const auto& [pod, row] : promise.places) {
      if (state_.pod(pod).node.valid()) state_.Displace(pod);
    }
    return true;
  }
  const auto mark = state_.Mark();
  const bool stands = std::all_of(promise.places.begin(), promise.places.end(), [&](auto& place) {
    // A member that others have put somewhere meanwhile needs no place.
    if (state_.pod(place.first).node.valid()) return true;
    if (!doors_.fits(place.first, place.second)) return false;
    state_.Assume(place.first, place.second);
    return true;
  });
  if (stands) {
    state_.Commit(mark);
    return true;
  }
  state_.Rollback(mark);
  // A promise without a time is one of places.
  if (step.at == kUnknownEnd) return false;
  const std::optional<Waiter> owner = doors_.find(promise);
  KNX_CHECK(owner.has_value(), "a promise to nobody");
  promise.places = doors_.plan(*owner);
  return !promise.places.empty();
}

bool Backfill::HappenAll(std::span<const Step> steps, std::vector<Promise>& promises) {
  return std::all_of(steps.begin(), steps.end(),
                     [&](const Step& step) { return Happen(step, promises); });
}

std::optional<Backfill::Found> Backfill::Earliest(const Waiter& waiter, Time now) {
  const std::vector<Step> steps = Future(now);
  return promises_.empty() ? EarliestAlone(waiter, steps) : EarliestAmong(waiter, steps, now);
}

// More room is never worse, so that the end that makes enough of it can be searched by halves.
std::optional<Backfill::Found> Backfill::EarliestAlone(const Waiter& waiter,
                                                       std::span<const Step> steps) {
  std::vector<std::size_t> ends;  // behind the last step of each moment
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i + 1 == steps.size() || steps[i + 1].at != steps[i].at) ends.push_back(i + 1);
  }
  const auto places_after = [&](std::size_t count) {
    const auto mark = state_.Mark();
    for (const Step& step : steps.first(count)) state_.Displace(step.pod);
    Places places = doors_.plan(waiter);
    state_.Rollback(mark);
    return places;
  };
  if (ends.empty()) return std::nullopt;
  std::size_t least = 0, most = ends.size() - 1;
  Places places = places_after(ends[most]);
  if (places.empty()) return std::nullopt;
  while (least < most) {
    const std::size_t middle = least + (most - least) / 2;
    if (Places fewer = places_after(ends[middle]); !fewer.empty()) {
      most = middle;
      places = std::move(fewer);
    } else {
      least = middle + 1;
    }
  }
  return Found{steps[ends[most] - 1].at, std::move(places)};
}

// Between promises there are gaps: one after the other is tried.
std::optional<Backfill::Found> Backfill::EarliestAmong(const Waiter& waiter,
                                                       std::span<const Step> steps, Time now) {
  const Duration run = RunTimeOf(waiter);
  std::vector<Promise> promises = promises_;
  const auto outer = state_.Mark();
  std::optional<Found> found;
  for (std::size_t i = 0; i < steps.size() && !found; ++i) {
    if (!Happen(steps[i], promises)) break;
    if (i + 1 < steps.size() && steps[i + 1].at == steps[i].at) continue;
    const Time start = std::max(steps[i].at, now);
    const auto mark = state_.Mark();
    if (Places places = doors_.plan(waiter); !places.empty()) {
      std::vector<Step> after(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, steps.end());
      if (run > Duration{} && start < kUnknownEnd) {
        for (const auto& [pod, row] : places) {
          after.push_back({start + run, Step::Kind::kEnd, pod});
        }
        std::stable_sort(after.begin(), after.end());
      }
      std::vector<Promise> tried = promises;
      if (HappenAll(after, tried)) found = Found{start, std::move(places)};
    }
    state_.Rollback(mark);
  }
  state_.Rollback(outer);
  return found;
}

std::size_t Backfill::bytes() const {
  return times_.bytes() + promises_.capacity() * sizeof(Promise);
}

}  // namespace knx::engine
