// The stage for tests that tell a story about the queue: a few pods, a few plugins, and a Judge
// that answers as the story needs.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/queue.h"

namespace knx::engine::story {

using cluster::PodId;
using framework::ClusterEvent;
using framework::EventKind;
using enum QueuePlace;

inline constexpr std::uint8_t kFit = 3;
inline constexpr std::uint8_t kAffinity = 70;
inline constexpr std::uint8_t kVolumes = 200;
inline constexpr std::uint8_t kGates = 9;

inline constexpr PodId kA{0}, kB{1}, kC{2}, kD{7};

inline PluginSet Plugins(std::initializer_list<std::uint8_t> plugins) {
  PluginSet set;
  for (const std::uint8_t plugin : plugins) set.Add(plugin);
  return set;
}

inline FailedAttempt RejectedBy(std::initializer_list<std::uint8_t> plugins) {
  return {.rejected_by = Plugins(plugins)};
}

inline FailedAttempt PendingOn(std::initializer_list<std::uint8_t> plugins) {
  return {.pending_on = Plugins(plugins)};
}

inline constexpr FailedAttempt kError{.error = true};

inline ClusterEvent EventOf(EventKind kind) {
  ClusterEvent event;
  event.kind = kind;
  return event;
}

constexpr Time At(double seconds) { return {static_cast<std::int64_t>(seconds * 1e9)}; }

// Plugins as the story needs them.
class Plot final : public Queue::Judge {
 public:
  std::uint32_t ProfileOf(PodId pod) override { return profiles[pod]; }
  std::optional<std::uint8_t> Gate(PodId pod) override {
    gate_questions.push_back(pod);
    const auto it = gates.find(pod);
    return it == gates.end() ? std::nullopt : std::optional(it->second);
  }
  PluginSet Interested(PodId pod, EventKind kind) override {
    return interested[{profiles[pod], kind}];
  }
  bool MayHelp(PodId pod, std::uint8_t plugin, const ClusterEvent&) override {
    questions.emplace_back(pod, plugin);
    return !useless.contains({pod, plugin});
  }

  std::optional<Seniority> SeniorityOf(PodId pod) override {
    const auto it = seniorities.find(pod);
    return it == seniorities.end() ? std::nullopt : std::optional(it->second);
  }

  std::map<PodId, Seniority> seniorities;
  std::map<PodId, std::uint32_t> profiles;
  std::map<PodId, std::uint8_t> gates;
  std::map<std::pair<std::uint32_t, EventKind>, PluginSet> interested;
  std::set<std::pair<PodId, std::uint8_t>> useless;
  std::vector<std::pair<PodId, std::uint8_t>> questions;
  std::vector<PodId> gate_questions;
};

class QueueStory : public ::testing::Test {
 protected:
  QueueStory() {
    plot.interested[{0, EventKind::kNodeAdd}] = Plugins({kFit, kAffinity, kVolumes});
    plot.interested[{0, EventKind::kNodeLabel}] = Plugins({kAffinity});
    plot.interested[{0, EventKind::kOwnScaleDown}] = Plugins({kFit});
    plot.interested[{0, EventKind::kOwnGatesRemoved}] = Plugins({kGates});
  }
  ~QueueStory() override { EXPECT_EQ(queue->Verify(), std::nullopt); }

  void Start(Queue::Options options) { queue.emplace(options, plot); }
  void OnEvent(EventKind kind, Time now) { queue->OnEvent(EventOf(kind), now); }
  void Update(PodId pod, std::vector<EventKind> kinds, Time now, std::int32_t priority = 0) {
    std::vector<ClusterEvent> events;
    for (const EventKind kind : kinds) events.push_back(EventOf(kind));
    queue->Update(pod, priority, events, now);
  }
  QueuePlace Place(PodId pod) { return queue->Get(pod).place; }
  // Tries the pod, which must be next.
  void Fail(PodId pod, const FailedAttempt& attempt, Time now) {
    ASSERT_EQ(queue->Pop(now), pod);
    queue->Requeue(pod, attempt, now);
  }
  std::vector<PodId> PopAll(Time now) {
    std::vector<PodId> popped;
    while (const auto pod = queue->Pop(now)) popped.push_back(*pod);
    return popped;
  }

  Plot plot;
  std::optional<Queue> queue{std::in_place, Queue::Options{}, plot};
};

using Pods = std::vector<PodId>;

}  // namespace knx::engine::story
