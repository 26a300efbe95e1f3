// The evictions under way, by the pod they make room for.
// All victims of a plan but the last are evicted at once; the last one follows when the others are
// done with, so that a plan that cannot be carried out spares one, and so that the pod waits until
// everything was asked for. It waits also until all victims are seen to go: tried before, it would
// find them still there, and evict others. A plan that failed is given up after a pause, and the
// pod tried again.
// Knows no queue and no state: it says what is to be done next.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "engine/actions.h"

namespace knx::engine {

class Evictions {
 public:
  struct Plan {
    cluster::PodId pod;  // that room is made for; invalid: it does not need it any more
    PodRef preemptor;
    std::string node, scheduler_name;
    std::vector<PodRef> victims;  // at least one
    std::size_t sent = 0, answered = 0;
    std::size_t seen_going = 0;  // of those that were asked to
    bool failed = false;
    std::vector<std::size_t> refused = {};  // victims that could not be evicted
  };

  using PlanId = std::uint64_t;
  // An older plan for the same pod is abandoned.
  PlanId Begin(Plan plan);
  [[nodiscard]] const Plan& at(PlanId id) const { return plans_.at(id); }

  // How many victims can be asked to go now.
  [[nodiscard]] std::size_t Sendable(PlanId id) const;
  // Names the next victim; the action that evicts it is `action`.
  void Sent(PlanId id, ActionId action);
  // A pod was asked to go, and nobody gets its room.
  void Ask(ActionId action, PodRef pod) { asked_.emplace(action, std::move(pod)); }
  // It has answered; nullopt: it was asked for the sake of another.
  std::optional<PodRef> TakeAsked(ActionId action);
  [[nodiscard]] bool Awaits(ActionId action) const {
    return awaited_.contains(action) || asked_.contains(action);
  }

  struct Answered {
    PlanId plan = 0;
    PodRef victim;
  };
  Answered OnAnswer(ActionId action, bool failed);
  // Nobody is left to be asked, and everybody has answered.
  [[nodiscard]] bool IsAnswered(PlanId id) const;
  // Nothing more is to be asked for or waited for.
  [[nodiscard]] bool IsOver(PlanId id) const;
  void End(PlanId id);

  // The pod needs no room any more. What was asked for cannot be taken back, the rest is not done.
  void Abandon(cluster::PodId pod);
  // The plans that asked a pod to go, as long as it is not seen to.
  [[nodiscard]] std::vector<PlanId> Expecting(const std::string& uid) const;
  // A pod is seen to go, or is gone: the plans that asked it to.
  std::vector<PlanId> OnGoing(const std::string& uid);
  // All victims go: nothing more need be waited for.
  [[nodiscard]] bool AllGoing(PlanId id) const {
    return plans_.at(id).seen_going == plans_.at(id).victims.size();
  }
  // Whether a plan means to evict the pod, or has: it was not refused, and is not spared.
  [[nodiscard]] bool Evicts(const std::string& uid) const;
  // Whom the plan for a pod evicts; nobody if there is none.
  [[nodiscard]] std::vector<PodRef> VictimsFor(cluster::PodId pod) const;
  // The pod could not be evicted.
  void NoteRefusal(const std::string& uid, Time now);
  // Whether it could not be, after that time; of many only the last are known.
  [[nodiscard]] bool WasRefused(const std::string& uid, Time since) const;
  // nullopt: nobody is evicted for it.
  [[nodiscard]] std::optional<PlanId> PlanFor(cluster::PodId pod) const;

  // A plan that failed, or whose victims are not seen to go, is over at `until`.
  void Pause(PlanId id, Time until) { paused_.emplace(until, id); }
  [[nodiscard]] Time NextWake() const { return paused_.empty() ? kNever : paused_.begin()->first; }
  // A plan whose pause is over.
  std::optional<PlanId> PopPaused(Time now);

  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  std::map<PlanId, Plan> plans_;
  absl::flat_hash_map<cluster::PodId, PlanId> by_pod_;
  absl::flat_hash_map<ActionId, std::pair<PlanId, std::size_t>> awaited_;  // which of its victims
  std::map<ActionId, PodRef> asked_;
  std::set<std::pair<std::string, PlanId>> expected_;  // to go, by uid: were asked to
  std::set<std::pair<Time, PlanId>> paused_;
  std::map<std::string, Time> refused_;  // when last, by uid
  PlanId last_plan_ = 0;
};

}  // namespace knx::engine
