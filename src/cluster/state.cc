#include "cluster/state.h"

#include <algorithm>

#include "base/check.h"
#include "k8s/kind_name.h"
#include "k8s/names.h"
#include "k8s/owner.h"

namespace knx::cluster {
namespace {

// Whether it has to go because a scheduler, this one or another, made room for somebody else.
bool IsPreempted(const k8s::Pod& pod) {
  if (!pod.meta.deleted) return false;
  for (const k8s::Condition& condition : pod.status.conditions) {
    if (condition.type != k8s::names::kDisruptionTarget) continue;
    return condition.status == "True" && condition.reason == k8s::names::kReasonPreemption;
  }
  return false;
}

bool TakesLess(std::span<const ResourceAmount> now, std::span<const ResourceAmount> before) {
  return std::any_of(before.begin(), before.end(), [&](const ResourceAmount& entry) {
    return AmountOf(now, entry.id) < entry.amount;
  });
}

}  // namespace

State::State() = default;
State::~State() = default;

// ---- nodes ----

NodeFacts State::MakeFacts(const k8s::Node& node) {
  NodeFacts facts;
  for (const auto& [key, value] : node.meta.labels) {
    facts.labels.emplace_back(words_.Intern(key), words_.Intern(value));
  }
  std::sort(facts.labels.begin(), facts.labels.end());
  facts.taints = taint_sets_.Intern(node.taints);
  facts.unschedulable = node.unschedulable;
  facts.allocatable = ToResourceVector(node.allocatable, resource_names_);
  for (const std::string& feature : node.declared_features) {
    facts.declared_features.push_back(words_.Intern(feature));
  }
  std::sort(facts.declared_features.begin(), facts.declared_features.end());
  facts.declared_features.erase(
      std::unique(facts.declared_features.begin(), facts.declared_features.end()),
      facts.declared_features.end());
  return facts;
}

std::vector<ImageId> State::ImagesOf(const k8s::Node& node) {
  std::vector<std::pair<std::string_view, std::int64_t>> named;
  for (const k8s::ContainerImage& image : node.images) {
    for (const std::string& name : image.names) named.emplace_back(name, image.size_bytes);
  }
  // Stable, so that of two sizes for one name the first wins.
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ImageId> out;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (i > 0 && named[i].first == named[i - 1].first) continue;
    out.push_back(images_.AddToNode(named[i].first, named[i].second));
  }
  std::sort(out.begin(), out.end());
  return out;
}

NodeChange State::UpsertNode(const k8s::Node& node) {
  KNX_CHECK(!recording(), "a node changed while a plan was open");
  const NodeRow row = nodes_.RowFor(node.meta.name);
  NodeChange change;
  change.added = !nodes_.has_node(row);
  NodeFacts facts = MakeFacts(node);
  const NodeFacts& before = nodes_.facts(row);
  const std::vector<ImageId> images_before = before.images;
  const std::uint64_t image_version = images_.version();
  // Taken off first, so that a node that is alone with an image renews its size.
  for (const ImageId image : images_before) images_.RemoveFromNode(image);
  facts.images = ImagesOf(node);
  if (!change.added) {
    change.allocatable = facts.allocatable != before.allocatable;
    change.labels = facts.labels != before.labels;
    change.taints = facts.taints != before.taints;
    change.unschedulable = facts.unschedulable != before.unschedulable;
    change.images = facts.images != before.images;
    change.declared_features = facts.declared_features != before.declared_features;
  } else {
    change.images = images_.version() != image_version;
  }
  change.before = nodes_.SetFacts(row, std::move(facts));
  if (change.any()) fact_changes_.Append(row);
  return change;
}

NodeChange State::RemoveNode(NodeRow row) {
  KNX_CHECK(!recording(), "a node vanished while a plan was open");
  NodeChange change;
  change.removed = true;
  change.images = !nodes_.facts(row).images.empty();
  for (const ImageId image : nodes_.facts(row).images) images_.RemoveFromNode(image);
  change.before = nodes_.ClearFacts(row);
  fact_changes_.Append(row);
  ReleaseRowIfUnused(row);
  return change;
}

void State::ReleaseRowIfUnused(NodeRow row) {
  if (recording() || nodes_.has_node(row) || nodes_.pod_count(row) > 0) return;
  if (nominations_.contains(row)) return;
  nodes_.Release(row);
}

// ---- pods ----

Pod State::MakeRecord(const k8s::Pod& pod) {
  Pod record;
  record.name = pod.meta.name;
  record.uid = pod.meta.uid;
  record.namespace_ = words_.Intern(pod.meta.namespace_);
  record.pod_class = classes_.Acquire(pod.spec, pod.meta, resource_names_);
  record.labels = label_sets_.Acquire(pod.meta.labels);
  record.kin =
      kinship_.AcquireKin(record.namespace_, record.labels, cluster::ControllerOf(pod.meta));
  record.priority = pod.spec.priority.value_or(0);
  record.terminating = pod.meta.deleted.has_value();
  record.leaves_by = pod.meta.deleted.value_or(Time{});
  record.preempted = IsPreempted(pod);
  record.generation = pod.meta.generation;
  record.created = pod.meta.created.value_or(Time{});
  record.started = pod.status.start_time.value_or(Time{});
  record.has_volumes = !pod.spec.volumes.empty();
  record.gates = pod.spec.scheduling_gates;
  if (const std::string& nominated = pod.status.nominated_node_name; !nominated.empty()) {
    record.told_nomination = std::make_unique<std::string>(nominated);
  }
  if (!k8s::HaveSameLimits(pod.spec, classes_.Get(record.pod_class).spec)) {
    record.limits = std::make_unique<ResourceVector>(
        ToResourceVector(k8s::PodLimits(pod.spec), resource_names_));
  }
  if (auto declared = ReadGangDeclaration(pod, operator_gangs_)) {
    record.gang = std::make_unique<GangMembership>(GangMembership{*std::move(declared), {}});
    if (const auto* owner = k8s::ControllerOf(pod.meta)) record.gang->owner = owner->uid;
    record.by_itself = std::find(by_itself_.begin(), by_itself_.end(), pod.spec.scheduler_name) !=
                       by_itself_.end();
  }
  if (profile_rules_ != nullptr) {
    record.profile = profile_rules_->LookAt(pod, record.gang != nullptr, words_);
  }
  if (k8s::HasResizeStatus(pod)) {
    record.in_place = std::make_unique<InPlaceUsage>();
    record.in_place->requests = ToResourceVector(k8s::PodRequestsInPlace(pod), resource_names_);
    record.in_place->assumed = k8s::AssumedPodUsageInPlace(pod);
  }
  return record;
}

PodId State::AddPod(const k8s::Pod& pod) {
  KNX_CHECK(!recording(), "a pod came while a plan was open");
  Pod record = MakeRecord(pod);
  const bool in_gang = record.gang != nullptr;
  const PodId id = pods_.Add(std::move(record));
  if (in_gang) JoinGang(id);
  if (!pod.spec.node_name.empty()) {
    PutOn(id, nodes_.RowFor(pod.spec.node_name), false);
  } else if (pods_.Get(id).told_nomination != nullptr) {
    FollowNomination(id);
  }
  return id;
}

void State::FollowNomination(PodId id) {
  const Pod& pod = pods_.Get(id);
  NodeRow row;
  // Room may be promised on a node that we have yet to hear of.
  if (pod.told_nomination != nullptr) row = nodes_.RowFor(*pod.told_nomination);
  if (row != pod.nominated) SetNomination(id, row);
}

PodChange State::UpdatePod(PodId id, const k8s::Pod& pod) {
  KNX_CHECK(!recording(), "a pod changed while a plan was open");
  Pod next = MakeRecord(pod);
  Pod& current = pods_.Edit(id);
  const NodeTable::Usage usage_before = usage_of(id);
  const ResourceVector requests_before(usage_before.requests.begin(), usage_before.requests.end());
  const NodeRow row_before = current.node;

  PodChange change;
  change.spec = next.pod_class != current.pod_class;
  change.labels = next.labels != current.labels;
  change.tolerations = change.spec && classes_.Get(next.pod_class).spec.tolerations !=
                                          classes_.Get(current.pod_class).spec.tolerations;
  change.gates_removed = !current.gates.empty() && next.gates.empty();
  change.terminating = next.terminating && !current.terminating;
  const bool usage_differs = change.spec ||
                             (next.in_place == nullptr) != (current.in_place == nullptr) ||
                             (next.in_place != nullptr && *next.in_place != *current.in_place);

  // The node name only ever appears; an update without one is older than what we assume.
  const bool bound = !pod.spec.node_name.empty();
  const NodeRow row = bound ? nodes_.RowFor(pod.spec.node_name) : row_before;
  const bool assumed = current.assumed && !bound;
  change.moved = row != row_before;
  const NodeRow nominated_before = current.nominated;
  // What we nominated it to stays, until we are told of another nomination than before.
  const bool same_nomination =
      (next.told_nomination == nullptr) == (current.told_nomination == nullptr) &&
      (next.told_nomination == nullptr || *next.told_nomination == *current.told_nomination);
  // What makes one pod a better victim than another is part of what its node is asked for.
  const bool other_victim = change.labels || next.priority != current.priority ||
                            next.started != current.started || next.profile != current.profile;
  const bool replace = row_before.valid() && (change.moved || usage_differs);
  if (replace) TakeOff(id);
  change.gang = (next.gang == nullptr) != (current.gang == nullptr) ||
                (next.gang != nullptr && next.gang->declared != current.gang->declared);
  // The object of its gang may go by any of its labels.
  change.gang |=
      change.labels && next.gang != nullptr && next.gang->declared.source == GangSource::kVolcano;
  const bool counts_differ =
      current.node.valid() && (next.kin != current.kin || next.terminating != current.terminating ||
                               change.gang || (assumed != current.assumed && current.by_itself));
  if (counts_differ) CountRelations(id, current, -1);
  if (change.gang) LeaveGang(id);
  if (!change.gang) next.gang = std::move(current.gang);
  const ClassId class_before = current.pod_class;
  const KinId kin_before = current.kin;
  const LabelSetId labels_before = current.labels;
  next.node = pods_.Get(id).node;
  next.nominated = nominated_before;
  next.assumed = assumed;
  next.beneficiary_priority = current.beneficiary_priority;
  next.making_room = current.making_room;
  next.evicted = current.evicted;
  current = std::move(next);
  if (change.gang && current.gang != nullptr) JoinGang(id);
  if (change.terminating) RecountFinished(named_gang_of(id));
  if (counts_differ) CountRelations(id, current, +1);
  if (row.valid() && !current.node.valid()) PutOn(id, row, assumed);
  if (bound && nominated_before.valid()) SetNomination(id, NodeRow{});
  if (!current.node.valid() && !same_nomination) FollowNomination(id);
  change.nomination = current.nominated != nominated_before;
  if (other_victim && !replace && current.node.valid()) TouchUsage(current.node);
  change.usage = replace && !change.moved;
  change.requests_lower = usage_differs && TakesLess(usage_of(id).requests, requests_before);
  Release(class_before, kin_before);
  label_sets_.Release(labels_before);
  if (replace && change.moved) ReleaseRowIfUnused(row_before);
  return change;
}

void State::RemovePod(PodId id) {
  KNX_CHECK(!recording(), "a pod vanished while a plan was open");
  const NodeRow row = pods_.Get(id).node;
  if (row.valid()) TakeOff(id);
  if (pods_.Get(id).nominated.valid()) SetNomination(id, NodeRow{});
  volumes_.Release(id);
  LeaveGang(id);
  const Pod gone = pods_.Remove(id);
  Release(gone.pod_class, gone.kin);
  label_sets_.Release(gone.labels);
  if (row.valid()) ReleaseRowIfUnused(row);
}

bool State::TakesPods(const NodeFacts& facts) const {
  const auto& taints = taint_sets_.Get(facts.taints);
  return !facts.unschedulable && std::none_of(taints.begin(), taints.end(), [](const auto& taint) {
    return taint.key == k8s::names::kTaintNotReady || taint.key == k8s::names::kTaintUnreachable;
  });
}

NodeTable::Usage State::usage_of(PodId id) const {
  const Pod& pod = pods_.Get(id);
  const PodClass& pod_class = classes_.Get(pod.pod_class);
  if (pod.in_place) {
    return {pod.in_place->requests, pod.in_place->assumed.milli_cpu, pod.in_place->assumed.memory,
            pod_class.ports};
  }
  return {pod_class.requests, pod_class.assumed_cpu, pod_class.assumed_memory, pod_class.ports};
}

void State::PutOn(PodId id, NodeRow row, bool assumed) {
  Pod& pod = pods_.Edit(id);
  KNX_CHECK(!pod.node.valid(), "a pod is put on a second node");
  nodes_.AddPod(row, id, usage_of(id));
  if (pod.has_volumes) {
    volumes_.PodPlaced(id, row, nodes_.name(row), classes_.Get(pod.pod_class));
  }
  pod.node = row;
  pod.assumed = assumed;
  CountRelations(id, pod, +1);
  TouchUsage(row);
}

void State::TakeOff(PodId id) {
  Pod& pod = pods_.Edit(id);
  KNX_CHECK(pod.node.valid(), "a pod is taken from no node");
  CountRelations(id, pod, -1);
  nodes_.RemovePod(pod.node, id, usage_of(id));
  if (pod.has_volumes) {
    volumes_.PodTaken(id, pod.node, nodes_.name(pod.node), classes_.Get(pod.pod_class));
  }
  TouchUsage(pod.node);
  pod.node = NodeRow{};
  pod.assumed = false;
}

void State::CountTracked(PodId id, int sign) {
  const Pod& pod = pods_.Get(id);
  sign > 0 ? kinship_.PodPlaced(id) : kinship_.PodLeaves(id);
  const ClassTerms& terms = classes_.Get(pod.pod_class).terms;
  if (terms.carries()) CarryTerms(terms, pod.node, sign, kinship_);
}

void State::Assume(PodId id, NodeRow row) {
  PutOn(id, row, true);
  if (recording()) journal_.push_back(Placed{id});
}

void State::Displace(PodId id) {
  const NodeRow row = pods_.Get(id).node;
  const bool assumed = pods_.Get(id).assumed;
  TakeOff(id);
  if (recording()) {
    journal_.push_back(Displaced{id, row, assumed});
  } else {
    ReleaseRowIfUnused(row);
  }
}

void State::Nominate(PodId id, NodeRow row) {
  if (recording()) journal_.push_back(Nominated{id, pods_.Get(id).nominated});
  SetNomination(id, row);
}

void State::ClearNomination(PodId id) {
  if (pods_.Get(id).nominated.valid()) Nominate(id, NodeRow{});
}

void State::SetNomination(PodId id, NodeRow row) {
  Pod& pod = pods_.Edit(id);
  const NodeRow before = pod.nominated;
  if (before.valid()) {
    auto& list = nominations_[before];
    std::erase(list, id);
    if (list.empty()) nominations_.erase(before);
    TouchUsage(before);
  }
  pod.nominated = row;
  if (row.valid()) {
    nominations_[row].push_back(id);
    TouchUsage(row);
  }
  if (before.valid() && before != row) ReleaseRowIfUnused(before);
}

std::span<const PodId> State::nominated(NodeRow row) const {
  const auto it = nominations_.find(row);
  if (it == nominations_.end()) return {};
  return it->second;
}

// ---- everything else ----

void State::UpsertObject(const k8s::Object& object) {
  bystanders_.Upsert(object);
  if (const auto* named = std::get_if<k8s::Namespace>(&object)) {
    kinship_.NamespaceChanged(named->meta.name);
  }
  std::visit(
      [this](const auto& value) {
        if constexpr (requires { volumes_.Upsert(value); }) volumes_.Upsert(value);
      },
      object);
  SetGangObject(object, true);
  SetNamespaceProfile(object, true);
  TouchVolumeNodes();
}

void State::RemoveObject(const k8s::Object& object) {
  bystanders_.Remove(object);
  if (const auto* named = std::get_if<k8s::Namespace>(&object)) {
    kinship_.NamespaceChanged(named->meta.name);
  }
  std::visit(
      [this](const auto& value) {
        if constexpr (requires { volumes_.Remove(value); }) volumes_.Remove(value);
      },
      object);
  SetGangObject(object, false);
  SetNamespaceProfile(object, false);
  TouchVolumeNodes();
}

// ---- volumes ----

void State::TouchVolumeNodes() {
  const Volumes::Touched touched = volumes_.TakeTouched();
  for (const std::string& node : touched.facts) {
    if (const NodeRow row = nodes_.Find(node); row.valid()) fact_changes_.Append(row);
  }
  for (const std::string& node : touched.usage) {
    if (const NodeRow row = nodes_.Find(node); row.valid()) TouchUsage(row);
  }
}

void State::ReserveVolumes(PodId id, VolumePlan plan) {
  volumes_.Reserve(id, std::move(plan));
  if (recording()) journal_.push_back(VolumesReserved{id});
}

void State::ReleaseVolumes(PodId id) {
  std::optional<VolumePlan> plan = volumes_.Release(id);
  if (!plan || !recording()) return;
  journal_.push_back(VolumesReleased{id});
  released_.push_back(*std::move(plan));
}

// ---- journal ----

State::MarkId State::Mark() {
  ++open_marks_;
  return journal_.size();
}

void State::Rollback(MarkId mark) {
  KNX_CHECK(open_marks_ > 0 && mark <= journal_.size(), "a plan is taken back that was not begun");
  while (journal_.size() > mark) {
    const Change change = journal_.back();
    journal_.pop_back();
    if (const auto* placed = std::get_if<Placed>(&change)) {
      TakeOff(placed->pod);
    } else if (const auto* displaced = std::get_if<Displaced>(&change)) {
      PutOn(displaced->pod, displaced->row, displaced->assumed);
    } else if (const auto* nomination = std::get_if<Nominated>(&change)) {
      SetNomination(nomination->pod, nomination->before);
    } else if (const auto* reserved = std::get_if<VolumesReserved>(&change)) {
      volumes_.Release(reserved->pod);
    } else if (const auto* released = std::get_if<VolumesReleased>(&change)) {
      volumes_.Reserve(released->pod, std::move(released_.back()));
      released_.pop_back();
    }
  }
  --open_marks_;
}

void State::Commit(MarkId mark) {
  KNX_CHECK(open_marks_ > 0 && mark <= journal_.size(), "a plan is kept that was not begun");
  --open_marks_;
  if (recording()) return;
  released_.clear();
  std::vector<Change> kept;
  kept.swap(journal_);
  for (const Change& change : kept) {
    if (const auto* displaced = std::get_if<Displaced>(&change)) ReleaseRowIfUnused(displaced->row);
  }
}

}  // namespace knx::cluster
