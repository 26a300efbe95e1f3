// The places of the queue, and the moves between them. Knows what a place holds and in which order,
// not why a pod goes there: that is for the Queue to say. Pods are found by their id in a vector of
// numbers; what is known about one is a record in a pool, so that a pod that left costs four bytes.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "engine/indexed_heap.h"
#include "engine/plugin_set.h"
#include "engine/queue.h"
#include "engine/queue_order.h"
#include "engine/waiting_groups.h"

namespace knx::engine {

inline constexpr std::uint32_t kNoRecord = 0xFFFF'FFFF;
inline constexpr std::uint32_t kNoGroup = 0xFFFF'FFFF;

struct PodRecord {
  cluster::PodId pod;  // invalid: the record is free
  std::int32_t priority = 0;
  std::int32_t effective = 0;  // what it is ordered by
  QueuePlace place = QueuePlace::kNone;
  std::uint8_t gate = 0;
  bool flushed = false;   // since its last attempt, for having waited too long
  bool starved = false;   // has waited for so long that it counts for more
  bool starving = false;  // will have, if it goes on waiting where it is
  std::int32_t boost = 0, starved_boost = 0;
  std::uint32_t attempts = 0, failed_attempts = 0, errors = 0;
  WaitingGroups::Group last_attempt = kNoGroup;        // what it was rejected by
  WaitingGroups::Group gate_group = kNoGroup;          // with kGated
  std::uint32_t older = kNoRecord, newer = kNoRecord;  // with kUnschedulable: neighbours in age
  Time added, since, backoff_until;
  Time age;                    // what it is ordered by among those of its priority
  Time starves_at;             // with a boost for that
  Time ready;                  // first active, so that time behind a gate is not counted
  Time popped;                 // for the present or last attempt
  std::uint64_t sequence = 0;  // of this attempt; unique
};

// What happened since the pod was popped.
struct InFlightPod {
  std::uint32_t record = kNoRecord;
  bool saw_event = false, saw_forced = false;
  PluginSet helped{};  // plugins for which some event may have helped
};

class PodPlaces {
 public:
  PodPlaces() = default;
  PodPlaces(const PodPlaces&) = delete;
  PodPlaces& operator=(const PodPlaces&) = delete;

  // A record in place kNone, with its first attempt begun; the caller moves it somewhere at once.
  std::uint32_t Create(cluster::PodId pod, std::int32_t priority, Time now);
  void Destroy(std::uint32_t number);
  // kNoRecord: not known.
  [[nodiscard]] std::uint32_t Find(cluster::PodId pod) const {
    return pod.index < number_of_.size() ? number_of_[pod.index] : kNoRecord;
  }
  [[nodiscard]] const PodRecord& at(std::uint32_t number) const { return records_[number]; }

  // From wherever the pod is.
  void MoveToActive(std::uint32_t number, Time now);
  // Into the place for errors if the last attempt was one.
  void MoveToBackoff(std::uint32_t number);
  void MoveToUnschedulable(std::uint32_t number);
  void MoveToGated(std::uint32_t number, std::uint32_t profile, std::uint8_t gate);
  void MoveToInFlight(std::uint32_t number, Time now);
  void MoveToDone(std::uint32_t number);

  void SetPriority(std::uint32_t number, std::int32_t priority);
  // The attempt failed and the next begins. The pod must be in flight or done.
  void CountFailure(std::uint32_t number, bool error, const WaitsFor& what, Time now);
  // Before the pod is moved anywhere.
  void SetBackoff(std::uint32_t number, Time until) { records_[number].backoff_until = until; }
  // What it counts for, wherever it is. True: it has waited for too long by now, and had not
  // before.
  bool SetSeniority(std::uint32_t number, const Seniority& seniority, Time now);
  // It has waited for too long.
  void Starve(std::uint32_t number);
  void SetFlushed(std::uint32_t number) { records_[number].flushed = true; }

  // kNoRecord: there is none.
  [[nodiscard]] std::uint32_t first_active() const { return FirstOf(active_); }
  [[nodiscard]] std::uint32_t first_in_backoff() const { return FirstOf(backoff_); }
  [[nodiscard]] std::uint32_t first_in_error_backoff() const { return FirstOf(error_backoff_); }
  [[nodiscard]] std::uint32_t oldest_unschedulable() const { return oldest_; }
  // Of those that may be taken, who will have waited for too long next.
  [[nodiscard]] std::uint32_t first_starving() const { return FirstOf(starving_); }

  [[nodiscard]] std::span<InFlightPod> in_flight() { return in_flight_; }
  [[nodiscard]] InFlightPod& flight_of(std::uint32_t number) {
    return in_flight_[positions_[number]];
  }
  // Of pods that are unschedulable, and of pods that are gated.
  [[nodiscard]] const WaitingGroups& groups() const { return groups_; }

  [[nodiscard]] std::size_t Count(QueuePlace place) const {
    return counts_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] std::vector<cluster::PodId> List(QueuePlace place) const;
  [[nodiscard]] std::vector<RejectedPods> CountRejected() const;
  [[nodiscard]] std::optional<std::string> Verify() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr std::size_t kPlaces = 8;

  template <class Entry>
  static std::uint32_t FirstOf(const IndexedHeap<Entry>& heap) {
    return heap.empty() ? kNoRecord : heap.top().record();
  }
  [[nodiscard]] QueueOrder OrderOf(std::uint32_t number) const;
  [[nodiscard]] BackoffOrder BackoffOrderOf(std::uint32_t number) const;
  // Its place among others may be another.
  void Reorder(std::uint32_t number);
  void SetEffective(std::uint32_t number);
  // Most pods add nothing, and need nobody to remember when they will.
  [[nodiscard]] static bool WillStarve(const PodRecord& record) {
    return record.starved_boost > 0 && !record.starved;
  }
  void AwaitStarving(std::uint32_t number);
  void Leave(std::uint32_t number);
  void Arrive(std::uint32_t number, QueuePlace place);
  void LinkByAge(std::uint32_t number);
  void UnlinkByAge(std::uint32_t number);
  void LeaveFlight(std::uint32_t number);

  [[nodiscard]] std::optional<std::string> VerifyRecords() const;
  template <class Entry, class OrderOfRecord>
  [[nodiscard]] std::optional<std::string> VerifyHeap(const IndexedHeap<Entry>& heap,
                                                      QueuePlace place,
                                                      OrderOfRecord order_of) const;
  [[nodiscard]] std::optional<std::string> VerifyStarving() const;
  [[nodiscard]] std::optional<std::string> VerifyAges() const;
  [[nodiscard]] std::optional<std::string> VerifyGroups() const;
  [[nodiscard]] std::optional<std::string> VerifyInFlight() const;

  std::vector<std::uint32_t> number_of_;  // by pod
  std::vector<PodRecord> records_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> positions_;  // by record: where it is in its heap, group or list
  std::uint64_t next_sequence_ = 0;
  std::array<std::size_t, kPlaces> counts_{};

  IndexedHeap<QueueOrder> active_{positions_};
  IndexedHeap<BackoffOrder> backoff_{positions_};
  IndexedHeap<BackoffOrder> error_backoff_{positions_};
  std::vector<std::uint32_t> starving_positions_;  // by record, as far as any ever starved
  IndexedHeap<StarvingOrder> starving_{starving_positions_};
  WaitingGroups groups_{positions_};
  std::uint32_t oldest_ = kNoRecord, newest_ = kNoRecord;  // of the unschedulable
  std::vector<InFlightPod> in_flight_;
};

}  // namespace knx::engine
