#include "engine/backfill_times.h"

#include <algorithm>

#include "cluster/reservation_hold.h"
#include "k8s/names.h"
#include "k8s/operators.h"
#include "k8s/owner.h"
#include "k8s/selector.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::PodId;

namespace {

// Who was to be gone and is not by then will not go by itself: its node is dead, or it is kept.
constexpr Duration kMostLate = Duration::Seconds(60);

// Longer is no run time, and sums of times stay small.
constexpr Duration kMostRun = Duration::Seconds(std::int64_t{10} * 365 * 86'400);

const std::string* Said(const k8s::ObjectMeta& meta, std::string_view key) {
  const std::string* const label = k8s::FindValue(meta.labels, key);
  return label != nullptr ? label : k8s::FindValue(meta.annotations, key);
}

// What cannot be read counts as not said.
std::optional<Duration> ReadExpected(const k8s::ObjectMeta& meta) {
  const std::string* const text = k8s::FindValue(meta.annotations, names::kExpectedDuration);
  if (text == nullptr) return std::nullopt;
  const Result<Duration> read = ParseDuration(*text);
  if (!read.ok() || *read <= Duration{}) return std::nullopt;
  return std::min(*read, kMostRun);
}

Duration SaidRunTime(const k8s::Pod& pod) {
  std::optional<Duration> run = ReadExpected(pod.meta);
  if (const auto seconds = pod.spec.active_deadline_seconds; seconds && *seconds > 0) {
    const Duration deadline =
        Duration::Seconds(std::min(*seconds, kMostRun.ns / Duration::Seconds(1).ns));
    run = std::min(run.value_or(deadline), deadline);
  }
  return run.value_or(Duration{});
}

// By an owner that is made for it, or one that nobody here knows, of a pod that always starts anew.
bool IsMadeToServe(const k8s::Pod& pod, bool in_gang) {
  const k8s::OwnerReference* const owner = k8s::ControllerOf(pod.meta);
  if (owner == nullptr) return false;
  if (!in_gang && pod.spec.restarts_always && k8s::OperatorOf(pod.meta) == nullptr) return true;
  constexpr std::string_view kServing[] = {"ReplicaSet", "StatefulSet", "DaemonSet",
                                           "ReplicationController", "Node"};
  return std::find(std::begin(kServing), std::end(kServing), owner->kind) != std::end(kServing);
}

bool SaysNo(const std::string* value) { return value != nullptr && *value == "false"; }

}  // namespace

const std::string* UnreadableRunTime(const k8s::ObjectMeta& meta) {
  return ReadExpected(meta) ? nullptr : k8s::FindValue(meta.annotations, names::kExpectedDuration);
}

bool RunTimes::Learn(PodId id, const k8s::Pod& pod, Time now) {
  Known& known = pods_[id];
  const auto before = std::pair(known.said, known.may_pass);
  if (known.seen == Time{}) known.seen = now;
  if (known.placed == Time{} && state_.pod(id).node.valid()) known.placed = now;
  known.said = SaidRunTime(pod);
  known.serves = IsMadeToServe(pod, state_.pod(id).gang != nullptr);
  known.may_pass = !SaysNo(Said(pod.meta, names::kBackfillEligible)) &&
                   !SaysNo(Said(pod.meta, names::kBackfill));
  const k8s::OwnerReference* const owner = k8s::ControllerOf(pod.meta);
  known.owner = owner == nullptr ? "" : owner->uid;
  return before != std::pair(known.said, known.may_pass);
}

void RunTimes::NotePlaced(PodId id, bool borrowed, Time now) {
  const auto known = pods_.find(id);
  if (known == pods_.end()) return;
  known->second.placed = now;
  known->second.borrows = borrowed;
}

void RunTimes::NoteFinished(PodId id, Time now) {
  const Known* const known = Find(id);
  if (known == nullptr || known->owner.empty() || known->placed == Time{}) return;
  const auto [past, fresh] = past_.try_emplace(known->owner);
  past->second.push_back(now - StartOf(id, *known));
  if (past->second.size() > kRemembered) past->second.pop_front();
  if (!fresh) return;
  owners_.push_back(known->owner);
  if (owners_.size() <= kMostOwners) return;
  past_.erase(owners_.front());
  owners_.pop_front();
}

const RunTimes::Known* RunTimes::Find(PodId id) const {
  const auto known = pods_.find(id);
  return known == pods_.end() ? nullptr : &known->second;
}

std::optional<Duration> RunTimes::RunTimeOf(PodId id) const {
  const Known* const known = Find(id);
  if (known == nullptr) return std::nullopt;
  if (known->said > Duration{}) return known->said;
  const auto past = past_.find(known->owner);
  if (known->serves || past == past_.end()) return std::nullopt;
  // The longest: a start that is promised too early helps nobody.
  return std::max(*std::max_element(past->second.begin(), past->second.end()),
                  Duration::Seconds(1));
}

Time RunTimes::StartOf(PodId id, const Known& known) const {
  const Time started = state_.pod(id).started;
  return started == Time{} ? known.placed : started;
}

Time RunTimes::EndOf(PodId id, Time now) const {
  const cluster::Pod& pod = state_.pod(id);
  if (pod.terminating) {
    if (now <= pod.leaves_by) return pod.leaves_by;
    return now <= pod.leaves_by + kMostLate ? pod.leaves_by + kMostLate : kNever;
  }
  const Known* const known = Find(id);
  if (known != nullptr && known->until != Time{}) return std::max(known->until, now);
  const std::optional<Duration> run = RunTimeOf(id);
  if (!run) return known != nullptr && known->serves ? kNever : kUnknownEnd;
  const Time start = StartOf(id, *known);
  // Nobody was told yet that it has a place: a profile that promises nothing has just given it one.
  if (start == Time{}) return now + *run;
  // Who is over its time is expected to need as long again as it has had, unless it is over by so
  // little that it may just not have been heard of.
  Duration span = *run;
  while (start + span + kLate < now) span = span * 2;
  return start + span < now ? start + span + kLate : start + span;
}

Time RunTimes::CameAt(PodId id) const {
  if (const Time created = state_.pod(id).created; created != Time{}) return created;
  const Known* const known = Find(id);
  return known == nullptr ? Time{} : known->seen;
}

bool RunTimes::MayPass(PodId id) const {
  const Known* const known = Find(id);
  return known == nullptr || known->may_pass;
}

bool RunTimes::Borrows(PodId id) const {
  const Known* const known = Find(id);
  return known != nullptr && known->borrows;
}

bool RunTimes::TakesTooLong(PodId id, Time now) const {
  constexpr Duration kSpared = Duration::Seconds(60);
  const std::optional<Duration> run = RunTimeOf(id);
  if (!run) return false;
  const Time start = StartOf(id, *Find(id));
  return start != Time{} && now > start + *run + std::max(kSpared, Duration{run->ns / 10});
}

std::optional<std::string> RunTimes::Verify() const {
  for (const auto& [id, known] : pods_) {
    if (!state_.pods().Contains(id)) return "the run time of a pod is known that is gone";
    const bool reserved = known.until != Time{};
    if (reserved && !cluster::IsHold(state_.pod(id))) return "a pod ends with a reservation";
  }
  return std::nullopt;
}

std::size_t RunTimes::bytes() const {
  constexpr std::size_t kUid = 40;
  return pods_.capacity() * sizeof(decltype(pods_)::value_type) + pods_.size() * kUid +
         past_.capacity() * sizeof(decltype(past_)::value_type) +
         past_.size() * (2 * kUid + kRemembered * sizeof(Duration));
}

}  // namespace knx::engine
