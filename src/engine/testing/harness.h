// An engine with the default profile and an API server that does what it is told, for tests.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/testing/builders.h"
#include "engine/engine.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "plugins/registry.h"

namespace knx::engine::testing {

inline std::vector<framework::Profile> ProfilesOf(const framework::SchedulerConfiguration& config) {
  auto profiles = framework::BuildProfiles(config, plugins::AllPlugins());
  KNX_CHECK(profiles.ok(), profiles.ok() ? "" : profiles.error().message);
  return *std::move(profiles);
}

inline std::vector<framework::Profile> DefaultProfiles() {
  return ProfilesOf(framework::DefaultConfiguration());
}

// The same with gangs placed as wholes; `args`: of the plugin, "graceSeconds: 5".
inline std::vector<framework::Profile> GangProfiles(const std::string& args = "") {
  const auto config = framework::ReadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- schedulerName: default-scheduler\n"
      "  plugins: {queueSort: {enabled: [{name: Coscheduling}]}}\n"
      "  pluginConfig: [{name: Coscheduling, args: {" +
          args + "}}]\n",
      "gangs.yaml");
  KNX_CHECK(config.ok(), config.ok() ? "" : config.error().message);
  return ProfilesOf(*config);
}

// One profile with these plugins beside the usual ones; `plugin_config`: "{name: ..., args:
// {...}}".
inline framework::SchedulerConfiguration ConfigurationWith(const std::vector<std::string>& plugins,
                                                           const std::string& plugin_config = "") {
  std::string enabled;
  for (const std::string& plugin : plugins) enabled += fmt::format("{{name: {}}}, ", plugin);
  auto config =
      framework::ReadConfiguration(fmt::format("apiVersion: kubescheduler.config.k8s.io/v1\n"
                                               "kind: KubeSchedulerConfiguration\n"
                                               "profiles:\n"
                                               "- schedulerName: default-scheduler\n"
                                               "  plugins: {{multiPoint: {{enabled: [{}]}}}}\n"
                                               "  pluginConfig: [{}]\n",
                                               enabled, plugin_config),
                                   "config.yaml");
  KNX_CHECK(config.ok(), config.ok() ? "" : config.error().message);
  return *std::move(config);
}

inline std::vector<framework::Profile> ProfilesWith(const std::vector<std::string>& plugins,
                                                    const std::string& plugin_config = "") {
  return ProfilesOf(ConfigurationWith(plugins, plugin_config));
}

// Gangs placed as wholes, and reservations kept.
inline std::vector<framework::Profile> ReservingProfiles() {
  return ProfilesWith({"Coscheduling", "ResourceReservation"},
                      "{name: ResourceReservation, args: {durationSeconds: 100}}");
}

class Harness {
 public:
  explicit Harness(EngineOptions options = {},
                   std::vector<framework::Profile> profiles = DefaultProfiles())
      : engine_(std::make_unique<Engine>(std::move(options), std::move(profiles))) {}

  Engine& engine() { return *engine_; }
  [[nodiscard]] Time now() const { return now_; }

  void Node(const k8s::Node& node) { engine_->Handle(NodeUpserted{node}, now_); }
  void NodeGone(const std::string& name) { engine_->Handle(NodeDeleted{name}, now_); }
  void Pod(const k8s::Pod& pod) { engine_->Handle(PodUpserted{pod}, now_); }
  void Object(k8s::Object object) { engine_->Handle(ObjectUpserted{std::move(object)}, now_); }
  void ObjectGone(k8s::Object object) { engine_->Handle(ObjectDeleted{std::move(object)}, now_); }
  void PodGone(const std::string& name) { engine_->Handle(PodDeleted{"uid-" + name}, now_); }

  void Listed() { engine_->Handle(engine::Listed{}, now_); }

  // Decides about everything there is to decide about and keeps the actions.
  void Schedule() {
    while (engine_->ScheduleOne(now_)) {
      if (extender_) Collect();
    }
    Collect();
  }
  // Decides, and answers every binding with success, until nothing is left to do.
  void ScheduleAndBind() {
    Schedule();
    while (!bindings_.empty()) FinishBinding(bindings_.begin()->first);
    Collect();
  }
  void Pass(Duration time) {
    const Time until = now_ + time;
    while (engine_->NextWake() <= until) {
      now_ = std::max(now_, engine_->NextWake());
      engine_->Advance(now_);
      Schedule();
    }
    now_ = until;
    engine_->Advance(now_);
    Schedule();
  }

  // The binding of a pod that nobody answered yet.
  void FinishBinding(std::string pod, std::optional<std::string> failure = std::nullopt) {
    const ActionId action = bindings_.at(pod);
    bindings_.erase(pod);
    if (!failure) bound_[pod] = sent_to_.at(pod);
    engine_->Handle(ActionFinished{action, std::move(failure)}, now_);
    Collect();
  }
  // Of a pod whose binding nobody answered yet.
  [[nodiscard]] bool IsWanted(const std::string& pod) const {
    return engine_->IsWanted(bindings_.at(pod));
  }
  // The eviction of a pod that nobody answered yet. Without a failure the pod is gone at once.
  void FinishEviction(const std::string& pod, std::optional<std::string> failure = std::nullopt) {
    if (!failure) PodGone(pod);
    AnswerEviction(pod, std::move(failure));
  }
  // The same of a pod that goes when it likes.
  void AnswerEviction(const std::string& pod, std::optional<std::string> failure = std::nullopt) {
    const ActionId action = evictions_.at(pod);
    evictions_.erase(pod);
    engine_->Handle(ActionFinished{action, std::move(failure)}, now_);
    Collect();
  }
  // From here on nobody answers for a status that is to be written, until they are let go.
  void HoldPatches() { hold_patches_ = true; }
  void LetPatchesGo() {
    hold_patches_ = false;
    for (const ActionId action : std::exchange(held_, {})) {
      engine_->Handle(ActionFinished{action, std::nullopt}, now_);
    }
    Collect();
  }
  void Answer(ActionId action, framework::Answer answer) {
    engine_->Handle(QuestionAnswered{action, std::move(answer)}, now_);
    Collect();
  }

  void Answer(ActionId action, ExtenderAnswer answer) {
    engine_->Handle(ExtenderAnswered{action, std::move(answer)}, now_);
    Collect();
  }

  // From here on every extender answers so, at once.
  using Extender = std::function<ExtenderAnswer(const AskExtender& ask)>;
  void AnswerAtOnce(Extender extender) { extender_ = std::move(extender); }

  // Where a pod was bound, or is being bound to; "" if nowhere.
  std::string NodeOf(const std::string& pod) {
    Collect();
    const auto it = sent_to_.find(pod);
    return it == sent_to_.end() ? "" : it->second;
  }
  std::string Why(const std::string& pod) { return engine_->WhyWaiting("uid-" + pod); }
  [[nodiscard]] QueuePlace PlaceOf(const std::string& pod) const {
    return engine_->queue().Get(engine_->state().pods().Find("uid-" + pod)).place;
  }
  // Who is asked to go and did not yet, by name.
  std::vector<std::string> evictions() {
    Collect();
    std::vector<std::string> names;
    for (const auto& [name, action] : evictions_) names.push_back(name);
    return names;
  }
  const std::vector<std::string>& notes() { return notes_; }  // of all events, in order
  const std::vector<PatchPodStatus>& patches() { return patches_; }
  const std::vector<PlanEvictions>& plans() { return plans_; }
  // Statuses of reservations that were to be written, in order; nobody reports back by himself.
  const std::vector<std::pair<ActionId, PatchReservation>>& reservations() { return reservations_; }
  // Conditions of PodGroups likewise.
  const std::vector<std::pair<ActionId, PatchPodGroup>>& groups() {
    Collect();
    return groups_;
  }
  const std::vector<std::pair<ActionId, AskOutside>>& questions() { return questions_; }
  // Of extenders, all that were ever asked.
  const std::vector<std::pair<ActionId, AskExtender>>& asked() { return asked_; }

 private:
  void Collect() {
    for (Action& action : engine_->TakeActions()) {
      if (auto* bind = std::get_if<BindPod>(&action.what)) {
        bindings_[bind->pod.name] = action.id;
        sent_to_[bind->pod.name] = bind->node;
      } else if (auto* patch = std::get_if<PatchPodStatus>(&action.what)) {
        patches_.push_back(*patch);
        if (hold_patches_) {
          held_.push_back(action.id);
        } else {
          engine_->Handle(ActionFinished{action.id, std::nullopt}, now_);
        }
      } else if (auto* event = std::get_if<RecordEvent>(&action.what)) {
        notes_.push_back(event->reason + ": " + event->note);
      } else if (auto* question = std::get_if<AskOutside>(&action.what)) {
        questions_.emplace_back(action.id, *question);
      } else if (auto* ask = std::get_if<AskExtender>(&action.what)) {
        asked_.emplace_back(action.id, *ask);
        if (extender_) Answer(action.id, extender_(*ask));
      } else if (auto* by = std::get_if<BindByExtender>(&action.what)) {
        bindings_[by->pod.name] = action.id;
        sent_to_[by->pod.name] = fmt::format("extender {}: {}", by->extender, by->node);
      } else if (auto* plan = std::get_if<PlanEvictions>(&action.what)) {
        plans_.push_back(*plan);
      } else if (auto* evict = std::get_if<EvictPod>(&action.what)) {
        evictions_[evict->pod.name] = action.id;
      } else if (auto* reservation = std::get_if<PatchReservation>(&action.what)) {
        reservations_.emplace_back(action.id, *reservation);
      } else if (auto* group = std::get_if<PatchPodGroup>(&action.what)) {
        groups_.emplace_back(action.id, *group);
      }
    }
  }

  std::unique_ptr<Engine> engine_;
  Time now_{1'700'000'000'000'000'000};
  std::map<std::string, ActionId> bindings_, evictions_;
  std::map<std::string, std::string> sent_to_, bound_;
  std::vector<std::string> notes_;
  std::vector<PatchPodStatus> patches_;
  std::vector<PlanEvictions> plans_;
  std::vector<std::pair<ActionId, PatchReservation>> reservations_;
  std::vector<std::pair<ActionId, PatchPodGroup>> groups_;
  bool hold_patches_ = false;
  std::vector<ActionId> held_;
  std::vector<std::pair<ActionId, AskOutside>> questions_;
  std::vector<std::pair<ActionId, AskExtender>> asked_;
  Extender extender_;
};

}  // namespace knx::engine::testing
