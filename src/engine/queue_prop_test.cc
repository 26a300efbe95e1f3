// The queue against a model that keeps no order and no groups: every pod has a place, and every
// question is answered by looking at all of them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/queue.h"

namespace knx::engine {
namespace {

using cluster::PodId;
using framework::ClusterEvent;
using framework::EventKind;
using enum QueuePlace;

constexpr std::array<std::uint8_t, 5> kPlugins = {0, 7, 63, 64, 255};
constexpr std::array kKinds = {EventKind::kNodeAdd,  EventKind::kNodeLabel, EventKind::kNodeDelete,
                               EventKind::kOwnLabel, EventKind::kForced,    EventKind::kTimeout};
constexpr std::array kPlaces = {kNone,          kActive, kBackoff,  kErrorBackoff,
                                kUnschedulable, kGated,  kInFlight, kDone};
constexpr std::uint32_t kPods = 24;

// The same arguments, the same answer; otherwise as good as chance.
std::uint64_t Mix(std::initializer_list<std::uint64_t> values) {
  std::uint64_t h = 0x9E37'79B9'7F4A'7C15;
  for (const std::uint64_t value : values) {
    h = (h ^ value) * 0xBF58'476D'1CE4'E5B9;
    h ^= h >> 29;
  }
  return h;
}

class ChanceJudge final : public Queue::Judge {
 public:
  std::uint32_t ProfileOf(PodId pod) override { return pod.index % 3; }
  std::optional<std::uint8_t> Gate(PodId pod) override { return gates[pod.index]; }
  PluginSet Interested(PodId pod, EventKind kind) override {
    PluginSet set;
    for (const std::uint8_t plugin : kPlugins) {
      if (Mix({ProfileOf(pod), static_cast<std::uint64_t>(kind), plugin}) % 2 == 0) set.Add(plugin);
    }
    return set;
  }
  bool MayHelp(PodId pod, std::uint8_t plugin, const ClusterEvent& event) override {
    RC_ASSERT(Interested(pod, event.kind).Contains(plugin));
    return Mix({pod.index, plugin, static_cast<std::uint64_t>(event.kind), event.row.index}) % 3 ==
           0;
  }

  std::optional<Seniority> SeniorityOf(PodId pod) override {
    if (ProfileOf(pod) != 1) return std::nullopt;
    Seniority seniority{.keeps_age = pod.index % 2 == 0,
                        .boost = static_cast<std::int32_t>(pod.index % 5) - 1,
                        .starved_boost = static_cast<std::int32_t>(pod.index % 4),
                        .starves_after = Duration::Seconds(pod.index % 7)};
    if (pod.index % 8 == 1) seniority.since = Time{} + Duration::Seconds(1003);
    return seniority;
  }

  std::array<std::optional<std::uint8_t>, kPods> gates;
};

struct ModelPod {
  Queue::View view;
  std::uint64_t arrival = 0;
  std::vector<ClusterEvent> seen;  // while in flight
  Seniority seniority;
  Time age, ready;
  // Since when it counts as waiting.
  [[nodiscard]] Time since() const { return seniority.since.value_or(std::max(view.added, ready)); }
  [[nodiscard]] bool may_be_taken() const {
    return view.place == kActive || view.place == kBackoff || view.place == kErrorBackoff;
  }
  [[nodiscard]] bool starves() const {
    return may_be_taken() && !view.starved && seniority.starved_boost > 0;
  }
};

class Model {
 public:
  Model(Queue::Options options, ChanceJudge& judge) : options_(options), judge_(judge) {}

  void Add(PodId pod, std::int32_t priority, Time now) {
    See(now);
    ModelPod added;
    added.view.priority = priority;
    added.view.effective = priority;
    added.view.added = now;
    added.view.since = now;
    added.age = now;
    added.arrival = arrivals_++;
    pods_[pod] = added;
    TryAgain(pod, true, now);
  }
  void Update(PodId pod, std::int32_t priority, const std::vector<ClusterEvent>& events, Time now) {
    See(now);
    if (!pods_.contains(pod)) return;
    pods_[pod].view.priority = priority;
    Weigh(pods_[pod]);
    if (pods_[pod].may_be_taken()) Ask(pod, now);
    for (const ClusterEvent& event : events) Tell(pod, event, now);
  }
  void Remove(PodId pod) { pods_.erase(pod); }
  std::optional<PodId> Pop(Time now) {
    Advance(now);
    std::vector<PodId> candidates = List(kActive);
    if (candidates.empty() && options_.pop_from_backoff) candidates = List(kBackoff);
    if (candidates.empty()) return std::nullopt;
    ModelPod& pod = pods_[candidates.front()];
    pod.view.place = kInFlight;
    ++pod.view.attempts;
    return candidates.front();
  }
  void Done(PodId pod) {
    pods_[pod].view.place = kDone;
    pods_[pod].seen.clear();
  }
  void Requeue(PodId id, const FailedAttempt& attempt, Time now);
  void OnEvent(const ClusterEvent& event, Time now) {
    See(now);
    for (auto& [id, pod] : pods_) Tell(id, event, now);
  }
  void Advance(Time now) {
    See(now);
    for (auto& [id, pod] : pods_) {
      if (pod.starves() && pod.since() + pod.seniority.starves_after <= now) {
        pod.view.starved = true;
        Weigh(pod);
      }
      const bool backing_off = pod.view.place == kBackoff || pod.view.place == kErrorBackoff;
      if (backing_off && pod.view.backoff_until <= now) pod.view.place = kActive;
      if (pod.view.place == kUnschedulable && FlushOf(pod) <= now) TryAgain(id, false, now);
    }
  }
  Time NextWake() const {
    Time wake = kNever;
    for (const auto& [id, pod] : pods_) {
      const bool backing_off = pod.view.place == kBackoff || pod.view.place == kErrorBackoff;
      if (backing_off) wake = std::min(wake, pod.view.backoff_until);
      if (pod.view.place == kUnschedulable) wake = std::min(wake, FlushOf(pod));
      if (pod.starves()) wake = std::min(wake, pod.since() + pod.seniority.starves_after);
    }
    return wake;
  }
  Queue::View Get(PodId pod) const {
    return pods_.contains(pod) ? pods_.at(pod).view : Queue::View{};
  }
  std::vector<PodId> List(QueuePlace place) const;

 private:
  void See(Time now) {
    if (!first_) first_ = now;
  }
  static void Weigh(ModelPod& pod) {
    pod.view.effective = pod.view.priority + pod.seniority.boost +
                         (pod.view.starved ? pod.seniority.starved_boost : 0);
  }
  void Ask(PodId id, Time now) {
    ModelPod& pod = pods_.at(id);
    const auto seniority = judge_.SeniorityOf(id);
    if (!seniority) return;
    pod.seniority = *seniority;
    if (seniority->since || seniority->keeps_age) pod.age = pod.since();
    const bool late = pod.since() + seniority->starves_after <= now;
    if (seniority->starved_boost > 0 && late) pod.view.starved = true;
    Weigh(pod);
  }
  Time FlushOf(const ModelPod& pod) const {
    Time look = *first_;
    while (!(look - pod.view.since > options_.max_unschedulable)) {
      look = look + options_.flush_interval;
    }
    return look;
  }
  bool Helps(PodId id, const ClusterEvent& event, const PluginSet& asked) const {
    for (const std::uint8_t plugin : kPlugins) {
      if (asked.Contains(plugin) && judge_.Interested(id, event.kind).Contains(plugin) &&
          judge_.MayHelp(id, plugin, event)) {
        return true;
      }
    }
    return false;
  }
  // Nothing: it does not help. Otherwise whether it helps at once.
  std::optional<bool> Reaction(PodId id, const ClusterEvent& event) const {
    const Queue::View& view = pods_.at(id).view;
    if (event.kind == EventKind::kForced || event.kind == EventKind::kTimeout) return false;
    if (view.rejected_by.empty() && view.pending_on.empty()) return false;
    if (Helps(id, event, view.pending_on)) return true;
    if (Helps(id, event, view.rejected_by)) return false;
    return std::nullopt;
  }
  void Tell(PodId id, const ClusterEvent& event, Time now);
  void TryAgain(PodId id, bool at_once, Time now);

  const Queue::Options options_;
  ChanceJudge& judge_;
  std::map<PodId, ModelPod> pods_;
  std::optional<Time> first_;
  std::uint64_t arrivals_ = 0;
};

void Model::Tell(PodId id, const ClusterEvent& event, Time now) {
  ModelPod& pod = pods_.at(id);
  if (pod.view.place == kInFlight) pod.seen.push_back(event);
  if (pod.view.place == kUnschedulable) {
    if (const auto at_once = Reaction(id, event)) TryAgain(id, *at_once, now);
  } else if (pod.view.place == kGated) {
    PluginSet gate;
    gate.Add(pod.view.gate);
    if (Helps(id, event, gate)) TryAgain(id, false, now);
  }
}

void Model::TryAgain(PodId id, bool at_once, Time now) {
  Queue::View& view = pods_.at(id).view;
  view.gate = 0;
  if (const auto gate = judge_.Gate(id)) {
    view.place = kGated;
    view.gate = *gate;
    return;
  }
  if (view.attempts == 0) pods_.at(id).ready = now;
  Ask(id, now);
  if (!at_once && view.backoff_until > now) {
    view.place = view.errors > 0 ? kErrorBackoff : kBackoff;
  } else {
    view.place = kActive;
  }
}

void Model::Requeue(PodId id, const FailedAttempt& attempt, Time now) {
  ModelPod& pod = pods_.at(id);
  const bool was_done = pod.view.place == kDone;
  pod.view.rejected_by = attempt.rejected_by;
  pod.view.pending_on = attempt.pending_on;
  pod.view.errors = attempt.error ? pod.view.errors + 1 : 0;
  if (!attempt.error) ++pod.view.failed_attempts;
  pod.view.since = now;
  pod.age = now;
  pod.arrival = arrivals_++;
  pod.view.backoff_until = Time{};
  if (options_.max_backoff > Duration{}) {
    Duration wait = options_.initial_backoff;
    const std::uint32_t failures = attempt.error ? pod.view.errors : pod.view.failed_attempts;
    for (std::uint32_t i = 1; i < failures; ++i) wait = std::min(wait * 2, options_.max_backoff);
    wait = std::min(wait, options_.max_backoff);
    pod.view.backoff_until = Time{((now + wait).ns / 1'000'000'000 + 1) * 1'000'000'000};
  }
  bool moves = attempt.error || was_done;
  bool at_once = false;
  if (!moves) {
    for (const ClusterEvent& event : pod.seen) {
      const auto reaction = Reaction(id, event);
      moves |= reaction.has_value();
      at_once |= reaction.value_or(false);
    }
  }
  pod.seen.clear();
  pod.view.place = kUnschedulable;
  if (moves) TryAgain(id, at_once, now);
}

std::vector<PodId> Model::List(QueuePlace place) const {
  std::vector<PodId> out;
  for (const auto& [id, pod] : pods_) {
    if (pod.view.place == place) out.push_back(id);
  }
  const auto order = [&](PodId id) {
    const ModelPod& pod = pods_.at(id);
    const bool backing_off = place == kBackoff || place == kErrorBackoff;
    const std::int64_t until = backing_off ? pod.view.backoff_until.ns : 0;
    return std::tuple(until, -std::int64_t{pod.view.effective}, pod.age, pod.arrival);
  };
  if (place == kActive || place == kBackoff || place == kErrorBackoff) {
    std::sort(out.begin(), out.end(), [&](PodId a, PodId b) { return order(a) < order(b); });
  }
  return out;
}

// Takes decisions from one number, a few bits at a time.
class Dice {
 public:
  explicit Dice(std::uint64_t bits) : bits_(bits) {}
  std::uint32_t Below(std::uint32_t n) {
    const auto value = static_cast<std::uint32_t>(bits_ % n);
    bits_ /= n;
    return value;
  }
  PluginSet Plugins() {
    PluginSet set;
    for (std::uint32_t n = Below(3); n > 0; --n) set.Add(kPlugins[Below(kPlugins.size())]);
    return set;
  }
  ClusterEvent Event() {
    ClusterEvent event;
    event.kind = kKinds[Below(kKinds.size())];
    event.row.index = Below(4);
    return event;
  }

 private:
  std::uint64_t bits_;
};

struct Pair {
  explicit Pair(Queue::Options options) : queue(options, judge), model(options, judge) {}

  void Step(std::uint64_t number);
  void Pop() {
    const std::optional<PodId> popped = queue.Pop(now);
    RC_ASSERT(popped == model.Pop(now));
  }
  void Compare() const {
    const std::optional<std::string> difference = queue.Verify();
    if (difference) RC_FAIL(*difference);
    RC_ASSERT(queue.NextWake() == model.NextWake());
    for (const QueuePlace place : kPlaces) {
      RC_ASSERT(queue.List(place) == model.List(place));
      RC_ASSERT(queue.Count(place) == queue.List(place).size());
    }
    for (std::uint32_t i = 0; i < kPods; ++i) RC_ASSERT(queue.Get({i}) == model.Get({i}));
  }

  ChanceJudge judge;
  Queue queue;
  Model model;
  Time now = Time{} + Duration::Seconds(1000);
};

void Pair::Step(std::uint64_t number) {
  Dice dice(number);
  const std::uint32_t what = dice.Below(16);
  const PodId pod{dice.Below(kPods)};
  const QueuePlace place = queue.Get(pod).place;
  const auto priority = static_cast<std::int32_t>(dice.Below(3)) - 1;
  if (what < 3) {
    Pop();
  } else if (what < 5) {
    if (place == kNone || place == kDone) {
      queue.Add(pod, priority, now);
      model.Add(pod, priority, now);
    }
  } else if (what < 9) {
    if (place == kInFlight || place == kDone) {
      const FailedAttempt attempt{dice.Plugins(), dice.Plugins(), dice.Below(4) == 0};
      queue.Requeue(pod, attempt, now);
      model.Requeue(pod, attempt, now);
    }
  } else if (what == 9) {
    if (place == kInFlight) {
      queue.Done(pod);
      model.Done(pod);
    }
  } else if (what == 10) {
    std::vector<ClusterEvent> events;
    for (std::uint32_t n = dice.Below(3); n > 0; --n) events.push_back(dice.Event());
    queue.Update(pod, priority, events, now);
    model.Update(pod, priority, events, now);
  } else if (what == 11) {
    if (dice.Below(4) == 0) {
      queue.Remove(pod);
      model.Remove(pod);
    }
  } else if (what == 12) {
    judge.gates[pod.index].reset();
    if (dice.Below(3) == 0) judge.gates[pod.index] = kPlugins[dice.Below(kPlugins.size())];
  } else if (what == 13) {
    const ClusterEvent event = dice.Event();
    queue.OnEvent(event, now);
    model.OnEvent(event, now);
  } else if (what == 14) {
    if (dice.Below(2) == 0 && queue.NextWake() != kNever) now = std::max(now, queue.NextWake());
    queue.Advance(now);
    model.Advance(now);
  } else {
    // Now and then the clock is set back.
    now = now + Duration::Milliseconds(static_cast<std::int64_t>(dice.Below(6000)) - 300);
  }
}

RC_GTEST_PROP(QueueModel, TheQueueDoesWhatTheModelDoes, ()) {
  Queue::Options options;
  options.pop_from_backoff = *rc::gen::arbitrary<bool>();
  options.initial_backoff = Duration::Milliseconds(*rc::gen::element(300, 1000));
  options.max_backoff = Duration::Milliseconds(*rc::gen::element(0, 3000, 10'000));
  options.max_unschedulable = Duration::Seconds(*rc::gen::element(0, 1, 60));
  options.flush_interval = Duration::Seconds(*rc::gen::element(1, 7, 30));
  const auto number =
      rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 62));
  const auto numbers = *rc::gen::scale(5.0, rc::gen::container<std::vector<std::uint64_t>>(number));

  Pair pair(options);
  for (const std::uint64_t n : numbers) {
    pair.Step(n);
    pair.Compare();
  }
}

}  // namespace
}  // namespace knx::engine
