// Answers the queue's questions by asking the plugins of the pod's profile.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_book.h"
#include "engine/queue.h"
#include "framework/profile.h"

namespace knx::engine {

class PluginJudge final : public Queue::Judge {
 public:
  PluginJudge(const cluster::State& state, const std::vector<framework::Profile>& profiles,
              const GangBook& gangs);

  // The profile of the pod's scheduler name; nullopt: not ours.
  [[nodiscard]] std::optional<std::uint32_t> FindProfile(cluster::PodId pod) const;

  std::uint32_t ProfileOf(cluster::PodId pod) override;
  std::optional<std::uint8_t> Gate(cluster::PodId pod) override;
  PluginSet Interested(cluster::PodId pod, framework::EventKind kind) override;
  bool MayHelp(cluster::PodId pod, std::uint8_t plugin,
               const framework::ClusterEvent& event) override;
  std::optional<Seniority> SeniorityOf(cluster::PodId pod) override {
    return orders_ || order_ ? OrderedBy(GangPluginOf(pod), pod) : std::nullopt;
  }
  bool GoesFirst(cluster::PodId pod) override;

  // Another order among those of a priority than age, for pods of which it says one.
  using Order = std::function<std::optional<Time>(cluster::PodId)>;
  void SetOrder(Order order) { order_ = std::move(order); }

  // Answers about one event hold for all pods of a class; call before every new event.
  void NextEvent() { answers_.clear(); }
  // Why a gate is closed, in words.
  [[nodiscard]] std::string GateReason(cluster::PodId pod) const;
  // What places gangs as wholes for the profile of the pod; nullptr: nothing does.
  [[nodiscard]] const framework::GangEntry* GangPluginOf(cluster::PodId pod) const;

 private:
  // `plugin`: of the pod's profile, or nullptr.
  [[nodiscard]] std::optional<Seniority> OrderedBy(const framework::GangEntry* plugin,
                                                   cluster::PodId pod) const;
  // Of a pod whose profile places gangs as wholes; nullptr: it is a pod like any other.
  [[nodiscard]] const WaitingGang* GangOf(cluster::PodId pod) const;
  // Whether the event may help the pod itself.
  [[nodiscard]] bool Helps(cluster::PodId pod, std::uint8_t plugin,
                           const framework::ClusterEvent& event);
  // Whether it may help who stands for its gang; others only themselves.
  [[nodiscard]] bool HelpsGangOf(cluster::PodId pod, std::uint8_t plugin,
                                 const framework::ClusterEvent& event);
  // It belongs to a gang, and another stands for the gang or nobody yet.
  [[nodiscard]] bool HeldByGang(cluster::PodId pod) const;

  const cluster::State& state_;
  const std::vector<framework::Profile>& profiles_;
  const GangBook& gangs_;
  Order order_;                                     // not set: by age
  bool orders_ = false;                             // some profile has an order of its own
  std::vector<std::vector<PluginSet>> interested_;  // by profile, by event kind
  // To the present event, for all pods of a class and kin.
  absl::flat_hash_map<std::pair<std::uint64_t, std::uint8_t>, bool> answers_;
};

}  // namespace knx::engine
