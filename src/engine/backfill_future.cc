// What is promised, tried on the future as it is known.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/backfill.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// So late all that are promised a start may come to be together, before it is asked again who comes
// first.
constexpr Duration kMostMoved = Duration::Seconds(60);

bool IsTooLate(const Promise& promise, Time at) {
  return promise.due < kUnknownEnd && at - promise.due > kMostMoved;
}

}  // namespace

std::vector<Backfill::Step> Backfill::Ends(Time now) const {
  std::vector<Step> steps;
  state_.nodes().present().ForEach([&](std::uint32_t row) {
    for (const PodId pod : state_.nodes().pods(NodeRow{row})) {
      const Time end = times_.EndOf(pod, now);
      if (end < kNever) steps.push_back({end, Step::Kind::kEnd, pod});
    }
  });
  return steps;
}

std::vector<Backfill::Step> Backfill::Future(Time now) const {
  std::vector<Step> steps = Ends(now);
  bool open = false;  // of one before it nobody knows when it starts
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    const Promise& promise = promises_[i];
    steps.push_back({promise.start, Step::Kind::kPromisedStart, {}, i});
    if (promise.run > Duration{} && promise.start < kUnknownEnd && !open) {
      steps.push_back({promise.start + promise.run, Step::Kind::kPromisedEnd, {}, i});
    }
    open = open || promise.IsOpen();
  }
  std::stable_sort(steps.begin(), steps.end());
  return steps;
}

bool Backfill::Happen(const Step& step, std::vector<Promise>& promises) {
  if (step.kind == Step::Kind::kNow) return true;
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
  if (TakePlaces(promise)) return true;
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

bool Backfill::TakePlaces(const Promise& promise) {
  const auto mark = state_.Mark();
  const bool stands = std::all_of(promise.places.begin(), promise.places.end(), [&](auto& place) {
    // A member that others have put somewhere meanwhile needs no place.
    if (state_.pod(place.first).node.valid()) return true;
    if (!doors_.fits(place.first, place.second)) return false;
    state_.Assume(place.first, place.second);
    return true;
  });
  stands ? state_.Commit(mark) : state_.Rollback(mark);
  return stands;
}

// ---- promises and what has become of them ----

bool Backfill::Agree(const Turn& turn) {
  const auto mark = state_.Mark();
  // As if it had not been planned: it is planned once more, where and when it may turn out to be.
  for (const auto& [pod, row] : turn.places) {
    if (!state_.pod(pod).node.valid()) continue;
    state_.ReleaseVolumes(pod);
    state_.Displace(pod);
  }
  std::optional<std::vector<Promise>> played = Play(turn);
  if (!played) Remake(turn);
  state_.Rollback(mark);
  if (!played) return true;
  bool changed = false;
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    const Promise& before = promises_[i];
    Promise& after = (*played)[i];
    if (after.start == before.start) continue;
    if (after.start > turn.now) after.tried = kNever;
    changed = true;
    // Who could not start yet is tried again if it can now, and who was held back if it is for more
    // than a moment.
    const bool comes = before.start > turn.now && after.start == turn.now;
    moved_ = moved_ || comes || after.start - before.start >= kLate;
    if (comes || after.start > turn.now) after.wake = WakeFor(after.start);
  }
  promises_ = *std::move(played);
  return changed;
}

std::optional<std::vector<Promise>> Backfill::Play(const Turn& turn) {
  std::optional<std::vector<Promise>> played = promises_;
  std::vector<Step> steps = Ends(turn.now);
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    steps.push_back({std::max(promises_[i].due, turn.now), Step::Kind::kPromisedStart, {}, i});
  }
  std::stable_sort(steps.begin(), steps.end());
  const auto mark = state_.Mark();
  if (!PlayAll(turn, std::move(steps), *played)) played.reset();
  state_.Rollback(mark);
  return played;
}

bool Backfill::PlayAll(const Turn& turn, std::vector<Step> steps, std::vector<Promise>& promises) {
  std::vector<std::size_t> due;  // whose time has come, who was to start first before the others
  std::vector<bool> started(promises.size());
  bool ended = false;  // somebody has, so that there is more room than now
  const auto must_wait = [&](std::size_t which) {
    const Promise& promise = promises[which];
    if (!ended && turn.places.empty() && promise.Is(turn.waiter)) return true;
    const auto before = started.begin() + static_cast<std::ptrdiff_t>(which);
    return !promise.may_pass && std::find(started.begin(), before, false) != before;
  };
  for (std::size_t i = 0; i < steps.size();) {
    const Time at = steps[i].at;
    for (; i < steps.size() && steps[i].at == at; ++i) {
      if (steps[i].kind == Step::Kind::kPromisedStart) {
        due.push_back(steps[i].promise);
        continue;
      }
      Happen(steps[i], promises);
      ended = true;
    }
    for (std::size_t next = 0; next < due.size();) {
      const std::size_t which = due[next];
      Promise& promise = promises[which];
      if (must_wait(which) || !TakePlaces(promise)) {
        if (IsTooLate(promise, at)) return false;
        ++next;
        continue;
      }
      promise.start = at;
      started[which] = true;
      due.erase(due.begin() + static_cast<std::ptrdiff_t>(next));
      if (promise.run == Duration{} || at == kUnknownEnd) continue;
      const Step end{at + promise.run, Step::Kind::kPromisedEnd, {}, which};
      const auto rest = steps.begin() + static_cast<std::ptrdiff_t>(i);
      steps.insert(std::upper_bound(rest, steps.end(), end), end);
    }
  }
  return due.empty();
}

void Backfill::Remake(const Turn& turn) {
  const std::vector<Promise> before = std::exchange(promises_, {});
  moved_ = true;
  for (const Promise& promise : before) {
    const bool decides = promise.Is(turn.waiter);
    const std::optional<Waiter> owner = decides ? turn.waiter : doors_.find(promise);
    const bool now_too = !decides || !turn.places.empty();
    if (owner) Give(*owner, &promise, now_too, turn.now);
  }
}

// ---- the earliest start ----

std::optional<Backfill::Found> Backfill::Earliest(const Waiter& waiter, const Search& search) {
  std::vector<Step> steps = Future(search.now);
  if (search.now_too) steps.insert(steps.begin(), {search.now, Step::Kind::kNow});
  return promises_.empty() ? EarliestAlone(waiter, steps) : EarliestAmong(waiter, steps, search);
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
    for (const Step& step : steps.first(count)) {
      if (step.kind == Step::Kind::kEnd) state_.Displace(step.pod);
    }
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

Time Backfill::NotBefore(const Waiter& waiter, std::size_t before) {
  Time not_before;
  if (MayPass(waiter)) return not_before;
  for (const Promise& promise : std::span(promises_).first(before)) {
    const std::optional<Waiter> owner = doors_.find(promise);
    if (owner && !Outranks(waiter, *owner)) not_before = std::max(not_before, promise.start);
  }
  return not_before;
}

// Between promises there are gaps: one after the other is tried.
std::optional<Backfill::Found> Backfill::EarliestAmong(const Waiter& waiter,
                                                       std::span<const Step> steps,
                                                       const Search& search) {
  const Duration run = KnownRunTimeOf(waiter, search.before);
  const Time not_before = NotBefore(waiter, search.before);
  std::vector<Promise> promises = promises_;
  const auto outer = state_.Mark();
  std::optional<Found> found;
  for (std::size_t i = 0; i < steps.size() && !found && steps[i].at < search.until; ++i) {
    if (!Happen(steps[i], promises)) break;
    if (i + 1 < steps.size() && steps[i + 1].at == steps[i].at) continue;
    const Time start = steps[i].at;
    if (start < not_before) continue;
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
      if (HappenAll(after, tried)) {
        found = Found{start, std::move(places)};
        promises_ = std::move(tried);  // at other places where that makes room for it
      }
    }
    state_.Rollback(mark);
  }
  state_.Rollback(outer);
  return found;
}

}  // namespace knx::engine
