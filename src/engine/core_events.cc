// What happens in the cluster: nodes and pods come, change and go.
#include <fmt/format.h>

#include "base/shortened.h"
#include "cluster/overcommit.h"
#include "engine/core.h"
#include "engine/importance.h"
#include "k8s/drivers.h"
#include "k8s/names.h"
#include "k8s/selector.h"

namespace knx::engine {

using cluster::PodId;
using framework::ClusterEvent;
using framework::EventKind;

void Core::Handle(const Event& event, Time now) {
  Dispatch(event, now);
  SettleTouched(now);
}

void Core::Dispatch(const Event& event, Time now) {
  if (const auto* pod = std::get_if<PodUpserted>(&event)) return OnPod(pod->pod, now);
  if (const auto* done = std::get_if<ActionFinished>(&event)) return OnActionFinished(*done, now);
  if (const auto* node = std::get_if<NodeUpserted>(&event)) return OnNode(node->node, now);
  if (const auto* node = std::get_if<NodeDeleted>(&event)) return OnNodeDeleted(node->name, now);
  if (const auto* answer = std::get_if<QuestionAnswered>(&event)) return OnAnswer(*answer, now);
  if (const auto* other = std::get_if<ObjectUpserted>(&event)) return OnObject(other->object, now);
  if (const auto* other = std::get_if<ObjectDeleted>(&event)) {
    return OnObjectDeleted(other->object, now);
  }
  if (std::holds_alternative<Listed>(event)) return OnListed(now);
  if (const auto* answer = std::get_if<ExtenderAnswered>(&event)) {
    return OnExtenderAnswer(*answer, now);
  }
  if (const auto* pod = std::get_if<PodDeleted>(&event)) {
    const PodId id = state_.pods().Find(pod->uid);
    if (id.valid()) return RemovePod(id, now);
    RevisitGang(state_.RemoveFinished(pod->uid), now);
  }
}

void Core::Tell(ClusterEvent event, Time now) {
  Note(event.kind);
  judge_.NextEvent();
  if (backfill_ != nullptr) backfill_->NoteEvent();
  queue_.OnEvent(event, now);
  reservations_due_ = reservations_due_ || !reservations_.empty();
}

// ---- nodes ----

void Core::OnNode(const k8s::Node& node, Time now) {
  const cluster::NodeChange change = state_.UpsertNode(node);
  ClusterEvent event;
  event.row = state_.nodes().Find(node.meta.name);
  if (change.allocatable) YieldHolds(event.row);
  if (backfill_ != nullptr && (change.allocatable || change.labels)) {
    // What was promised there may not be had any more.
    for (const PodId id : backfill_->PromisedOn(event.row)) TryAnew(id, now);
  }
  if (change.added) {
    event.kind = EventKind::kNodeAdd;
    return Tell(event, now);
  }
  event.node_before = &change.before;
  const std::pair<bool, EventKind> changes[] = {
      {change.allocatable, EventKind::kNodeAllocatable},
      {change.labels, EventKind::kNodeLabel},
      {change.taints || change.unschedulable, EventKind::kNodeTaint},
      {change.declared_features, EventKind::kNodeDeclaredFeature},
  };
  for (const auto& [changed, kind] : changes) {
    if (!changed) continue;
    event.kind = kind;
    Tell(event, now);
  }
}

void Core::Note(EventKind kind) const {
  if (options_.observer != nullptr) options_.observer->OnEvent(kind);
}

void Core::OnNodeDeleted(const std::string& name, Time now) {
  const cluster::NodeRow row = state_.nodes().Find(name);
  if (!row.valid() || !state_.nodes().has_node(row)) return;
  YieldHolds(row, true);
  if (backfill_ != nullptr) {
    // They are promised another start when they are tried.
    for (const PodId id : backfill_->ForgetNode(row)) queue_.Activate(id, now);
  }
  const cluster::NodeChange change = state_.RemoveNode(row);
  ClusterEvent event;
  event.kind = EventKind::kNodeDelete;
  event.node_before = &change.before;
  event.row = row;
  Tell(event, now);
}

// ---- everything else ----

namespace {

// The event of an object that is new, or that is another now. Nothing if nobody waits for it.
std::optional<EventKind> EventOf(const k8s::Object& object, bool is_new) {
  const auto one = [is_new](EventKind added, EventKind updated) {
    return is_new ? added : updated;
  };
  if (std::holds_alternative<k8s::PersistentVolumeClaim>(object)) {
    return one(EventKind::kClaimAdd, EventKind::kClaimUpdate);
  }
  if (std::holds_alternative<k8s::PersistentVolume>(object)) {
    return one(EventKind::kVolumeAdd, EventKind::kVolumeUpdate);
  }
  if (std::holds_alternative<k8s::StorageClass>(object)) {
    return one(EventKind::kStorageClassAdd, EventKind::kStorageClassUpdate);
  }
  if (std::holds_alternative<k8s::CsiNode>(object)) {
    return one(EventKind::kCsiNodeAdd, EventKind::kCsiNodeUpdate);
  }
  if (std::holds_alternative<k8s::CsiStorageCapacity>(object)) {
    return one(EventKind::kCapacityAdd, EventKind::kCapacityUpdate);
  }
  if (std::holds_alternative<k8s::CsiDriver>(object) && !is_new) return EventKind::kCsiDriverUpdate;
  return std::nullopt;
}

bool IsGangObject(const k8s::Object& object) {
  return std::holds_alternative<k8s::PodGroup>(object) ||
         std::holds_alternative<k8s::GroupWorkload>(object);
}

}  // namespace

void Core::OnObject(const k8s::Object& object, Time now) {
  if (IsGangObject(object)) return OnGangObject(object, true, now);
  if (const auto* reservation = std::get_if<k8s::ResourceReservation>(&object)) {
    return OnReservation(*reservation, true, now);
  }
  const std::optional<k8s::Object> before = state_.volumes().Find(object);
  const std::uint64_t changes = state_.namespace_profile_changes();
  state_.UpsertObject(object);
  if (state_.namespace_profile_changes() != changes) ReorderPods(now);
  if (before == object) return;
  if (const std::optional<EventKind> kind = EventOf(object, !before)) {
    ClusterEvent event;
    event.kind = *kind;
    event.object = &object;
    event.object_before = before ? &*before : nullptr;
    Tell(event, now);
  }
  if (const auto* claim = std::get_if<k8s::PersistentVolumeClaim>(&object)) {
    RecheckUsersOf(*claim, now);
  }
}

void Core::OnObjectDeleted(const k8s::Object& object, Time now) {
  if (IsGangObject(object)) return OnGangObject(object, false, now);
  if (const auto* reservation = std::get_if<k8s::ResourceReservation>(&object)) {
    return OnReservation(*reservation, false, now);
  }
  state_.RemoveObject(object);
  if (!std::holds_alternative<k8s::VolumeAttachment>(object)) return;
  ClusterEvent event;
  event.kind = EventKind::kAttachmentDelete;
  event.object = &object;
  Tell(event, now);
}

void Core::ReorderPods(Time now) {
  for (const QueuePlace place :
       {QueuePlace::kActive, QueuePlace::kBackoff, QueuePlace::kErrorBackoff}) {
    for (const PodId id : queue_.List(place)) {
      queue_.Update(id, state_.pod(id).priority, {}, now);
    }
  }
}

void Core::RecheckUsersOf(const k8s::PersistentVolumeClaim& claim, Time now) {
  std::vector<PodId> waiting;
  const std::string key = cluster::ClaimKey(claim.meta.namespace_, claim.meta.name);
  for (const cluster::Volumes::User& user : state_.volumes().UsersOf(key)) {
    const auto flight = flights_.find(user.pod);
    if (flight != flights_.end() && flight->second.recheck_until) waiting.push_back(user.pod);
  }
  for (const PodId id : waiting) {
    const auto flight = flights_.find(id);
    if (flight != flights_.end() && flight->second.recheck_until) Resume(id, {true, "", true}, now);
  }
}

// ---- pods ----

Departed Core::Remember(PodId id) const {
  const cluster::Pod& pod = state_.pod(id);
  const auto requests = state_.usage_of(id).requests;
  return {pod.pod_class, pod.kin,       {requests.begin(), requests.end()},
          pod.node,      pod.nominated, pod.priority};
}

framework::PodInEvent Core::InEvent(const Departed& pod) const {
  return {&state_.classes().Get(pod.pod_class),
          pod.kin,
          pod.requests,
          pod.node,
          pod.nominated,
          pod.priority};
}

framework::PodInEvent Core::InEvent(PodId id) const {
  const cluster::Pod& pod = state_.pod(id);
  return {&state_.class_of(id), pod.kin,     state_.usage_of(id).requests, pod.node,
          pod.nominated,        pod.priority};
}

void Core::OnPod(const k8s::Pod& pod, Time now) {
  const PodId known = state_.pods().Find(pod.meta.uid);
  const bool over =
      pod.status.phase == k8s::PodPhase::kSucceeded || pod.status.phase == k8s::PodPhase::kFailed;
  if (over) {
    const bool succeeded = pod.status.phase == k8s::PodPhase::kSucceeded;
    const cluster::GangId gang = succeeded ? state_.AddFinished(pod) : cluster::GangId();
    if (succeeded && known.valid() && backfill_ != nullptr) {
      backfill_->times().NoteFinished(known, now);
    }
    known.valid() ? RemovePod(known, now) : RevisitGang(gang, now);
  } else if (known.valid() && IsAnother(known, pod)) {
    RemovePod(known, now);
    OnNewPod(pod, now);
  } else if (known.valid()) {
    OnKnownPod(known, pod, now);
  } else {
    OnNewPod(pod, now);
  }
}

// An API server changes none of it, unless its data were restored from a backup.
bool Core::IsAnother(PodId id, const k8s::Pod& pod) const {
  const cluster::Pod& known = state_.pod(id);
  if (known.terminating && !pod.meta.deleted) return true;
  if (known.node.valid() && !known.assumed) return pod.spec.node_name.empty();
  return state_.class_of(id).spec.scheduler_name != pod.spec.scheduler_name;
}

void Core::OnNewPod(const k8s::Pod& pod, Time now) {
  const PodId id = state_.AddPod(pod);
  if (backfill_ != nullptr) backfill_->times().Learn(id, pod, now);
  NoteDriver(id, pod);
  if (state_.pod(id).node.valid()) {
    ClusterEvent event;
    event.kind = EventKind::kAssignedPodAdd;
    event.pod = id;
    event.pod_now = InEvent(id);
    NoteUse(id, now);
    YieldHolds(state_.pod(id).node);
    NoteCrowd(state_.pod(id).node);
    NoteOvercommit(id);
    Tell(event, now);
    return NoteMember(id, now);
  }
  if (!IsOurs(id)) return NoteMember(id, now);
  for (const k8s::Condition& condition : pod.status.conditions) {
    if (condition.type == k8s::names::kPodScheduled && condition.status == "False") {
      conditions_[id] = {condition.reason, condition.message, 0};
    }
  }
  if (const auto* const said = backfill_ == nullptr ? nullptr : UnreadableRunTime(pod.meta)) {
    EmitEvent(id, true, k8s::names::kEventRunTime, k8s::names::kActionScheduling,
              fmt::format("annotation {} says {}, which is no time like 90m or 1h30m: it does not "
                          "count",
                          k8s::names::kExpectedDuration, Shortened(*said, kLongestValue)));
  }
  const bool alone = state_.pod(id).gang == nullptr && judge_.GangPluginOf(id) != nullptr;
  if (std::string why = alone ? cluster::WhyInNoGang(pod) : ""; !why.empty()) {
    EmitEvent(id, true, k8s::names::kEventNoGang, k8s::names::kActionScheduling, std::move(why));
  }
  Note(EventKind::kOwnAdd);
  const cluster::Pod& record = state_.pod(id);
  queue_.Add(id, record.priority, now);
  NoteMember(id, now);
  if (options_.observer == nullptr) return;
  const bool in_gang = state_.gang_of(id).valid(), as_gang = judge_.GangPluginOf(id) != nullptr;
  if (in_gang && !as_gang) options_.observer->OnIgnored(state_, id, Ignored::kGang);
  if (in_gang && as_gang && !reserving_ && k8s::IsDriver(pod.meta.labels)) {
    options_.observer->OnIgnored(state_, id, Ignored::kDriver);
  }
  const bool says_run_time =
      k8s::FindValue(pod.meta.annotations, k8s::names::kExpectedDuration) != nullptr;
  if (backfill_ == nullptr && says_run_time) {
    options_.observer->OnIgnored(state_, id, Ignored::kRunTime);
  }
}

namespace {

bool MakeRoomForGangs(const std::vector<framework::Profile>& profiles) {
  return std::any_of(profiles.begin(), profiles.end(),
                     [](const auto& profile) { return profile.gang_preemption.has_value(); });
}

}  // namespace

void Core::OnKnownPod(PodId id, const k8s::Pod& pod, Time now) {
  const Departed before = Remember(id);
  const bool was_ours = IsOurs(id);
  const bool was_assigned = before.node.valid() && !state_.pod(id).assumed;
  const cluster::GangId gang = state_.gang_of(id);
  const std::size_t were_enough = EnoughOf(gang);
  const bool stayed = was_assigned && MakeRoomForGangs(profiles_) && IsToStay(state_, id);
  state_.Hold(before.pod_class, before.kin);
  const cluster::PodChange change = state_.UpdatePod(id, pod);
  if (change.gang || change.terminating ||
      (change.labels && drivers_.Contains(id) != k8s::IsDriver(pod.meta.labels))) {
    ForgetDriver(id, now);
    NoteDriver(id, pod);
  }
  NoteUse(id, now);
  if (change.moved || change.usage) YieldHolds(state_.pod(id).node);
  const bool runs_otherwise = backfill_ != nullptr && backfill_->times().Learn(id, pod, now);
  // Another class may get the number of the one that it was in.
  const bool other_class = state_.pod(id).pod_class != before.pod_class;
  if (backfill_ != nullptr && other_class) backfill_->NoteEvent();
  if (change.terminating) GoesInAMoment(id, now) ? OnLastMoment(id, now) : OnLeaving(id, now);
  if (was_assigned) {
    OnAssignedPodChanged(id, change, before, now);
    if (stayed && !IsToStay(state_, id)) TellMayGo(id, now);
  } else if (state_.pod(id).node.valid() && !state_.pod(id).assumed) {
    OnBoundOutside(id, before, now);
  } else if (was_ours) {
    OnWaitingPodChanged(id, change, before, now);
    // Who is held back was refused by nobody but the promises to others; room may be reserved for
    // an app that it belongs to now.
    const bool said = change.labels || change.spec || change.tolerations || change.requests_lower;
    const bool held = backfill_ != nullptr && backfill_->IsHeld(WhoWaits(id, GangOf(id)));
    const bool reserved = change.labels && !reservations_.empty();
    if ((held && (said || runs_otherwise)) || reserved) TryAnew(id, now);
  }
  if (change.gang) {
    if (backfill_ != nullptr) backfill_->ForgetPlacesOf(id);
    ForgetMember(gang, id, now);
    NoteGrown(gang, were_enough, now);
    JoinOthers(id, now);
    queue_.AskGateAgain(id, now);
    // What it was refused for was its gang, or that it was in none.
    TryAnew(id, now);
    TellWhoMayGo(gang, now);
    TellWhoMayGo(state_.gang_of(id), now);
  }
  if (gang.valid() || change.gang) NoteMember(id, now);
  state_.Release(before.pod_class, before.kin);
}

// Bound: by us, as we knew, or by somebody else. What is not yet sent must not be sent any more.
void Core::OnBoundOutside(PodId id, const Departed& before, Time now) {
  const auto flight = flights_.find(id);
  const bool sent = flight != flights_.end() && flight->second.step == FlightStep::kBind;
  const bool awaited = flight != flights_.end() || queue_.Contains(id);
  if (!sent && awaited && options_.observer != nullptr) {
    options_.observer->OnForeignBind(state_, id);
  }
  const std::uint64_t departure = flight == flights_.end() ? 0 : flight->second.departure;
  if (flight != flights_.end() && !sent) {
    Unreserve(id, before.node, now);
    EndFlight(id);
  }
  if (!flights_.contains(id)) queue_.Remove(id);
  rounds_.End(id);
  conditions_.erase(id);
  failed_on_.erase(id);
  ForgetPlanFor(id, now);
  const bool elsewhere = state_.pod(id).node != before.node;
  if (elsewhere) NoteCrowd(state_.pod(id).node);
  NoteOvercommit(id);
  ClusterEvent event;
  if (elsewhere && before.node.valid()) {
    event.kind = EventKind::kAssignedPodDelete;
    event.pod_now = event.pod_before = InEvent(before);
    Tell(event, now);
    event = {};
  }
  event.kind = EventKind::kAssignedPodAdd;
  event.pod = id;
  event.pod_now = InEvent(id);
  Tell(event, now);
  if (departure != 0) {
    CancelDeparture(departure, now);
    TryAgainWith(state_.gang_of(id), now);
  }
  if (state_.pod(id).gang != nullptr) NoteGroupStarted(state_.pod(id).gang->id, now);
  if (listed_ && drivers_.Contains(id)) KeepExecutorPlaces(now);
}

void Core::NoteOvercommit(PodId id) const {
  if (options_.observer == nullptr) return;
  // Ours that are on their way do not count: they may be given up yet, or else it is they who are
  // too much, once they are bound.
  if (!cluster::IsTooMuch(state_, id, cluster::Among::kBound)) return;
  options_.observer->OnOvercommit(state_, id);
}

void Core::NoteCrowd(cluster::NodeRow row) {
  if (flights_.empty() || !cluster::IsOvercommitted(state_, row)) return;
  for (const PodId other : state_.nodes().pods(row)) {
    const auto flight = flights_.find(other);
    if (flight != flights_.end()) flight->second.crowded = true;
  }
}

// Only where somebody came in between: what a profile does not mind is not minded here either.
bool Core::IsCrowdedOut(PodId id, const Flight& flight) const {
  return flight.crowded && cluster::IsTooMuch(state_, id, cluster::Among::kAll);
}

void Core::OnAssignedPodChanged(PodId id, const cluster::PodChange& change, const Departed& before,
                                Time now) {
  ClusterEvent event;
  event.pod = id;
  event.pod_now = InEvent(id);
  event.pod_before = InEvent(before);
  if (change.labels) {
    event.kind = EventKind::kAssignedPodLabel;
    Tell(event, now);
  }
  if (change.requests_lower) {
    event.kind = EventKind::kAssignedPodScaleDown;
    Tell(event, now);
  }
}

void Core::OnWaitingPodChanged(PodId id, const cluster::PodChange& change, const Departed& before,
                               Time now) {
  // Assumed pods are ours already and on their way; their spec cannot change where they go.
  if (flights_.contains(id)) return;
  if (change.nomination && before.nominated.valid()) TellNominationGone(id, before.nominated, now);
  ClusterEvent event;
  event.pod = id;
  event.pod_now = InEvent(id);
  event.pod_before = InEvent(before);
  std::vector<ClusterEvent> events;
  const std::pair<bool, EventKind> changes[] = {
      {change.labels, EventKind::kOwnLabel},
      {change.requests_lower, EventKind::kOwnScaleDown},
      {change.tolerations, EventKind::kOwnTolerations},
      {change.gates_removed, EventKind::kOwnGatesRemoved},
  };
  for (const auto& [changed, kind] : changes) {
    event.kind = kind;
    if (changed) events.push_back(event);
  }
  if (events.empty() && change.spec) {
    event.kind = EventKind::kOwnOther;
    events.push_back(event);
  }
  for (const ClusterEvent& one : events) Note(one.kind);
  judge_.NextEvent();
  queue_.Update(id, state_.pod(id).priority, events, now);
  const WaitingGang* const waiting = gangs_.Find(GangOf(id));
  if (waiting == nullptr || !waiting->stands.valid() || waiting->stands == id) return;
  // What helps a member helps the gang.
  queue_.Update(waiting->stands, state_.pod(waiting->stands).priority, events, now);
}

void Core::RemovePod(PodId id, Time now) {
  const Departed gone = Remember(id);
  const cluster::GangId gang = state_.gang_of(id);
  const auto flight = flights_.find(id);
  const std::uint64_t departure = flight == flights_.end() ? 0 : flight->second.departure;
  if (flight != flights_.end()) {
    Unreserve(id, gone.node, now);
    EndFlight(id);
  }
  queue_.Remove(id);
  rounds_.End(id);
  conditions_.erase(id);
  failed_on_.erase(id);
  OnLeaving(id, now);
  ForgetPlanFor(id, now);
  if (!reservations_.empty()) Use(id, {}, now);
  if (backfill_ != nullptr) backfill_->Forget(id);
  ForgetDriver(id, now);
  state_.Hold(gone.pod_class, gone.kin);
  state_.RemovePod(id);
  ClusterEvent event;
  event.kind = gone.node.valid() ? EventKind::kAssignedPodDelete : EventKind::kUnassignedPodDelete;
  event.pod_now = event.pod_before = InEvent(gone);
  Tell(event, now);
  state_.Release(gone.pod_class, gone.kin);
  if (departure != 0) CancelDeparture(departure, now);
  ForgetMember(gang, id, now);
  if (departure != 0) TryAgainWith(gang, now);
}

}  // namespace knx::engine
