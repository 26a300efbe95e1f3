// What decides which of two waiting pods is taken first: effective priority, then age. Effective is
// the pod's own priority plus what its tier and its waiting add; only the order of the queue knows
// of it. Whoever adds nothing, and lets the age begin anew with every attempt, has kube-scheduler's
// PrioritySort.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace knx::engine {

// What a pod counts for besides its own priority. As it is, nothing.
struct Seniority {
  // Since when it counts as waiting; nullopt: since it could first be taken.
  std::optional<Time> since = std::nullopt;
  // Its age is that time. Otherwise, unless somebody says since when, it is as old as its attempt.
  bool keeps_age = false;
  std::int32_t boost = 0;
  // Added once it has waited for so long; 0: nothing is.
  std::int32_t starved_boost = 0;
  Duration starves_after = {};
};

// Never reaches what keeps the cluster going, unless the pod does so by itself; that gets nothing.
[[nodiscard]] std::int32_t EffectivePriority(std::int32_t priority, std::int64_t boost);

// What is taken first.
struct QueueOrder {
  Time age;
  std::uint64_t sequence;
  std::int32_t priority;  // effective
  std::uint32_t number;   // of the record

  [[nodiscard]] std::uint32_t record() const { return number; }
  friend bool operator<(const QueueOrder& a, const QueueOrder& b) {
    // Without branches: which of two is less is a coin toss, and a heap asks all the time.
    const bool later_ties = (a.age.ns == b.age.ns) & (a.sequence < b.sequence);
    const bool ties = (a.priority == b.priority) & ((a.age.ns < b.age.ns) | later_ties);
    return (a.priority > b.priority) | ties;
  }
};

struct BackoffOrder {
  Time until;
  QueueOrder order;

  [[nodiscard]] std::uint32_t record() const { return order.record(); }
  friend bool operator<(const BackoffOrder& a, const BackoffOrder& b) {
    return a.until != b.until ? a.until < b.until : a.order < b.order;
  }
};

// Who has waited for too long next.
struct StarvingOrder {
  Time when;
  std::uint32_t number;

  [[nodiscard]] std::uint32_t record() const { return number; }
  friend bool operator<(const StarvingOrder& a, const StarvingOrder& b) {
    return a.when != b.when ? a.when < b.when : a.number < b.number;
  }
};

}  // namespace knx::engine
