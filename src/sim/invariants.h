// What must be true of every run, whatever happens in it. Each invariant has a name and is computed
// from the objects in the store and from what the scheduler was told, never from its own counters.
//
// About a decision only what the scheduler knew can be held against it: a watch may be late. So a
// binding is judged by what it had been told (told_view.h), and by the truth if it had been told
// everything that concerned the node. The first violation is kept and ends the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "sim/agenda.h"
#include "sim/gang_grace.h"
#include "sim/placement_rules.h"
#include "sim/simulation.h"
#include "sim/store.h"
#include "sim/told_view.h"

namespace knx::sim {

struct InvariantInfo {
  std::string_view name, what;
};
// All of them, by name.
std::span<const InvariantInfo> InvariantList();

// Below so many nodes, and up to so many pods, everything is recounted at every step; otherwise at
// every hundredth, because a recount looks at every pod.
inline constexpr std::size_t kSmallCluster = 20;
inline constexpr std::size_t kFewPods = 300;
inline constexpr std::int64_t kStepsPerFullCheck = 100;
// A sparing check lets a step pass for so many nodes and pods that a recount looks at.
inline constexpr std::int64_t kCountedPerStep = 4;
// A run that does so many steps at one instant, and so many for each thing that may have something
// to do, goes round in circles.
inline constexpr std::int64_t kStepsAtOneTime = 10'000;
inline constexpr std::int64_t kStepsAtOneTimeForEach = 100;

class Invariants : public StoreListener {
 public:
  Invariants(const Agenda& agenda, Time begin, Store& store, const ToldView& told,
             Checking checking);

  void SetRules(Rules rules) { rules_ = std::move(rules); }
  [[nodiscard]] const Rules& rules() const { return rules_; }

  // ---- as it happens ----
  // A new scheduler: what the one before it bound is to it like what others did.
  void OnStart();
  void OnListed() { grace_.OnListed(); }
  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Node>& write) override;
  // Before the view knows of it. `told_version`: everything up to there was told.
  void OnDecision(const engine::BindPod& bind, std::uint64_t told_version);
  // The scheduler has a place for a pod and waits for something before it binds it there. This is
  // the moment at which the place must be right; what happens until the binding it could not know.
  // `together`: with others of its gang, for which it may be put back without a word, and with
  // which it is looked at once more before the first of them is bound.
  void OnHeldBack(const engine::PodRef& pod, const std::string& node, bool together,
                  std::uint64_t told_version);
  // The scheduler was asked something, and what it wants is being done.
  void AfterCall(const engine::Engine& engine, std::span<const engine::Action> actions);
  // Room is to be made: the pod must be more important than those who go, and fit without them.
  void OnPlan(const engine::PlanEvictions& plan);
  // Somebody is asked to go: a plan must say so.
  void OnEviction(const engine::EvictPod& evict);
  void OnAttemptFailed(const std::string& uid) { Release(uid); }
  // The scheduler was told that the pod is gone, which may be long after it went.
  void OnToldGone(const std::string& uid);
  // The scheduler says that it has nothing to decide about.
  void OnIdle(const engine::Engine& engine);
  // `current`: the scheduler has been told everything.
  void AfterStep(const engine::Engine* engine, bool current);
  // Nothing would change any more.
  void OnSettled(engine::Engine& engine, bool current);
  // The run ends here.
  void OnEnd(const engine::Engine& engine, bool current);

  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t full_checks() const { return full_checks_; }

 private:
  void Report(std::string_view invariant, std::string what);
  void CheckGrace(const engine::Engine& engine);
  void FullCheck(const engine::Engine& engine, bool current);
  // How many steps may pass between two recounts.
  [[nodiscard]] std::int64_t StepsPerFullCheck() const;
  void CheckProgress();
  // How many steps at the present instant could have an end.
  [[nodiscard]] std::int64_t MostStepsNow() const;
  // What happens to a pod, counted once there are suspiciously many steps at one instant.
  void NoteRound(const Write<k8s::Pod>& write);
  // The pod is held back no longer.
  void Release(const std::string& uid) {
    held_back_.erase(uid);
    together_.erase(uid);
  }
  void CheckPlacement(const engine::PodRef& pod, const std::string& node);
  void CheckAgainstTold(const engine::PodRef& pod, const std::string& node,
                        const ProfileRules& rules);
  void OnBindingArrived(const k8s::Pod& pod, std::uint64_t version);
  void CheckTruth(const k8s::Pod& pod, const ProfileRules& rules);
  // Who takes room on a node as the scheduler knows it, but for those leaving.
  [[nodiscard]] std::vector<Guest> GuestsOn(const std::string& node,
                                            const std::set<std::string>& leaving) const;
  [[nodiscard]] std::optional<std::string> ComplaintAbout(const engine::PlanEvictions& plan) const;

  const Agenda& agenda_;
  Time begin_;
  Store& store_;
  const ToldView& told_;
  Checking checking_;
  Rules rules_;
  std::map<std::string, std::uint64_t> touched_;  // node: last write that is no binding of ours
  std::map<std::string, std::uint64_t> bound_;    // node: last binding of ours
  std::map<std::string, std::uint64_t> decided_with_;  // uid: what was told when it was decided
  std::map<std::string, std::uint64_t> resized_;       // uid: last change of its requests, unbound
  struct HeldBack {
    std::string node;
    std::uint64_t told_version = 0;
  };
  std::map<std::string, HeldBack> held_back_;              // by uid
  std::set<std::string> together_;                         // of those, members of gangs
  std::set<std::pair<std::string, std::string>> planned_;  // uids of victim and preemptor
  GangGrace grace_;
  std::set<std::string> evicted_;  // uids of those asked to go
  std::int64_t steps_ = 0, full_checks_ = 0, steps_now_ = 0, last_full_check_ = 0;
  std::map<std::string, std::int64_t> rounds_;  // what happened at this instant, in words
  Time last_step_;
  std::optional<Violation> violation_;
};

}  // namespace knx::sim
