#include "live/narrator.h"

#include <utility>

#include "engine/gang_book.h"

namespace knx::live {
namespace {

std::string_view TextOf(engine::Ignored what) {
  switch (what) {
    case engine::Ignored::kGang:
      return "Pods of gangs are placed one by one, because their profile lacks Coscheduling";
    case engine::Ignored::kDriver:
      return "No room is kept for pods that drivers make, because no profile has "
             "ResourceReservation";
    case engine::Ignored::kRunTime:
      break;
  }
  return "No starts are promised by what pods say of their run time, because no profile has "
         "BackfillScoring";
}

using engine::AttemptResult;
using observe::ObjectName;

// What becomes of every pod.
constexpr int kEveryPod = 2;

ObjectName NameIn(const cluster::State& state, cluster::PodId pod) {
  return {state.words().Text(state.pod(pod).namespace_), state.pod(pod).name};
}

ObjectName NameIn(const engine::PodRef& pod) { return {pod.namespace_, pod.name}; }

// Once is enough: which right is missing, the client says.
bool IsForbidden(const Status& outcome) {
  return !outcome.ok() && outcome.error().kind == ErrorKind::kForbidden;
}

// "/api/v1/pods" is about pods.
std::string_view ResourceOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Narrator::~Narrator() {
  for (std::size_t call = 0; call < unanswered_.size(); ++call) {
    for (; unanswered_[call] > 0; --unanswered_[call]) {
      metrics_.CallGivenUp(static_cast<observe::ApiCall>(call));
    }
  }
}

// ---- around calls of the engine ----

void Narrator::Handled(Time began) {
  if (event_) metrics_.EventHandled(*event_, clock_.now() - began);
  event_.reset();
}

void Narrator::Decided(Time began) {
  const Duration took = clock_.now() - began;
  metrics_.Decided(took);
  if (std::exchange(gang_, false)) metrics_.GangDecided(took);
  event_.reset();
}

// ---- writes ----

Narrator::Done Narrator::Timed(observe::ApiCall call, Done done) {
  metrics_.CallBegan(call);
  ++unanswered_[static_cast<std::size_t>(call)];
  return [this, call, began = clock_.now(), done = std::move(done)](const Status& outcome) {
    metrics_.CallEnded(call, outcome.ok(), clock_.now() - began);
    --unanswered_[static_cast<std::size_t>(call)];
    forbidden_ = IsForbidden(outcome);
    done(outcome);
    forbidden_ = false;
  };
}

void Narrator::StatusWritten(const engine::PodRef& pod, const Status& outcome) {
  if (outcome.ok() || IsForbidden(outcome)) return;
  log_.Error("Could not write the status of a pod",
             {{"err", outcome.error().message}, {"pod", NameIn(pod)}});
}

void Narrator::GroupStatusWritten(const engine::PatchPodGroup& patch, const Status& outcome) {
  // One that is gone needs none.
  if (outcome.ok() || IsForbidden(outcome)) return;
  if (outcome.error().kind == ErrorKind::kNotFound) return;
  log_.Error(
      "Could not write the status of a pod group",
      {{"err", outcome.error().message}, {"podGroup", ObjectName{patch.namespace_, patch.name}}});
}

void Narrator::EvictionsPlanned(const engine::PlanEvictions& plan) {
  log_.Info(kEveryPod, "Pods have to go for a more important one",
            {{"preemptor", NameIn(plan.preemptor)},
             {"node", plan.node},
             {"victims", plan.victims.size()}});
}

void Narrator::Evicted(const engine::EvictPod& evict, const Status& outcome) {
  const ObjectName victim = NameIn(evict.pod);
  const observe::LogField why = evict.preemptor
                                    ? observe::LogField{"preemptor", NameIn(*evict.preemptor)}
                                    : observe::LogField{"reason", evict.message};
  if (outcome.ok()) {
    log_.Info(kEveryPod, "Evicted pod", {why, {"victim", victim}});
  } else if (outcome.error().kind == ErrorKind::kNotFound) {
    log_.Info(kEveryPod, "A pod that had to go is gone already", {why, {"victim", victim}});
  } else if (!IsForbidden(outcome)) {
    log_.Error("Could not evict pod", {{"err", outcome.error().message}, why, {"victim", victim}});
  }
}

void Narrator::EventWritten(const Status& outcome) {
  if (outcome.ok() || IsForbidden(outcome)) return;
  log_.Error("Could not write an event", {{"err", outcome.error().message}});
}

void Narrator::EventDropped() {
  metrics_.EventDropped();
  log_.Error("Events are dropped", {{"err", "the API server is too slow"}});
}

// ---- watches ----

void Narrator::WatchOpened(std::string_view path, bool everything) {
  metrics_.WatchOpened(ResourceOf(path), everything);
}

void Narrator::WatchFailed(std::string_view path) { metrics_.WatchFailed(ResourceOf(path)); }

void Narrator::WatchTrouble(std::string_view path, const Error& error) {
  log_.Error("Watch failed", {{"err", error.ToString()}, {"path", path}});
}

void Narrator::ObjectRefused(const k8s::RefusedObject& object, bool news) {
  metrics_.ObjectRefused(object.kind);
  if (!news) return;
  // Where in the bytes that came it stands is of no use to anybody: the field is named.
  log_.Error("Left out an object that cannot be understood",
             {{"err", object.why.message},
              {"kind", object.kind},
              {"object", ObjectName{object.namespace_, object.name}}});
}

void Narrator::Synced(std::size_t nodes, std::size_t pods) {
  log_.Info(0, "Knows the cluster", {{"nodes", nodes}, {"pods", pods}});
}

// ---- engine::Observer ----

void Narrator::OnAttempt(const cluster::State& state, const engine::EndedAttempt& attempt) {
  const Time now = clock_.now();
  metrics_.AttemptEnded(state.class_of(attempt.pod).spec.scheduler_name, attempt,
                        now - attempt.began, now - attempt.ready);
  if (attempt.result == AttemptResult::kError && forbidden_) {
    log_.Info(kEveryPod, "Not allowed to schedule pod; it will be tried again",
              {{"err", attempt.message}, {"pod", NameIn(state, attempt.pod)}});
  } else if (attempt.result == AttemptResult::kError && state.pod(attempt.pod).node.valid()) {
    log_.Error("The binding of a pod failed, and it is bound all the same",
               {{"err", attempt.message}, {"pod", NameIn(state, attempt.pod)}});
  } else if (attempt.result == AttemptResult::kError) {
    log_.Error("Could not schedule pod; it will be tried again",
               {{"err", attempt.message}, {"pod", NameIn(state, attempt.pod)}});
  } else if (attempt.result == AttemptResult::kUnschedulable) {
    log_.Info(kEveryPod, "No node takes the pod; it waits",
              {{"pod", NameIn(state, attempt.pod)}, {"err", attempt.message}});
  } else {
    log_.Info(kEveryPod, "Bound pod",
              {{"pod", NameIn(state, attempt.pod)},
               {"node", state.nodes().name(state.pod(attempt.pod).node)},
               {"attempts", attempt.number}});
  }
}

void Narrator::OnGang(const cluster::State& state, const engine::GangReport& report) {
  const cluster::Gang& gang = state.gangs().Get(report.gang);
  metrics_.GangEnded(state.words().Text(gang.namespace_), report);
  if (report.outcome == engine::GangOutcome::kBound) return;
  constexpr std::string_view kMessages[] = {"Placed gang", "", "Gang waits for its members",
                                            "Gang waits for room", "Gang is incomplete"};
  log_.Info(report.outcome == engine::GangOutcome::kIncomplete ? 0 : kEveryPod,
            kMessages[static_cast<std::size_t>(report.outcome)],
            {{"gang", engine::GangName(state, report.gang)},
             {"minimum", gang.awaits_object() ? 0 : gang.minimum},
             {"placed", gang.placed},
             {"pods", report.pods},
             {"attempts", report.attempts}});
}

void Narrator::OnGangAttempt(const cluster::State& state, const engine::GangAttempt& attempt) {
  gang_ = true;
  metrics_.GangAttemptEnded(state.class_of(attempt.pod).spec.scheduler_name, attempt.result,
                            clock_.now() - attempt.began);
}

void Narrator::OnIgnored(const cluster::State& state, cluster::PodId pod, engine::Ignored what) {
  const std::string& profile = state.class_of(pod).spec.scheduler_name;
  if (!ignored_.emplace(what, profile).second) return;
  log_.Info(0, TextOf(what), {{"profile", profile}, {"pod", NameIn(state, pod)}});
}

void Narrator::OnBackfill(const cluster::State& state, const engine::BackfillReport& report) {
  metrics_.Backfilled(report);
  if (report.outcome != engine::BackfillOutcome::kStarted) return;
  log_.Info(kEveryPod, "Started what was promised a start",
            {{"pod", NameIn(state, report.pod)},
             {"late", report.late ? FormatDuration(*report.late) : "no time was promised"}});
}

void Narrator::OnForeignBind(const cluster::State& state, cluster::PodId pod) {
  metrics_.BoundByOthers();
  log_.Info(0, "Somebody else bound a pod of ours",
            {{"pod", NameIn(state, pod)}, {"node", state.nodes().name(state.pod(pod).node)}});
}

void Narrator::OnOvercommit(const cluster::State& state, cluster::PodId pod) {
  metrics_.Overcommitted();
  log_.Info(0, "A pod is bound to a node that has less than its pods ask for",
            {{"node", state.nodes().name(state.pod(pod).node)}, {"pod", NameIn(state, pod)}});
}

}  // namespace knx::live
