#include "engine/pod_places.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace knx::engine {

std::uint32_t PodPlaces::Create(cluster::PodId pod, std::int32_t priority, Time now) {
  KNX_CHECK(pod.valid() && Find(pod) == kNoRecord, "a pod is put into the queue twice");
  auto number = static_cast<std::uint32_t>(records_.size());
  if (free_.empty()) {
    records_.emplace_back();
    positions_.push_back(0);
  } else {
    number = free_.back();
    free_.pop_back();
  }
  PodRecord& record = records_[number];
  record.pod = pod;
  record.priority = priority;
  record.effective = priority;
  record.added = now;
  record.since = now;
  record.age = now;
  record.sequence = next_sequence_++;
  if (pod.index >= number_of_.size()) number_of_.resize(pod.index + std::size_t{1}, kNoRecord);
  number_of_[pod.index] = number;
  ++counts_[static_cast<std::size_t>(QueuePlace::kNone)];
  return number;
}

void PodPlaces::Destroy(std::uint32_t number) {
  Leave(number);
  PodRecord& record = records_[number];
  --counts_[static_cast<std::size_t>(QueuePlace::kNone)];
  if (record.last_attempt != kNoGroup) groups_.Release(record.last_attempt);
  number_of_[record.pod.index] = kNoRecord;
  record = PodRecord{};
  free_.push_back(number);
}

void PodPlaces::MoveToActive(std::uint32_t number, Time now) {
  Leave(number);
  if (records_[number].attempts == 0) records_[number].ready = now;
  active_.Push(OrderOf(number));
  if (WillStarve(records_[number])) AwaitStarving(number);
  Arrive(number, QueuePlace::kActive);
}

void PodPlaces::MoveToBackoff(std::uint32_t number) {
  Leave(number);
  const bool error = records_[number].errors > 0;
  (error ? error_backoff_ : backoff_).Push(BackoffOrderOf(number));
  if (WillStarve(records_[number])) AwaitStarving(number);
  Arrive(number, error ? QueuePlace::kErrorBackoff : QueuePlace::kBackoff);
}

void PodPlaces::MoveToUnschedulable(std::uint32_t number) {
  KNX_CHECK(records_[number].last_attempt != kNoGroup, "nothing says why the pod is unschedulable");
  Leave(number);
  groups_.Join(records_[number].last_attempt, number);
  LinkByAge(number);
  Arrive(number, QueuePlace::kUnschedulable);
}

void PodPlaces::MoveToGated(std::uint32_t number, std::uint32_t profile, std::uint8_t gate) {
  WaitsFor what{.profile = profile, .gated = true};
  what.rejected_by.Add(gate);
  const WaitingGroups::Group group = groups_.Hold(what);
  Leave(number);
  groups_.Join(group, number);
  records_[number].gate_group = group;
  records_[number].gate = gate;
  Arrive(number, QueuePlace::kGated);
}

void PodPlaces::MoveToInFlight(std::uint32_t number, Time now) {
  Leave(number);
  records_[number].popped = now;
  positions_[number] = static_cast<std::uint32_t>(in_flight_.size());
  in_flight_.push_back({.record = number});
  ++records_[number].attempts;
  Arrive(number, QueuePlace::kInFlight);
}

void PodPlaces::MoveToDone(std::uint32_t number) {
  Leave(number);
  Arrive(number, QueuePlace::kDone);
}

void PodPlaces::SetPriority(std::uint32_t number, std::int32_t priority) {
  if (records_[number].priority == priority) return;
  records_[number].priority = priority;
  SetEffective(number);
  Reorder(number);
}

bool PodPlaces::SetSeniority(std::uint32_t number, const Seniority& seniority, Time now) {
  PodRecord& record = records_[number];
  record.boost = seniority.boost;
  record.starved_boost = seniority.starved_boost;
  // Where it is not yet, it comes now.
  const bool ready = record.attempts > 0 || record.place == QueuePlace::kActive;
  const Time since = seniority.since.value_or(ready ? std::max(record.added, record.ready) : now);
  if (seniority.since || seniority.keeps_age) record.age = since;
  record.starves_at = since + seniority.starves_after;
  const bool starves = record.starved_boost > 0 && !record.starved && record.starves_at <= now;
  if (starves) record.starved = true;
  SetEffective(number);
  Reorder(number);
  return starves;
}

void PodPlaces::Starve(std::uint32_t number) {
  records_[number].starved = true;
  SetEffective(number);
  Reorder(number);
}

void PodPlaces::CountFailure(std::uint32_t number, bool error, const WaitsFor& what, Time now) {
  PodRecord& record = records_[number];
  record.since = now;
  record.age = now;
  record.flushed = false;
  record.sequence = next_sequence_++;
  if (error) {
    ++record.errors;
  } else {
    ++record.failed_attempts;
    record.errors = 0;
  }
  const WaitingGroups::Group before = record.last_attempt;
  record.last_attempt = groups_.Hold(what);
  if (before != kNoGroup) groups_.Release(before);
}

std::vector<cluster::PodId> PodPlaces::List(QueuePlace place) const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(Count(place));
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    const PodRecord& record = records_[number];
    if (record.pod.valid() && record.place == place) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (place == QueuePlace::kActive) return OrderOf(a) < OrderOf(b);
    if (place == QueuePlace::kBackoff || place == QueuePlace::kErrorBackoff) {
      return BackoffOrderOf(a) < BackoffOrderOf(b);
    }
    return records_[a].pod < records_[b].pod;
  });
  std::vector<cluster::PodId> pods;
  pods.reserve(numbers.size());
  for (const std::uint32_t number : numbers) pods.push_back(records_[number].pod);
  return pods;
}

std::vector<RejectedPods> PodPlaces::CountRejected() const {
  std::vector<std::size_t> by_group(groups_.limit(), 0);
  for (const PodRecord& record : records_) {
    const QueuePlace place = record.place;
    if (place == QueuePlace::kNone || place == QueuePlace::kInFlight || place == QueuePlace::kDone)
      continue;
    const bool gated = place == QueuePlace::kGated;
    const WaitingGroups::Group group = gated ? record.gate_group : record.last_attempt;
    if (group != kNoGroup) ++by_group[group];
  }
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::size_t> counts;
  for (WaitingGroups::Group group = 0; group < groups_.limit(); ++group) {
    if (by_group[group] == 0) continue;
    const WaitsFor& what = groups_.what(group);
    (what.rejected_by | what.pending_on).ForEach([&](std::uint8_t plugin) {
      counts[{what.profile, plugin}] += by_group[group];
    });
  }
  std::vector<RejectedPods> out;
  for (const auto& [who, pods] : counts) out.push_back({who.first, who.second, pods});
  return out;
}

std::size_t PodPlaces::bytes() const {
  return sizeof(*this) + records_.capacity() * sizeof(PodRecord) +
         (number_of_.capacity() + free_.capacity() + positions_.capacity()) *
             sizeof(std::uint32_t) +
         starving_positions_.capacity() * sizeof(std::uint32_t) + starving_.bytes() +
         active_.bytes() + backoff_.bytes() + error_backoff_.bytes() + groups_.bytes() +
         in_flight_.capacity() * sizeof(InFlightPod);
}

QueueOrder PodPlaces::OrderOf(std::uint32_t number) const {
  const PodRecord& record = records_[number];
  return {record.age, record.sequence, record.effective, number};
}

BackoffOrder PodPlaces::BackoffOrderOf(std::uint32_t number) const {
  return {records_[number].backoff_until, OrderOf(number)};
}

void PodPlaces::SetEffective(std::uint32_t number) {
  PodRecord& record = records_[number];
  const std::int64_t starved = record.starved ? record.starved_boost : 0;
  record.effective = EffectivePriority(record.priority, record.boost + starved);
}

void PodPlaces::Reorder(std::uint32_t number) {
  const QueuePlace place = records_[number].place;
  if (place == QueuePlace::kActive) active_.Change(OrderOf(number));
  if (place == QueuePlace::kBackoff) backoff_.Change(BackoffOrderOf(number));
  if (place == QueuePlace::kErrorBackoff) error_backoff_.Change(BackoffOrderOf(number));
  const bool ordered = place == QueuePlace::kActive || place == QueuePlace::kBackoff ||
                       place == QueuePlace::kErrorBackoff;
  if (ordered) AwaitStarving(number);
}

// Only who may be taken is kept in this order: for everybody else it is found out when they may.
void PodPlaces::AwaitStarving(std::uint32_t number) {
  PodRecord& record = records_[number];
  const bool was = std::exchange(record.starving, WillStarve(record));
  if (!was && !record.starving) return;
  if (starving_positions_.size() < records_.size()) starving_positions_.resize(records_.size());
  if (!record.starving) return starving_.Erase(number);
  const StarvingOrder order{record.starves_at, number};
  was ? starving_.Change(order) : starving_.Push(order);
}

void PodPlaces::Leave(std::uint32_t number) {
  PodRecord& record = records_[number];
  if (std::exchange(record.starving, false)) starving_.Erase(number);
  switch (record.place) {
    case QueuePlace::kActive:
      active_.Erase(number);
      break;
    case QueuePlace::kBackoff:
      backoff_.Erase(number);
      break;
    case QueuePlace::kErrorBackoff:
      error_backoff_.Erase(number);
      break;
    case QueuePlace::kUnschedulable:
      groups_.Leave(record.last_attempt, number);
      UnlinkByAge(number);
      break;
    case QueuePlace::kGated:
      groups_.Leave(record.gate_group, number);
      groups_.Release(record.gate_group);
      record.gate_group = kNoGroup;
      record.gate = 0;
      break;
    case QueuePlace::kInFlight:
      LeaveFlight(number);
      break;
    case QueuePlace::kDone:
    case QueuePlace::kNone:
      break;
  }
  --counts_[static_cast<std::size_t>(record.place)];
  record.place = QueuePlace::kNone;
  ++counts_[static_cast<std::size_t>(record.place)];
}

void PodPlaces::Arrive(std::uint32_t number, QueuePlace place) {
  --counts_[static_cast<std::size_t>(records_[number].place)];
  records_[number].place = place;
  ++counts_[static_cast<std::size_t>(place)];
}

// Almost always at the end: attempts end in the order of time, unless the clock was set back.
void PodPlaces::LinkByAge(std::uint32_t number) {
  PodRecord& record = records_[number];
  record.older = newest_;
  while (record.older != kNoRecord && records_[record.older].since > record.since) {
    record.older = records_[record.older].older;
  }
  record.newer = record.older == kNoRecord ? oldest_ : records_[record.older].newer;
  (record.older == kNoRecord ? oldest_ : records_[record.older].newer) = number;
  (record.newer == kNoRecord ? newest_ : records_[record.newer].older) = number;
}

void PodPlaces::UnlinkByAge(std::uint32_t number) {
  PodRecord& record = records_[number];
  (record.older == kNoRecord ? oldest_ : records_[record.older].newer) = record.newer;
  (record.newer == kNoRecord ? newest_ : records_[record.newer].older) = record.older;
  record.older = kNoRecord;
  record.newer = kNoRecord;
}

void PodPlaces::LeaveFlight(std::uint32_t number) {
  const std::uint32_t at = positions_[number];
  in_flight_[at] = in_flight_.back();
  positions_[in_flight_[at].record] = at;
  in_flight_.pop_back();
}

}  // namespace knx::engine
