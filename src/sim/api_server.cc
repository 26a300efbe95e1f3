#include "sim/api_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "k8s/pod_defaults.h"
#include "k8s/priority_classes.h"
#include "scenario/pod_script.h"
#include "sim/admission.h"
#include "sim/budgets.h"
#include "sim/resource_names.h"
#include "sim/workload_controller.h"

namespace knx::sim {
namespace {

// Of each kind. What asks for more would fill the memory before it could be shown.
constexpr std::size_t kMaxObjects = 1'000'000;

Error NoSuch(std::string_view resource, std::string_view name) {
  return NotFoundError(fmt::format("{} \"{}\" not found", resource, name));
}

Error Conflict(std::string_view resource, std::string_view name, std::string_view why) {
  return {ErrorKind::kConflict,
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource, name, why),
          {}};
}

Error OtherUid(const engine::PodRef& wanted, const k8s::Pod& found) {
  return Conflict("pods", wanted.name,
                  fmt::format("StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{}, "
                              "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                              "precondition: {}, UID in object meta: {}",
                              wanted.namespace_, wanted.name, wanted.uid, found.meta.uid));
}

template <class T>
Status Admit(const Store& store, T& object) {
  if constexpr (std::is_same_v<T, k8s::Pod>) {
    return AdmitPod(store, object);
  } else if constexpr (std::is_same_v<T, k8s::PriorityClass>) {
    return AdmitPriorityClass(store, object);
  } else if constexpr (std::is_same_v<T, k8s::Node>) {
    AdmitNode(object, store.now());
    return Ok();
  } else if constexpr (std::is_same_v<T, k8s::PersistentVolumeClaim>) {
    AdmitClaim(store, object);
    return Ok();
  } else if constexpr (std::is_same_v<T, k8s::Workload> || std::is_same_v<T, k8s::Job>) {
    // Its pods would be refused one by one later, when nobody reads it any more.
    auto script = scenario::ScriptOf(object.pod_template.meta);
    return script.ok() ? Ok() : Status(std::move(script).error());
  } else {
    return Ok();
  }
}

// What cannot be changed in an object that is there, because nothing here would act on it or the
// API server would refuse it. Replicas that a ReplicaSet makes later have its new template.
template <class T>
Status CheckChange(const T& before, const T& after) {
  if constexpr (std::is_same_v<T, k8s::Workload>) {
    const bool rolls = before.kind == k8s::WorkloadKind::kDeployment ||
                       before.kind == k8s::WorkloadKind::kStatefulSet;
    if (rolls && !(before.pod_template == after.pod_template)) {
      return InvalidError(
          fmt::format("spec.template: {} \"{}\" has another one, and a rolling "
                      "update is not simulated: delete it and create it anew",
                      ResourceOf(before), before.meta.name));
    }
    if (!(before.claim_templates == after.claim_templates)) {
      return InvalidError("spec.volumeClaimTemplates: cannot be changed");
    }
  } else if constexpr (std::is_same_v<T, k8s::Job>) {
    if (!(before.pod_template == after.pod_template)) {
      return InvalidError("spec.template: cannot be changed: the field of a job is immutable");
    }
  }
  return Ok();
}

}  // namespace

ApiServer::ApiServer(Store& store) : store_(store) {
  for (k8s::PriorityClass& priority_class : k8s::SystemPriorityClasses()) {
    store_.Put(std::move(priority_class), Actor::kController);
  }
}

template <class T>
Result<std::string> ApiServer::CreateNew(T object, std::string_view resource, Actor by) {
  object.meta.owners.erase(
      std::remove_if(object.meta.owners.begin(), object.meta.owners.end(),
                     [](const k8s::OwnerReference& owner) { return owner.uid.empty(); }),
      object.meta.owners.end());
  if (!object.meta.name.empty() && object.meta.name.back() == '-') {
    object.meta.name = store_.NewPodName(object.meta.namespace_, object.meta.name);
  }
  if (store_.Find<T>(KeyOf(object)) != nullptr) {
    return Error{ErrorKind::kConflict,
                 fmt::format("{} \"{}\" already exists", resource, object.meta.name),
                 {}};
  }
  if (store_.All<T>().size() >= kMaxObjects) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("the embedded cluster holds at most {} {}", kMaxObjects, resource),
                 {}};
  }
  KNX_TRY_DONE(Admit(store_, object));
  if (!object.meta.namespace_.empty()) EnsureNamespace(object.meta.namespace_);
  std::string name = object.meta.name;
  store_.Put(std::move(object), by);
  return name;
}

Result<std::string> ApiServer::Create(k8s::Object object, Actor by) {
  return std::visit(
      [&](auto& typed) {
        const std::string_view resource = ResourceOf(typed);
        return CreateNew(std::move(typed), resource, by);
      },
      object);
}

Status ApiServer::Apply(k8s::Object object, Actor by) {
  return std::visit(
      [&](auto& typed) -> Status {
        using T = std::decay_t<decltype(typed)>;
        const Ptr<T> current = store_.Find<T>(KeyOf(typed));
        if (current == nullptr) {
          const std::string_view resource = ResourceOf(typed);
          KNX_TRY([[maybe_unused]] const std::string name,
                  CreateNew(std::move(typed), resource, by));
          return Ok();
        }
        if constexpr (std::is_same_v<T, k8s::Pod> || std::is_same_v<T, k8s::Node>) {
          return InvalidError("pods and nodes are changed with update_pod and update_node");
        } else {
          KNX_TRY_DONE(CheckChange(*current, typed));
          typed.meta.uid = current->meta.uid;
          typed.meta.created = current->meta.created;
          store_.Put(std::move(typed), by);
          return Ok();
        }
      },
      object);
}

Status ApiServer::WriteVolume(const framework::VolumeWrite& write, Actor by) {
  const auto modified = [](std::string_view resource, std::string_view name) {
    return Conflict(resource, name,
                    "the object has been modified; please apply your changes to the latest "
                    "version and try again");
  };
  const std::string claim_key = PodKey(write.claim.namespace_, write.claim.name);
  if (write.volume.empty()) {
    const auto current = store_.Find<k8s::PersistentVolumeClaim>(claim_key);
    if (current == nullptr) return NoSuch("persistentvolumeclaims", write.claim.name);
    if (current->meta.resource_version != write.resource_version) {
      return modified("persistentvolumeclaims", write.claim.name);
    }
    k8s::PersistentVolumeClaim next = *current;
    SetLabel(next.meta.annotations, k8s::names::kSelectedNode, write.node);
    store_.Put(std::move(next), by);
    return Ok();
  }
  const auto current = store_.Find<k8s::PersistentVolume>(write.volume);
  if (current == nullptr) return NoSuch("persistentvolumes", write.volume);
  if (current->meta.resource_version != write.resource_version) {
    return modified("persistentvolumes", write.volume);
  }
  k8s::PersistentVolume next = *current;
  next.claim = write.claim;
  if (write.bound_by_controller) {
    SetLabel(next.meta.annotations, k8s::names::kBoundByController, "yes");
  }
  store_.Put(std::move(next), by);
  return Ok();
}

// A real API server wants a namespace to exist; manifests for a simulation seldom bring theirs.
void ApiServer::EnsureNamespace(const std::string& name) {
  if (store_.Find<k8s::Namespace>(name) != nullptr) return;
  k8s::Namespace created;
  created.meta.name = name;
  k8s::LabelWithName(created);
  store_.Put(std::move(created), Actor::kController);
}

Status ApiServer::Bind(const engine::PodRef& ref, std::string_view node, Actor by) {
  const PodPtr current = store_.Find<k8s::Pod>(PodKey(ref.namespace_, ref.name));
  if (current == nullptr) return NoSuch("pods", ref.name);
  if (!ref.uid.empty() && current->meta.uid != ref.uid) return OtherUid(ref, *current);
  const auto refuse = [&](std::string_view why) { return Conflict("pods/binding", ref.name, why); };
  if (current->meta.deleted.has_value()) {
    return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", ref.name));
  }
  if (!current->spec.node_name.empty()) {
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", ref.name,
                              current->spec.node_name));
  }
  if (!current->spec.scheduling_gates.empty()) {
    return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", ref.name));
  }
  k8s::Pod next = *current;
  next.spec.node_name = std::string(node);
  next.status.nominated_node_name.clear();
  SetCondition(next.status.conditions,
               {.type = std::string(k8s::names::kPodScheduled),
                .status = "True",
                .reason = {},
                .message = {},
                .last_transition = {}},
               store_.now());
  store_.Put(std::move(next), by);
  return Ok();
}

Status ApiServer::PatchStatus(const engine::PatchPodStatus& patch) {
  const PodPtr current = store_.Find<k8s::Pod>(PodKey(patch.pod.namespace_, patch.pod.name));
  if (current == nullptr) return NoSuch("pods", patch.pod.name);
  if (current->meta.uid != patch.pod.uid) return OtherUid(patch.pod, *current);
  k8s::Pod next = *current;
  SetCondition(next.status.conditions,
               {.type = std::string(k8s::names::kPodScheduled),
                .status = patch.status,
                .reason = patch.reason,
                .message = patch.message,
                .last_transition = {}},
               store_.now());
  if (patch.nominated_node.has_value()) next.status.nominated_node_name = *patch.nominated_node;
  if (next.status == current->status) return Ok();
  store_.Put(std::move(next), Actor::kScheduler);
  return Ok();
}

Status ApiServer::ClearNomination(const engine::PodRef& pod) {
  const PodPtr current = store_.Find<k8s::Pod>(PodKey(pod.namespace_, pod.name));
  if (current == nullptr) return NoSuch("pods", pod.name);
  if (current->meta.uid != pod.uid) return OtherUid(pod, *current);
  if (current->status.nominated_node_name.empty()) return Ok();
  k8s::Pod next = *current;
  next.status.nominated_node_name.clear();
  store_.Put(std::move(next), Actor::kScheduler);
  return Ok();
}

Status ApiServer::PatchReservation(const engine::PatchReservation& patch) {
  const auto current = store_.Find<k8s::ResourceReservation>(PodKey(patch.namespace_, patch.name));
  if (current == nullptr || current->meta.uid != patch.uid) {
    return NoSuch(ResourceOf(k8s::ResourceReservation{}), patch.name);
  }
  k8s::ResourceReservation next = *current;
  next.conditions = patch.conditions;
  store_.Put(std::move(next), Actor::kScheduler);
  return Ok();
}

Status ApiServer::PatchPodGroup(const engine::PatchPodGroup& patch) {
  const auto current = store_.Find<k8s::PodGroup>(
      PodGroupKey(k8s::PodGroupApi::kKubernetes, patch.namespace_, patch.name));
  if (current == nullptr || current->meta.uid != patch.uid) {
    return NoSuch(ResourceOf(k8s::PodGroup{}), patch.name);
  }
  k8s::PodGroup next = *current;
  next.scheduled = patch.condition;
  store_.Put(std::move(next), Actor::kScheduler);
  return Ok();
}

Status ApiServer::Preempt(const engine::EvictPod& evict) {
  const std::string key = PodKey(evict.pod.namespace_, evict.pod.name);
  const PodPtr current = store_.Find<k8s::Pod>(key);
  if (current == nullptr) return NoSuch("pods", evict.pod.name);
  if (current->meta.uid != evict.pod.uid) return OtherUid(evict.pod, *current);
  return EvictPod(key, Actor::kScheduler,
                  {.reason = evict.reason, .message = evict.message, .honour_budgets = false});
}

Status ApiServer::UpdatePod(const std::string& key, Actor by,
                            const std::function<void(k8s::Pod&)>& change) {
  const PodPtr current = store_.Find<k8s::Pod>(key);
  if (current == nullptr) return NoSuch("pods", key.substr(key.find('/') + 1));
  k8s::Pod next = *current;
  change(next);
  KNX_TRY_DONE(AdmitPodUpdate(*current, next));
  if (next.meta.finalizers.empty() && held_.contains(current->meta.uid)) {
    Erase(*current, by);
    return Ok();
  }
  if (!(next.spec == current->spec)) ++next.meta.generation;
  store_.Put(std::move(next), by);
  return Ok();
}

Status ApiServer::UpdateNode(const std::string& name, Actor by,
                             const std::function<void(k8s::Node&)>& change) {
  const NodePtr current = store_.Find<k8s::Node>(name);
  if (current == nullptr) return NoSuch("nodes", name);
  k8s::Node next = *current;
  change(next);
  if (next.meta.finalizers.empty() && next.meta.deleted.has_value()) {
    store_.Erase<k8s::Node>(name, by);
  } else {
    store_.Put(std::move(next), by);
  }
  return Ok();
}

Status ApiServer::DeletePod(const std::string& key, Actor by,
                            std::optional<std::int64_t> grace_seconds) {
  const PodPtr current = store_.Find<k8s::Pod>(key);
  if (current == nullptr) return NoSuch("pods", key.substr(key.find('/') + 1));
  const std::int64_t grace =
      grace_seconds.value_or(current->spec.termination_grace_seconds.value_or(0));
  if (current->spec.node_name.empty() || IsFinished(*current) || grace == 0) {
    LetGo(*current, by);
    return Ok();
  }
  if (current->meta.deleted.has_value()) return Ok();
  k8s::Pod next = *current;
  constexpr std::int64_t kMaxGrace = std::int64_t{3600} * 24 * 365;
  next.meta.deleted =
      store_.now() + Duration::Seconds(std::clamp<std::int64_t>(grace, 1, kMaxGrace));
  store_.Put(std::move(next), by);
  return Ok();
}

Status ApiServer::CheckBudgets(const k8s::Pod& pod) {
  const auto budgets = BudgetsOf(store_, pod);
  if (budgets.empty()) return Ok();
  if (budgets.size() > 1) {
    return InvalidError(
        "This pod has more than one PodDisruptionBudget, which the eviction "
        "subresource does not support.");
  }
  k8s::PodDisruptionBudget budget = *budgets.front();
  const BudgetMeasure measure = Measure(store_, budget);
  const bool intact =
      measure.current_healthy >= measure.desired_healthy && measure.desired_healthy > 0;
  if (!IsReady(pod) && intact) return Ok();
  if (budget.disruptions_allowed <= 0) {
    return Error{ErrorKind::kUnavailable,
                 "Cannot evict pod as it would violate the pod's disruption budget.",
                 {}};
  }
  --budget.disruptions_allowed;
  budget.disrupted_pods.push_back(pod.meta.name);
  std::sort(budget.disrupted_pods.begin(), budget.disrupted_pods.end());
  store_.Put(std::move(budget), Actor::kController);
  return Ok();
}

Status ApiServer::EvictPod(const std::string& key, Actor by, const Eviction& eviction) {
  const PodPtr current = store_.Find<k8s::Pod>(key);
  if (current == nullptr) return NoSuch("pods", key.substr(key.find('/') + 1));
  if (current->meta.deleted.has_value()) return Ok();
  const bool disrupts = !IsFinished(*current) && current->status.phase != k8s::PodPhase::kPending;
  if (eviction.honour_budgets && disrupts) KNX_TRY_DONE(CheckBudgets(*current));
  if (!IsFinished(*current)) ++evictions_;
  KNX_TRY_DONE(UpdatePod(key, by, [&](k8s::Pod& pod) {
    SetCondition(pod.status.conditions,
                 {.type = std::string(k8s::names::kDisruptionTarget),
                  .status = "True",
                  .reason = eviction.reason,
                  .message = eviction.message,
                  .last_transition = {}},
                 store_.now());
  }));
  return DeletePod(key, by);
}

void ApiServer::RemovePod(const std::string& key, std::string_view uid, Actor by) {
  const PodPtr current = store_.FindPod(key, uid);
  if (current == nullptr) return;
  k8s::Pod next = *current;
  // What is seen of it only if finalizers hold it: most programs that are told to stop fail.
  if (!IsFinished(next)) next.status.phase = k8s::PodPhase::kFailed;
  if (IsReady(next)) {
    SetCondition(next.status.conditions,
                 {.type = "Ready",
                  .status = "False",
                  .reason = "PodFailed",
                  .message = {},
                  .last_transition = {}},
                 store_.now());
  }
  LetGo(std::move(next), by);
}

void ApiServer::LetGo(k8s::Pod pod, Actor by) {
  if (pod.meta.finalizers.empty()) return Erase(pod, by);
  held_.insert(pod.meta.uid);
  pod.meta.deleted = std::min(pod.meta.deleted.value_or(store_.now()), store_.now());
  if (!(pod == *store_.Find<k8s::Pod>(KeyOf(pod)))) store_.Put(std::move(pod), by);
}

void ApiServer::Erase(const k8s::Pod& pod, Actor by) {
  held_.erase(pod.meta.uid);
  store_.Erase<k8s::Pod>(KeyOf(pod), by);
}

Status ApiServer::DeleteNode(const std::string& name, Actor by) {
  // Without finalizers, a node that is deleted is gone.
  return UpdateNode(name, by, [this](k8s::Node& node) {
    if (!node.meta.deleted.has_value()) node.meta.deleted = store_.now();
  });
}

Status ApiServer::DeletePodGroups(std::string_view namespace_, std::string_view name, Actor by) {
  bool found = false;
  for (const auto api :
       {k8s::PodGroupApi::kKubernetes, k8s::PodGroupApi::kSigs, k8s::PodGroupApi::kVolcano}) {
    const std::string key = PodGroupKey(api, namespace_, name);
    found = found || store_.Find<k8s::PodGroup>(key) != nullptr;
    store_.Erase<k8s::PodGroup>(key, by);
  }
  return found ? Ok() : Status(NoSuch("podgroups", name));
}

Status ApiServer::Delete(std::string_view kind, std::string_view namespace_, std::string_view name,
                         Actor by) {
  const std::string key = PodKey(namespace_, name);
  const auto erase = [&]<class T>(std::type_identity<T>, const std::string& at) -> Status {
    if (store_.Find<T>(at) == nullptr) return NoSuch(ResourceOf(T{}), name);
    store_.Erase<T>(at, by);
    return Ok();
  };
  if (kind == "Pod") return DeletePod(key, by);
  if (kind == "Node") return DeleteNode(std::string(name), by);
  if (kind == "Job") return erase(std::type_identity<k8s::Job>{}, key);
  if (kind == "Service") return erase(std::type_identity<k8s::Service>{}, key);
  if (kind == "Namespace") return erase(std::type_identity<k8s::Namespace>{}, std::string(name));
  if (kind == "PodDisruptionBudget") {
    return erase(std::type_identity<k8s::PodDisruptionBudget>{}, key);
  }
  if (kind == "PriorityClass") {
    return erase(std::type_identity<k8s::PriorityClass>{}, std::string(name));
  }
  if (kind == "PersistentVolumeClaim") {
    return erase(std::type_identity<k8s::PersistentVolumeClaim>{}, key);
  }
  if (kind == "CSIStorageCapacity") {
    return erase(std::type_identity<k8s::CsiStorageCapacity>{}, key);
  }
  if (kind == "PersistentVolume") {
    return erase(std::type_identity<k8s::PersistentVolume>{}, std::string(name));
  }
  if (kind == "StorageClass") {
    return erase(std::type_identity<k8s::StorageClass>{}, std::string(name));
  }
  if (kind == "CSINode") return erase(std::type_identity<k8s::CsiNode>{}, std::string(name));
  if (kind == "CSIDriver") return erase(std::type_identity<k8s::CsiDriver>{}, std::string(name));
  if (kind == "VolumeAttachment") {
    return erase(std::type_identity<k8s::VolumeAttachment>{}, std::string(name));
  }
  if (kind == "Workload") return erase(std::type_identity<k8s::GroupWorkload>{}, key);
  if (kind == "ResourceReservation") {
    return erase(std::type_identity<k8s::ResourceReservation>{}, key);
  }
  if (kind == "PodGroup") return DeletePodGroups(namespace_, name, by);
  for (const auto workload :
       {k8s::WorkloadKind::kReplicaSet, k8s::WorkloadKind::kStatefulSet,
        k8s::WorkloadKind::kReplicationController, k8s::WorkloadKind::kDeployment}) {
    if (kind != KindName(workload)) continue;
    const std::string at = WorkloadKey(workload, namespace_, name);
    const auto found = store_.Find<k8s::Workload>(at);
    if (found == nullptr) {
      k8s::Workload named;
      named.kind = workload;
      return NoSuch(ResourceOf(named), name);
    }
    store_.Erase<k8s::Workload>(at, by);
    return Ok();
  }
  return InvalidError(fmt::format("kind \"{}\" is not known", kind));
}

}  // namespace knx::sim
