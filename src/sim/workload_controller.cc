#include "sim/workload_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/digest.h"
#include "k8s/names.h"
#include "k8s/owner.h"

namespace knx::sim {
namespace {

using k8s::WorkloadKind;

// Which pod to keep when there are too many: one that has a node before one that has none, one that
// is ready before one that is not, an older one before a younger.
auto KeepOrder(const k8s::Pod& pod) {
  return std::tuple(pod.spec.node_name.empty(), pod.status.phase != k8s::PodPhase::kRunning,
                    !IsReady(pod), pod.meta.created.value_or(Time{}), pod.meta.name);
}

std::string OrdinalName(const k8s::Workload& set, std::int32_t ordinal) {
  return fmt::format("{}-{}", set.meta.name, ordinal);
}

// -1 if it is not named as the set's pods are.
std::int64_t OrdinalOf(const k8s::Workload& set, const k8s::Pod& pod) {
  const std::string prefix = set.meta.name + "-";
  if (!pod.meta.name.starts_with(prefix)) return -1;
  const std::string_view digits = std::string_view(pod.meta.name).substr(prefix.size());
  std::int64_t ordinal = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return error == std::errc() && end == digits.data() + digits.size() ? ordinal : -1;
}

}  // namespace

void SetLabel(k8s::StringMap& map, std::string_view key, std::string_view value) {
  const auto at =
      std::lower_bound(map.begin(), map.end(), key,
                       [](const auto& entry, std::string_view k) { return entry.first < k; });
  if (at != map.end() && at->first == key) {
    at->second = std::string(value);
  } else {
    map.emplace(at, std::string(key), std::string(value));
  }
}

k8s::Pod PodFromTemplate(const k8s::PodTemplate& pod_template, std::string_view owner_kind,
                         const k8s::ObjectMeta& owner) {
  k8s::Pod pod;
  pod.meta.namespace_ = owner.namespace_;
  pod.meta.labels = pod_template.meta.labels;
  pod.meta.annotations = pod_template.meta.annotations;
  pod.meta.finalizers = pod_template.meta.finalizers;
  const std::string_view api_version = owner_kind == "ReplicationController" ? "v1"
                                       : owner_kind == "Job"                 ? "batch/v1"
                                                                             : "apps/v1";
  pod.meta.owners = {{.kind = std::string(owner_kind),
                      .name = owner.name,
                      .uid = owner.uid,
                      .controller = true,
                      .api_version = std::string(api_version)}};
  pod.spec = pod_template.spec;
  return pod;
}

WorkloadController::WorkloadController(Agenda& agenda, Store& store, ApiServer& api,
                                       const Timing& timing)
    : agenda_(agenda), store_(store), api_(api), timing_(timing) {
  store.Listen(*this);
}

void WorkloadController::OnWrite(const Write<k8s::Workload>& write) {
  const k8s::Workload& workload = write.any();
  if (write.after == nullptr) {
    by_uid_.erase(workload.meta.uid);
    agenda_.After(timing_.controller, [this, uid = workload.meta.uid] { DeletePodsOf(uid); });
  } else {
    by_uid_[workload.meta.uid] = KeyOf(workload);
    Enqueue(KeyOf(workload));
  }
  // A Deployment looks after its ReplicaSet.
  if (const k8s::OwnerReference* owner = ControllerOf(workload.meta)) {
    if (const auto found = by_uid_.find(owner->uid); found != by_uid_.end()) Enqueue(found->second);
  }
}

void WorkloadController::OnWrite(const Write<k8s::Pod>& write) {
  const k8s::OwnerReference* owner = ControllerOf(write.any().meta);
  if (owner == nullptr) return;
  if (const auto found = by_uid_.find(owner->uid); found != by_uid_.end()) Enqueue(found->second);
}

void WorkloadController::OnWrite(const Write<k8s::Namespace>& write) {
  if (write.after != nullptr) return;
  agenda_.After(timing_.controller,
                [this, name = write.before->meta.name] { DeleteNamespace(name); });
}

void WorkloadController::Enqueue(const std::string& key) {
  if (!pending_.insert(key).second) return;
  agenda_.After(timing_.controller, [this, key] {
    pending_.erase(key);
    Reconcile(key);
  });
}

void WorkloadController::Reconcile(const std::string& key) {
  const Ptr<k8s::Workload> workload = store_.Find<k8s::Workload>(key);
  if (workload == nullptr) return;
  switch (workload->kind) {
    case WorkloadKind::kDeployment:
      return ReconcileDeployment(*workload);
    case WorkloadKind::kStatefulSet:
      return ReconcileStatefulSet(*workload);
    case WorkloadKind::kReplicaSet:
    case WorkloadKind::kReplicationController:
      return ReconcileReplicas(*workload);
  }
}

std::vector<PodPtr> WorkloadController::ActivePods(const k8s::Workload& workload) const {
  std::vector<PodPtr> out;
  for (const std::string& key : store_.PodsOf(workload.meta.uid)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    if (!IsFinished(*pod) && !pod->meta.deleted.has_value()) out.push_back(pod);
  }
  std::sort(out.begin(), out.end(),
            [](const PodPtr& a, const PodPtr& b) { return KeepOrder(*a) < KeepOrder(*b); });
  return out;
}

bool WorkloadController::Create(const k8s::Workload& workload, k8s::Object object) {
  const auto created = api_.Create(std::move(object), Actor::kController);
  if (created.ok()) return true;
  const k8s::Maker maker =
      MakerOf(workload.meta).value_or(k8s::Maker{KindName(workload.kind), workload.meta.name});
  complaints_.try_emplace(fmt::format("{} {}/{}", maker.kind, workload.meta.namespace_, maker.name),
                          created.error().message);
  // Refused now is not refused for ever: a missing PriorityClass may come.
  agenda_.After(
      Duration::Seconds(30), [this, key = KeyOf(workload)] { Enqueue(key); },
      Agenda::Weight::kBackground);
  return false;
}

void WorkloadController::ReconcileReplicas(const k8s::Workload& workload) {
  const std::vector<PodPtr> pods = ActivePods(workload);
  const auto wanted = static_cast<std::size_t>(std::max(workload.replicas, 0));
  for (std::size_t i = pods.size(); i < wanted; ++i) {
    k8s::Pod pod = PodFromTemplate(workload.pod_template, KindName(workload.kind), workload.meta);
    pod.meta.name = store_.NewPodName(workload.meta.namespace_, workload.meta.name + "-");
    if (!Create(workload, std::move(pod))) return;
  }
  for (std::size_t i = wanted; i < pods.size(); ++i) {
    (void)api_.DeletePod(KeyOf(*pods[i]), Actor::kController);
  }
}

bool WorkloadController::CreateClaims(const k8s::Workload& set, k8s::Pod& pod) {
  for (const k8s::PersistentVolumeClaim& claim_template : set.claim_templates) {
    k8s::PersistentVolumeClaim claim = claim_template;
    claim.meta.name = fmt::format("{}-{}", claim_template.meta.name, pod.meta.name);
    claim.meta.namespace_ = set.meta.namespace_;
    if (set.selector.has_value()) {
      for (const auto& [key, value] : set.selector->match_labels) {
        SetLabel(claim.meta.labels, key, value);
      }
    }
    // It takes the place of a volume by its name in the template of the pods.
    std::erase_if(pod.spec.volumes, [&](const k8s::Volume& volume) {
      return volume.name == claim_template.meta.name;
    });
    k8s::Volume& volume = pod.spec.volumes.emplace_back();
    volume.source = k8s::VolumeSource::kClaim;
    volume.id = claim.meta.name;
    const bool there = store_.Find<k8s::PersistentVolumeClaim>(KeyOf(claim)) != nullptr;
    if (!there && !Create(set, std::move(claim))) return false;
  }
  return true;
}

// One after the other: the next pod comes when the ones before it are ready, and goes when the ones
// behind it are gone.
void WorkloadController::ReconcileStatefulSet(const k8s::Workload& set) {
  for (std::int32_t i = 0; i < set.replicas; ++i) {
    const std::string name = OrdinalName(set, i);
    const PodPtr pod = store_.Find<k8s::Pod>(PodKey(set.meta.namespace_, name));
    if (pod == nullptr) {
      k8s::Pod created = PodFromTemplate(set.pod_template, KindName(set.kind), set.meta);
      created.meta.name = name;
      SetLabel(created.meta.labels, "statefulset.kubernetes.io/pod-name", name);
      SetLabel(created.meta.labels, "apps.kubernetes.io/pod-index", fmt::format("{}", i));
      if (CreateClaims(set, created)) Create(set, std::move(created));
      return;
    }
    if (IsFinished(*pod)) (void)api_.DeletePod(KeyOf(*pod), Actor::kController);
    if (!IsReady(*pod) || pod->meta.deleted.has_value()) return;
  }
  // The one with the highest number goes first, and the next when it is gone.
  PodPtr last;
  std::int64_t last_ordinal = set.replicas - 1;
  for (const std::string& key : store_.PodsOf(set.meta.uid)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    const std::int64_t ordinal = OrdinalOf(set, *pod);
    if (ordinal <= last_ordinal) continue;
    last = pod;
    last_ordinal = ordinal;
  }
  if (last != nullptr) (void)api_.DeletePod(KeyOf(*last), Actor::kController);
}

void WorkloadController::ReconcileDeployment(const k8s::Workload& deployment) {
  for (const auto& [key, set] : store_.All<k8s::Workload>()) {
    const k8s::OwnerReference* owner = ControllerOf(set->meta);
    if (owner == nullptr || owner->uid != deployment.meta.uid) continue;
    if (set->replicas != deployment.replicas) {
      k8s::Workload scaled = *set;
      scaled.replicas = deployment.replicas;
      store_.Put(std::move(scaled), Actor::kController);
    }
    return;
  }
  k8s::Workload set;
  set.kind = WorkloadKind::kReplicaSet;
  constexpr int kHashLength = 10;
  Random random(DigestOf(KeyOf(deployment)));
  const std::string hash = NameSuffix(random, kHashLength);
  set.meta.name = fmt::format("{}-{}", deployment.meta.name, hash);
  set.meta.namespace_ = deployment.meta.namespace_;
  set.meta.owners = {{.kind = "Deployment",
                      .name = deployment.meta.name,
                      .uid = deployment.meta.uid,
                      .controller = true,
                      .api_version = "apps/v1"}};
  set.replicas = deployment.replicas;
  set.selector = deployment.selector;
  set.pod_template = deployment.pod_template;
  SetLabel(set.pod_template.meta.labels, k8s::names::kPodTemplateHash, hash);
  if (set.selector.has_value())
    SetLabel(set.selector->match_labels, k8s::names::kPodTemplateHash, hash);
  set.meta.labels = set.pod_template.meta.labels;
  (void)api_.Create(std::move(set), Actor::kController);
}

// ---- going ----

void WorkloadController::DeletePodsOf(const std::string& owner_uid) {
  const std::set<std::string> keys = store_.PodsOf(owner_uid);
  for (const std::string& key : keys) (void)api_.DeletePod(key, Actor::kController);
  std::vector<std::string> sets;
  for (const auto& [key, set] : store_.All<k8s::Workload>()) {
    const k8s::OwnerReference* owner = ControllerOf(set->meta);
    if (owner != nullptr && owner->uid == owner_uid) sets.push_back(key);
  }
  for (const std::string& key : sets) store_.Erase<k8s::Workload>(key, Actor::kController);
}

void WorkloadController::DeleteNamespace(const std::string& name) {
  const auto erase_all = [&]<class T>(std::type_identity<T>) {
    std::vector<std::string> keys;
    for (const auto& [key, object] : store_.All<T>()) {
      if (object->meta.namespace_ == name) keys.push_back(key);
    }
    for (const std::string& key : keys) store_.Erase<T>(key, Actor::kController);
  };
  erase_all(std::type_identity<k8s::Workload>{});
  erase_all(std::type_identity<k8s::Job>{});
  erase_all(std::type_identity<k8s::Service>{});
  erase_all(std::type_identity<k8s::PodDisruptionBudget>{});
  erase_all(std::type_identity<k8s::PodGroup>{});
  erase_all(std::type_identity<k8s::GroupWorkload>{});
  erase_all(std::type_identity<k8s::ResourceReservation>{});
  std::vector<std::string> pods;
  for (const auto& [key, pod] : store_.All<k8s::Pod>()) {
    if (pod->meta.namespace_ == name) pods.push_back(key);
  }
  for (const std::string& key : pods) (void)api_.DeletePod(key, Actor::kController);
}

}  // namespace knx::sim
