// Making room for a pod: saying who has to go, taking back what was not bound yet, evicting the
// rest, and letting the pod try again when that is done.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

std::vector<PodId> EvictedBy(const Placement& placement) {
  std::vector<PodId> all = placement.victims;
  all.insert(all.end(), placement.along.begin(), placement.along.end());
  return all;
}

// These may name any pod of the node, as with kube-scheduler, and answer for it.
bool NameVictims(const std::vector<framework::Extender>& extenders) {
  return std::any_of(extenders.begin(), extenders.end(),
                     [](const auto& extender) { return !extender.preempt_verb.empty(); });
}

}  // namespace

void Core::AnnouncePlan(PodId id, const Placement& placement, Time now) {
  for (const PodId victim : EvictedBy(placement)) {
    // Or two could evict each other in turn, for ever.
    KNX_CHECK(
        state_.pod(victim).priority < state_.pod(id).priority || NameVictims(options_.extenders),
        "a pod is evicted for one that is no more important");
  }
  PlanEvictions announced{RefTo(id), state_.nodes().name(placement.nominated), {}};
  Evictions::Plan plan{.pod = id,
                       .preemptor = RefTo(id),
                       .node = announced.node,
                       .scheduler_name = state_.class_of(id).spec.scheduler_name,
                       .victims = {}};
  for (const PodId victim : placement.victims) announced.victims.push_back(RefTo(victim));
  for (const PodId victim : placement.along) announced.along.push_back(RefTo(victim));
  const bool minds_gangs = ProfileOf(id).gang_preemption.has_value();
  std::vector<PodId> asked;
  for (const PodId victim : EvictedBy(placement)) {
    // Who is on its way out already need not be asked again.
    const cluster::Pod& pod = state_.pod(victim);
    if (minds_gangs ? pod.leaves() : pod.terminating) continue;
    if (CanBeTakenBack(victim)) continue;
    plan.victims.push_back(RefTo(victim));
    asked.push_back(victim);
  }
  Emit(std::move(announced));
  if (asked.empty()) return;
  const std::vector<PodRef> before = evictions_.VictimsFor(id);
  evictions_.Begin(std::move(plan));
  for (const PodId victim : asked) state_.SetEvicted(victim, true);
  for (const PodId victim : asked) RevisitGang(state_.gang_of(victim), now);
  SpareThose(before, now);
  // A gang waits as a whole.
  if (!GangOf(id).valid()) state_.SetMakingRoom(id, true);
}

void Core::CarryOutPlan(PodId id, const Placement& placement, Time now) {
  ClearLowerNominations(id, placement.nominated, now);
  const std::string plugin(ProfileOf(id).plugins[placement.preempted_by]->name());
  for (const PodId victim : EvictedBy(placement)) {
    if (!state_.pod(victim).terminating && CanBeTakenBack(victim)) {
      TakeBack(victim, id, plugin, now);
    }
  }
  if (const auto plan = evictions_.PlanFor(id)) SendEvictions(*plan, now);
}

bool Core::CanBeTakenBack(PodId id) const {
  const auto flight = flights_.find(id);
  return flight != flights_.end() && flight->second.step != FlightStep::kBind;
}

void Core::TakeBack(PodId victim, PodId preemptor, std::string_view plugin, Time now) {
  const framework::Profile& profile = ProfileOf(victim);
  const Flight& flight = flights_.at(victim);
  std::string message = fmt::format("preempted by {}", plugin);
  if (flight.step == FlightStep::kPermit) {
    message = "waiting on permit for pod: preempted";
  } else if (flight.step == FlightStep::kPreBind) {
    const std::uint8_t waits_for = profile.pre_bind[flight.plugin].index;
    message = fmt::format("running PreBind plugin \"{}\": {}", profile.plugins[waits_for]->name(),
                          message);
  }
  Emit(RecordEvent{
      RefTo(victim), false, std::string(names::kEventPreempted),
      std::string(names::kActionPreempting),
      fmt::format("Preempted by pod {} on node {} (in kube-scheduler memory).",
                  state_.pod(preemptor).uid, state_.nodes().name(state_.pod(victim).node)),
      state_.class_of(preemptor).spec.scheduler_name, RefTo(preemptor)});
  FailedAttempt attempt;
  attempt.error = true;
  FailOnNode(victim, attempt, message, now);
}

// They may not fit any more once the more important pod is there; they had better look elsewhere.
// Who comes with it was planned beside it.
void Core::ClearLowerNominations(PodId preemptor, NodeRow row, Time now) {
  const GangId gang = GangOf(preemptor);
  const std::vector<PodId> nominated(state_.nominated(row).begin(), state_.nominated(row).end());
  for (const PodId other : nominated) {
    if (state_.pod(other).priority >= state_.pod(preemptor).priority) continue;
    if (gang.valid() && GangOf(other) == gang) continue;
    state_.ClearNomination(other);
    Emit(ClearNomination{RefTo(other)});
    TellNominationGone(other, row, now);
  }
}

void Core::SendEvictions(Evictions::PlanId id, Time now) {
  for (std::size_t left = evictions_.Sendable(id); left > 0; --left) {
    const Evictions::Plan& plan = evictions_.at(id);
    const ActionId action = Emit(EvictPod{
        plan.victims[plan.sent], plan.preemptor, std::string(names::kReasonPreemption),
        fmt::format("{}: preempting to accommodate a higher priority pod", plan.scheduler_name)});
    evictions_.Sent(id, action);
    answer_deadlines_.emplace_back(now + options_.max_wait, action);
  }
}

void Core::OnEvictionFinished(const ActionFinished& finished, Time now) {
  if (const std::optional<PodRef> asked = evictions_.TakeAsked(finished.action)) {
    // Who does not go is asked again when its gang has had another grace.
    if (finished.failure) SpareThose({*asked}, now);
    return DropAnswered();
  }
  const auto [id, victim] = evictions_.OnAnswer(finished.action, finished.failure.has_value());
  const Evictions::Plan& plan = evictions_.at(id);
  if (finished.failure) {
    Emit(RecordEvent{plan.preemptor, true, std::string(names::kEventFailedPreemption),
                     std::string(names::kActionPreempting),
                     fmt::format("evicting {}/{} from node {}: {}", victim.namespace_, victim.name,
                                 plan.node, *finished.failure),
                     plan.scheduler_name, victim});
  } else if (!finished.missing) {
    Emit(RecordEvent{victim, false, std::string(names::kEventPreempted),
                     std::string(names::kActionPreempting),
                     fmt::format("Preempted by pod {} on node {}", plan.preemptor.uid, plan.node),
                     plan.scheduler_name, plan.preemptor});
  }
  // The answer may come after the news.
  const PodId evicted = state_.pods().Find(victim.uid);
  const bool goes = evicted.valid() && state_.pod(evicted).terminating;
  if (!evicted.valid() || (goes && !GoesInAMoment(evicted, now))) {
    NoteGoing(victim.uid, id, now);
  }
  if (finished.failure) {
    evictions_.NoteRefusal(victim.uid, now);
    SpareThose(std::vector<PodRef>(plan.victims), now);
  }
  SendEvictions(id, now);
  if (!evictions_.IsAnswered(id)) return;
  // An API server that refuses is not asked again at once.
  if (plan.failed && plan.pod.valid()) {
    return evictions_.Pause(id, now + options_.queue.initial_backoff);
  }
  if (evictions_.IsOver(id)) return EndPlan(id, now);
  AwaitVictims(id, now);
}

bool Core::GoesInAMoment(PodId id, Time now) const {
  return state_.pod(id).terminating && state_.pod(id).leaves_by <= now;
}

void Core::OnLastMoment(PodId id, Time now) {
  for (const Evictions::PlanId plan : evictions_.Expecting(state_.pod(id).uid)) {
    if (evictions_.IsAnswered(plan)) AwaitVictims(plan, now);
  }
}

void Core::AwaitVictims(Evictions::PlanId id, Time now) {
  constexpr Duration kMoment = Duration::Seconds(1);
  const std::vector<PodRef>& victims = evictions_.at(id).victims;
  const bool all_go = std::all_of(victims.begin(), victims.end(), [this](const PodRef& victim) {
    const PodId pod = state_.pods().Find(victim.uid);
    return !pod.valid() || state_.pod(pod).terminating;
  });
  evictions_.Pause(id, now + (all_go ? kMoment : options_.max_wait));
}

void Core::EndPlan(Evictions::PlanId id, Time now) {
  const PodId pod = evictions_.at(id).pod;
  const bool failed = evictions_.at(id).failed;
  // Who was asked and is not seen to go in all that time does not.
  const bool in_vain = pod.valid() && !failed && !evictions_.AllGoing(id);
  const std::vector<PodRef> victims = in_vain ? evictions_.VictimsFor(pod) : std::vector<PodRef>();
  evictions_.End(id);
  SpareThose(victims, now);
  if (!pod.valid()) return;
  state_.SetMakingRoom(pod, false);
  // Its gang may hold it still.
  failed && !GangOf(pod).valid() ? queue_.Activate(pod, now) : queue_.AskGateAgain(pod, now);
  NoteMember(pod, now);
}

void Core::OnLeaving(PodId id, Time now) {
  if (evictions_.size() > 0) NoteGoing(state_.pod(id).uid, std::nullopt, now);
}

// Several may have asked it to.
void Core::NoteGoing(const std::string& uid, std::optional<Evictions::PlanId> answered, Time now) {
  for (const Evictions::PlanId plan : evictions_.OnGoing(uid)) {
    const PodId waits = evictions_.at(plan).pod;
    if (waits.valid() && evictions_.AllGoing(plan)) {
      state_.SetMakingRoom(waits, false);
      SettleGang(state_.gang_of(waits), now);
    }
    if (plan != answered && evictions_.IsOver(plan)) EndPlan(plan, now);
  }
}

void Core::ForgetPlanFor(PodId id, Time now) {
  state_.SetMakingRoom(id, false);
  if (!evictions_.PlanFor(id)) return;
  const std::vector<PodRef> victims = evictions_.VictimsFor(id);
  evictions_.Abandon(id);
  SpareThose(victims, now);
}

// ---- who leaves ----

void Core::SpareThose(const std::vector<PodRef>& victims, Time now) {
  for (const PodRef& victim : victims) {
    const PodId id = state_.pods().Find(victim.uid);
    if (!id.valid() || state_.pod(id).terminating || !state_.pod(id).evicted) continue;
    if (evictions_.Evicts(victim.uid)) continue;
    state_.SetEvicted(id, false);
    RevisitGang(state_.gang_of(id), now);
    const auto nominated = state_.nominated(state_.pod(id).node);
    for (const PodId comer : std::vector<PodId>(nominated.begin(), nominated.end())) {
      // What stands for pods to come is planned with who makes them.
      if (!queue_.Contains(comer) || !ProfileOf(comer).gang_preemption) continue;
      const WaitingGang* const waiting = gangs_.Find(GangOf(comer));
      const PodId tried = waiting == nullptr ? comer : waiting->stands;
      const bool waits = tried.valid() && queue_.Get(tried).place != QueuePlace::kInFlight;
      if (waits) queue_.Activate(tried, now);
    }
  }
}

void Core::TellNominationGone(PodId id, NodeRow row, Time now) {
  framework::ClusterEvent event;
  event.kind = framework::EventKind::kUnassignedPodDelete;
  event.pod = id;
  event.pod_now = InEvent(id);
  event.pod_now.node = NodeRow{};
  event.pod_now.nominated = row;
  event.pod_before = event.pod_now;
  Tell(event, now);
}

}  // namespace knx::engine
