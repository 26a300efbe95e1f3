#include "sim/node_lifecycle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "k8s/names.h"
#include "k8s/owner.h"
#include "k8s/selector.h"
#include "sim/admission.h"

namespace knx::sim {
namespace {

// The taints that went with what it was before go.
void SetNodeReady(k8s::Node& node, bool ready, Time now) {
  std::erase_if(node.taints, [](const k8s::Taint& taint) {
    return taint.key == k8s::names::kTaintNotReady || taint.key == k8s::names::kTaintUnreachable;
  });
  SetCondition(node.conditions,
               {.type = "Ready",
                .status = ready ? "True" : "Unknown",
                .reason = ready ? "KubeletReady" : "NodeStatusUnknown",
                .message = ready ? "kubelet is posting ready status"
                                 : "Kubelet stopped posting node status.",
                .last_transition = {}},
               now);
  TaintByConditions(node);
}

bool BelongsToDaemonSet(const k8s::Pod& pod) {
  const k8s::OwnerReference* owner = ControllerOf(pod.meta);
  return owner != nullptr && owner->kind == "DaemonSet";
}

}  // namespace

NodeLifecycle::NodeLifecycle(Agenda& agenda, Store& store, ApiServer& api, Kubelets& kubelets,
                             const Timing& timing)
    : agenda_(agenda), store_(store), api_(api), kubelets_(kubelets), timing_(timing) {
  store.Listen(*this);
}

// ---- death and return ----

Status NodeLifecycle::Kill(const std::string& node) {
  if (store_.Find<k8s::Node>(node) == nullptr) {
    return NotFoundError("nodes \"" + node + "\" not found");
  }
  kubelets_.Stop(node);
  const std::uint64_t life = ++lives_[node];
  agenda_.After(timing_.node_grace, [this, node, life] { BecomeUnreachable(node, life); });
  return Ok();
}

void NodeLifecycle::BecomeUnreachable(const std::string& node, std::uint64_t life) {
  if (lives_[node] != life || store_.Find<k8s::Node>(node) == nullptr) return;
  (void)api_.UpdateNode(node, Actor::kController, [this](k8s::Node& changed) {
    SetNodeReady(changed, false, agenda_.now());
  });
  const std::set<std::string> keys = store_.PodsOn(node);
  for (const std::string& key : keys) {
    if (!IsReady(*store_.Find<k8s::Pod>(key))) continue;
    (void)api_.UpdatePod(key, Actor::kController, [this](k8s::Pod& pod) {
      SetCondition(pod.status.conditions,
                   {.type = "Ready",
                    .status = "False",
                    .reason = "NodeNotReady",
                    .message = {},
                    .last_transition = {}},
                   agenda_.now());
    });
  }
}

Status NodeLifecycle::Restart(const std::string& node) {
  if (store_.Find<k8s::Node>(node) == nullptr) {
    return NotFoundError("nodes \"" + node + "\" not found");
  }
  ++lives_[node];
  kubelets_.Restart(node);
  return api_.UpdateNode(node, Actor::kKubelet, [this](k8s::Node& changed) {
    SetNodeReady(changed, true, agenda_.now());
  });
}

Status NodeLifecycle::SetUnschedulable(const std::string& node, bool unschedulable) {
  return api_.UpdateNode(node, Actor::kUser, [unschedulable](k8s::Node& changed) {
    changed.unschedulable = unschedulable;
    // The node lifecycle controller mirrors the field in a taint.
    const std::string key(k8s::names::kTaintUnschedulable);
    std::erase_if(changed.taints, [&key](const k8s::Taint& t) { return t.key == key; });
    if (unschedulable) {
      changed.taints.push_back({.key = key, .value = {}, .effect = k8s::TaintEffect::kNoSchedule});
    }
  });
}

// ---- taints that evict ----

void NodeLifecycle::OnWrite(const Write<k8s::Node>& write) {
  const std::string& name = write.any().meta.name;
  if (write.after == nullptr) {
    no_execute_.erase(name);
    ++lives_[name];
    drains_.erase(name);
    agenda_.After(timing_.pod_gc, [this, name] { CollectGarbage(name); });
    return;
  }
  RememberTaints(*write.after);
  if (no_execute_.contains(name)) {
    for (const std::string& key : store_.PodsOn(name)) PlanLeave(*store_.Find<k8s::Pod>(key));
  }
}

void NodeLifecycle::OnWrite(const Write<k8s::Pod>& write) {
  if (write.after == nullptr) arrived_.erase(write.before->meta.uid);
  if (write.after == nullptr || write.after->spec.node_name.empty()) return;
  const std::string& node = write.after->spec.node_name;
  if (write.before != nullptr && write.before->spec.node_name == node) return;
  arrived_[write.after->meta.uid] = agenda_.now();
  PlanLeave(*write.after);
  if (store_.Find<k8s::Node>(node) == nullptr) {
    agenda_.After(timing_.pod_gc, [this, node] { CollectGarbage(node); });
  }
}

void NodeLifecycle::RememberTaints(const k8s::Node& node) {
  std::vector<TaintSince> next;
  const auto known = no_execute_.find(node.meta.name);
  for (const k8s::Taint& taint : node.taints) {
    if (taint.effect != k8s::TaintEffect::kNoExecute) continue;
    Time since = agenda_.now();
    if (known != no_execute_.end()) {
      for (const TaintSince& old : known->second) {
        if (old.taint == taint) since = old.since;
      }
    }
    next.push_back({taint, since});
  }
  if (next.empty()) {
    no_execute_.erase(node.meta.name);
  } else {
    no_execute_[node.meta.name] = std::move(next);
  }
}

std::optional<Time> NodeLifecycle::LeavesAt(const k8s::Pod& pod) const {
  const auto taints = no_execute_.find(pod.spec.node_name);
  if (taints == no_execute_.end()) return std::nullopt;
  const auto arrived = arrived_.find(pod.meta.uid);
  std::optional<Time> earliest;
  for (const TaintSince& taint : taints->second) {
    std::optional<Duration> stays;
    bool forever = false;
    for (const k8s::Toleration& toleration : pod.spec.tolerations) {
      if (!k8s::Tolerates(toleration, taint.taint)) continue;
      if (!toleration.seconds.has_value()) {
        forever = true;
        continue;
      }
      constexpr std::int64_t kMaxSeconds = kMaxSpan.ns / 1'000'000'000;
      const Duration span =
          Duration::Seconds(std::clamp<std::int64_t>(*toleration.seconds, 0, kMaxSeconds));
      stays = stays.has_value() ? std::min(*stays, span) : span;
    }
    if (forever && !stays.has_value()) continue;
    const Time both_there =
        arrived == arrived_.end() ? taint.since : std::max(taint.since, arrived->second);
    const Time leaves = both_there + stays.value_or(Duration{});
    earliest = earliest.has_value() ? std::min(*earliest, leaves) : leaves;
  }
  return earliest;
}

void NodeLifecycle::PlanLeave(const k8s::Pod& pod) {
  if (IsFinished(pod) || pod.meta.deleted.has_value()) return;
  const std::optional<Time> leaves = LeavesAt(pod);
  if (!leaves.has_value()) return;
  const Time when = std::max(*leaves, agenda_.now() + timing_.controller);
  agenda_.At(when, [this, key = KeyOf(pod), uid = pod.meta.uid] {
    const PodPtr current = store_.FindPod(key, uid);
    if (current == nullptr || current->meta.deleted.has_value() || IsFinished(*current)) return;
    const std::optional<Time> due = LeavesAt(*current);
    if (!due.has_value() || *due > agenda_.now()) return;
    (void)api_.EvictPod(key, Actor::kController,
                        {.reason = "DeletionByTaintManager",
                         .message = "Taint manager: deleting due to NoExecute taint",
                         .honour_budgets = false});
  });
}

// ---- drains ----

Status NodeLifecycle::Drain(const std::string& node, bool honour_budgets) {
  KNX_TRY_DONE(SetUnschedulable(node, true));
  const std::uint64_t number = ++drains_begun_;
  drains_[node] = {.number = number, .tried = 0, .refused = false, .asked = {}};
  DrainPass(node, number, honour_budgets);
  return Ok();
}

void NodeLifecycle::DrainPass(const std::string& node, std::uint64_t number, bool honour_budgets) {
  const auto found = drains_.find(node);
  // The node is gone, or another drain has taken over.
  if (found == drains_.end() || found->second.number != number) return;
  DrainState& drain = found->second;
  drain.refused = false;
  const std::set<std::string> keys = store_.PodsOn(node);
  for (const std::string& key : keys) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    if (pod == nullptr || BelongsToDaemonSet(*pod)) continue;
    std::string& answer = drain.asked[pod->meta.uid];
    answer.clear();
    if (pod->meta.deleted.has_value()) continue;
    ApiServer::Eviction eviction;
    eviction.honour_budgets = honour_budgets;
    if (const Status evicted = api_.EvictPod(key, Actor::kUser, eviction); !evicted.ok()) {
      answer = evicted.error().message;
      drain.refused = true;
    }
  }
  drain.tried = store_.version();
  if (!drain.refused) return;
  agenda_.After(
      timing_.eviction_retry,
      [this, node, number, honour_budgets] { DrainPass(node, number, honour_budgets); },
      Agenda::Weight::kBackground);
}

bool NodeLifecycle::Settled() const {
  return std::all_of(drains_.begin(), drains_.end(), [this](const auto& entry) {
    return !entry.second.refused || entry.second.tried == store_.version();
  });
}

std::string NodeLifecycle::WhyStill(const k8s::Pod& pod, const std::string& refusal) const {
  if (!refusal.empty()) return refusal;
  if (!kubelets_.Alive(pod.spec.node_name)) return "it is being deleted and its node is dead";
  if (pod.meta.finalizers.empty()) return "it is being deleted";
  return fmt::format("it is being deleted and has the finalizers {}",
                     fmt::join(pod.meta.finalizers, ", "));
}

std::vector<std::string> NodeLifecycle::Complaints() const {
  std::vector<std::string> out;
  for (const auto& [node, drain] : drains_) {
    std::string first;
    std::size_t more = 0;
    for (const std::string& key : store_.PodsOn(node)) {
      const PodPtr pod = store_.Find<k8s::Pod>(key);
      const auto asked = drain.asked.find(pod->meta.uid);
      if (asked == drain.asked.end()) continue;
      if (first.empty()) {
        first = fmt::format("pod {}: {}", key, WhyStill(*pod, asked->second));
      } else {
        ++more;
      }
    }
    if (first.empty()) continue;
    out.push_back(fmt::format("the drain of node {} is not over{}: it waits for {}", node,
                              more == 0 ? "" : fmt::format(" ({} pods are left)", more + 1),
                              first));
  }
  return out;
}

// ---- nodes that are gone ----

void NodeLifecycle::CollectGarbage(const std::string& node) {
  if (store_.Find<k8s::Node>(node) != nullptr) return;
  const std::set<std::string> keys = store_.PodsOn(node);
  for (const std::string& key : keys) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    api_.RemovePod(key, pod->meta.uid, Actor::kController);
  }
}

}  // namespace knx::sim
