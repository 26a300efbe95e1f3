// Recounts the places from the records. Written against what the places promise, not against the
// code that keeps it.
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "engine/pod_places.h"

namespace knx::engine {

std::optional<std::string> PodPlaces::Verify() const {
  if (auto difference = VerifyRecords()) return difference;
  if (auto difference = VerifyHeap(active_, QueuePlace::kActive,
                                   [&](std::uint32_t number) { return OrderOf(number); })) {
    return difference;
  }
  const auto by_backoff = [&](std::uint32_t number) { return BackoffOrderOf(number); };
  if (auto difference = VerifyHeap(backoff_, QueuePlace::kBackoff, by_backoff)) return difference;
  if (auto difference = VerifyHeap(error_backoff_, QueuePlace::kErrorBackoff, by_backoff)) {
    return difference;
  }
  if (auto difference = VerifyStarving()) return difference;
  if (auto difference = VerifyAges()) return difference;
  if (auto difference = VerifyGroups()) return difference;
  return VerifyInFlight();
}

std::optional<std::string> PodPlaces::VerifyRecords() const {
  std::array<std::size_t, kPlaces> counts{};
  absl::flat_hash_set<std::uint64_t> sequences;
  std::size_t known = 0;
  std::vector<bool> is_free(records_.size());
  for (const std::uint32_t number : free_) is_free[number] = true;
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    const PodRecord& record = records_[number];
    if (record.pod.valid() == is_free[number]) {
      return fmt::format("record {}: is not sure whether it is free", number);
    }
    if (is_free[number]) continue;
    ++known;
    ++counts[static_cast<std::size_t>(record.place)];
    const std::uint32_t pod = record.pod.index;
    if (Find(record.pod) != number) return fmt::format("pod {}: not found by its id", pod);
    if (record.place == QueuePlace::kNone) return fmt::format("pod {}: is nowhere", pod);
    if (record.sequence >= next_sequence_ || !sequences.insert(record.sequence).second) {
      return fmt::format("pod {}: its sequence {} is not its own", pod, record.sequence);
    }
    if ((record.place == QueuePlace::kErrorBackoff && record.errors == 0) ||
        (record.place == QueuePlace::kBackoff && record.errors > 0)) {
      return fmt::format("pod {}: waits in the back-off of the others", pod);
    }
    if (record.failed_attempts + record.errors > record.attempts) {
      return fmt::format("pod {}: failed more often than it was tried", pod);
    }
  }
  if (known + free_.size() != records_.size()) return "a record is free twice";
  if (counts != counts_) return "pods are counted in places they are not in";
  std::size_t found = 0;
  for (const std::uint32_t number : number_of_) found += number == kNoRecord ? 0 : 1;
  if (found != known) return fmt::format("{} pods are found, {} are known", found, known);
  return std::nullopt;
}

template <class Entry, class OrderOfRecord>
std::optional<std::string> PodPlaces::VerifyHeap(const IndexedHeap<Entry>& heap, QueuePlace place,
                                                 OrderOfRecord order_of) const {
  const std::span<const Entry> entries = heap.entries();
  if (entries.size() != Count(place)) {
    return fmt::format("place {}: {} entries for {} pods", static_cast<int>(place), entries.size(),
                       Count(place));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint32_t number = entries[i].record();
    const PodRecord& record = records_[number];
    if (record.place != place || positions_[number] != i) {
      return fmt::format("pod {}: does not know its entry", record.pod.index);
    }
    const Entry now = order_of(number);
    if (now < entries[i] || entries[i] < now) {
      return fmt::format("pod {}: its entry is out of date", record.pod.index);
    }
    if (i > 0 && entries[i] < entries[(i - 1) / 4]) {
      return fmt::format("pod {}: comes before its parent", record.pod.index);
    }
  }
  return std::nullopt;
}

std::optional<std::string> PodPlaces::VerifyStarving() const {
  std::size_t starving = 0;
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    const PodRecord& record = records_[number];
    const std::int64_t boost = record.boost + (record.starved ? record.starved_boost : 0);
    if (record.effective != EffectivePriority(record.priority, boost)) {
      return fmt::format("pod {}: counts for something else", record.pod.index);
    }
    const bool may_be_taken = record.place == QueuePlace::kActive ||
                              record.place == QueuePlace::kBackoff ||
                              record.place == QueuePlace::kErrorBackoff;
    if (record.starving != (may_be_taken && record.starved_boost > 0 && !record.starved)) {
      return fmt::format("pod {}: is not sure whether it starves", record.pod.index);
    }
    if (!record.starving) continue;
    ++starving;
    const std::size_t at = starving_positions_[number];
    const std::span<const StarvingOrder> entries = starving_.entries();
    if (at >= entries.size() || entries[at].number != number ||
        entries[at].when != record.starves_at) {
      return fmt::format("pod {}: nobody knows when it starves", record.pod.index);
    }
    if (at > 0 && entries[at] < entries[(at - 1) / 4]) {
      return fmt::format("pod {}: starves before its parent", record.pod.index);
    }
  }
  if (starving != starving_.entries().size()) return "somebody starves who is not there";
  return std::nullopt;
}

std::optional<std::string> PodPlaces::VerifyAges() const {
  std::size_t listed = 0;
  std::uint32_t older = kNoRecord;
  for (std::uint32_t number = oldest_; number != kNoRecord; number = records_[number].newer) {
    const PodRecord& record = records_[number];
    if (record.place != QueuePlace::kUnschedulable || record.older != older) {
      return fmt::format("pod {}: is in the list of ages by mistake", record.pod.index);
    }
    if (older != kNoRecord && records_[older].since > record.since) {
      return fmt::format("pod {}: is older than the one before it", record.pod.index);
    }
    if (++listed > records_.size()) return "the list of ages has no end";
    older = number;
  }
  if (newest_ != older) return "the list of ages does not end with the newest";
  if (listed != Count(QueuePlace::kUnschedulable)) return "the list of ages is not complete";
  return std::nullopt;
}

std::optional<std::string> PodPlaces::VerifyGroups() const {
  std::vector<std::uint32_t> holders(groups_.limit(), 0);
  std::vector<std::size_t> members(groups_.limit(), 0);
  for (std::uint32_t number = 0; number < records_.size(); ++number) {
    const PodRecord& record = records_[number];
    const bool gated = record.place == QueuePlace::kGated;
    if (gated != (record.gate_group != kNoGroup)) {
      return fmt::format("pod {}: is not sure whether it is gated", record.pod.index);
    }
    if (record.last_attempt != kNoGroup) ++holders[record.last_attempt];
    if (gated) ++holders[record.gate_group];
    if (!gated && record.place != QueuePlace::kUnschedulable) continue;
    const WaitingGroups::Group group = gated ? record.gate_group : record.last_attempt;
    if (group == kNoGroup || groups_.what(group).gated != gated ||
        (gated && !groups_.what(group).rejected_by.Contains(record.gate))) {
      return fmt::format("pod {}: waits in the wrong group", record.pod.index);
    }
    ++members[group];
    const auto listed = groups_.members(group);
    if (positions_[number] >= listed.size() || listed[positions_[number]] != number) {
      return fmt::format("pod {}: is not in its group", record.pod.index);
    }
  }
  for (WaitingGroups::Group group = 0; group < groups_.limit(); ++group) {
    if (groups_.holders(group) != holders[group]) {
      return fmt::format("group {}: held {} times, not {}", group, holders[group],
                         groups_.holders(group));
    }
    if (groups_.members(group).size() != members[group]) {
      return fmt::format("group {}: has {} members, {} pods say so", group,
                         groups_.members(group).size(), members[group]);
    }
    if (holders[group] > 0 && groups_.Find(groups_.what(group)) != group) {
      return fmt::format("group {}: is not found", group);
    }
  }
  return std::nullopt;
}

std::optional<std::string> PodPlaces::VerifyInFlight() const {
  if (in_flight_.size() != Count(QueuePlace::kInFlight)) return "pods in flight are not counted";
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const std::uint32_t number = in_flight_[i].record;
    if (records_[number].place != QueuePlace::kInFlight || positions_[number] != i) {
      return fmt::format("pod {}: does not know that it is in flight", records_[number].pod.index);
    }
  }
  return std::nullopt;
}

}  // namespace knx::engine
