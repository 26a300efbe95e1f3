// What a scenario does to objects that are there.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenario/annotations.h"
#include "sim/scenario_runner.h"
#include "sim/workload_controller.h"

namespace knx::sim {
namespace {

void ChangeLabels(k8s::StringMap& labels, const k8s::StringMap& set,
                  const std::vector<std::string>& remove) {
  for (const auto& [key, value] : set) SetLabel(labels, key, value);
  std::erase_if(labels, [&](const auto& entry) {
    return std::find(remove.begin(), remove.end(), entry.first) != remove.end();
  });
}

// "*" stands for every one.
void Remove(std::vector<std::string>& from, const std::vector<std::string>& names) {
  std::erase_if(from, [&](const std::string& entry) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return name == "*" || name == entry; });
  });
}

void Merge(k8s::ResourceList& into, const k8s::ResourceList& changes) {
  for (const auto& change : changes) {
    const auto same = [&](const auto& entry) { return entry.first == change.first; };
    const auto found = std::find_if(into.begin(), into.end(), same);
    if (found != into.end()) {
      found->second = change.second;
    } else {
      into.push_back(change);
    }
  }
  std::sort(into.begin(), into.end());
}

}  // namespace

std::vector<std::string> ScenarioRunner::NodesLike(const std::string& pattern) const {
  std::vector<std::string> out;
  for (const auto& [name, node] : std::as_const(cluster_).store().All<k8s::Node>()) {
    if (scenario::MatchesPattern(name, pattern)) out.push_back(name);
  }
  return out;
}

std::vector<PodPtr> ScenarioRunner::PodsLike(const scenario::PodSelection& selection) const {
  std::vector<PodPtr> out;
  for (const auto& [key, pod] : std::as_const(cluster_).store().All<k8s::Pod>()) {
    if (selection.Matches(*pod)) out.push_back(pod);
  }
  return out;
}

Status ScenarioRunner::Do(const scenario::Apply& apply) {
  for (std::int64_t i = 0; i < apply.what.count; ++i) {
    KNX_TRY(std::vector<k8s::Object> objects,
            MakeObjects(apply.what, apply.what.first + i, scenario_.file));
    for (k8s::Object& object : objects) {
      KNX_TRY_DONE(cluster_.api().Apply(std::move(object), Actor::kUser));
    }
  }
  return Ok();
}

Status ScenarioRunner::Do(const scenario::Delete& what) {
  if (what.kind != "Pod" && what.kind != "Node") {
    return cluster_.api().Delete(what.kind, what.namespace_, what.name, Actor::kUser);
  }
  if (what.kind == "Node") {
    const std::vector<std::string> nodes = NodesLike(what.name);
    if (nodes.empty()) return NotFoundError(fmt::format("no node is called {}", what.name));
    for (const std::string& node : nodes) {
      KNX_TRY_DONE(cluster_.api().Delete("Node", "", node, Actor::kUser));
    }
    return Ok();
  }
  const std::vector<PodPtr> pods = PodsLike(what.pods);
  if (pods.empty() && !what.if_there)
    return NotFoundError(fmt::format("{}: there is none", what.pods.ToString()));
  for (const PodPtr& pod : pods) {
    KNX_TRY_DONE(cluster_.api().DeletePod(KeyOf(*pod), Actor::kUser, what.grace_seconds));
  }
  return Ok();
}

Status ScenarioRunner::Do(const scenario::Scale& scale) {
  Store& store = cluster_.store();
  if (scale.kind == "Job") {
    const auto job = store.Find<k8s::Job>(PodKey(scale.namespace_, scale.name));
    if (job == nullptr) return NotFoundError(fmt::format("no job is called {}", scale.name));
    k8s::Job next = *job;
    next.parallelism = scale.replicas;
    store.Put(std::move(next), Actor::kUser);
    return Ok();
  }
  for (const auto kind :
       {k8s::WorkloadKind::kReplicaSet, k8s::WorkloadKind::kStatefulSet,
        k8s::WorkloadKind::kReplicationController, k8s::WorkloadKind::kDeployment}) {
    if (scale.kind != KindName(kind)) continue;
    const auto found = store.Find<k8s::Workload>(WorkloadKey(kind, scale.namespace_, scale.name));
    if (found == nullptr) break;
    k8s::Workload next = *found;
    next.replicas = scale.replicas;
    ++next.meta.generation;
    store.Put(std::move(next), Actor::kUser);
    return Ok();
  }
  return NotFoundError(fmt::format("no {} is called {}", scale.kind, scale.name));
}

Status ScenarioRunner::Do(const scenario::NodeAction& action) {
  NodeLifecycle& lifecycle = cluster_.node_lifecycle();
  const std::vector<std::string> nodes = NodesLike(action.node);
  if (nodes.empty()) return NotFoundError(fmt::format("no node is called {}", action.node));
  for (const std::string& node : nodes) {
    switch (action.kind) {
      case scenario::NodeAction::Kind::kCordon:
        KNX_TRY_DONE(lifecycle.SetUnschedulable(node, true));
        break;
      case scenario::NodeAction::Kind::kUncordon:
        KNX_TRY_DONE(lifecycle.SetUnschedulable(node, false));
        break;
      case scenario::NodeAction::Kind::kDrain:
        KNX_TRY_DONE(lifecycle.Drain(node, action.honour_budgets));
        break;
      case scenario::NodeAction::Kind::kKill:
        KNX_TRY_DONE(lifecycle.Kill(node));
        break;
      case scenario::NodeAction::Kind::kRestart:
        KNX_TRY_DONE(lifecycle.Restart(node));
        break;
    }
  }
  return Ok();
}

Status ScenarioRunner::Do(const scenario::UpdateNode& update) {
  const std::vector<std::string> nodes = NodesLike(update.node);
  if (nodes.empty()) return NotFoundError(fmt::format("no node is called {}", update.node));
  for (const std::string& name : nodes) {
    KNX_TRY_DONE(cluster_.api().UpdateNode(name, Actor::kUser, [&](k8s::Node& node) {
      ChangeLabels(node.meta.labels, update.labels, update.remove_labels);
      std::erase_if(node.taints, [&](const k8s::Taint& taint) {
        const auto& gone = update.remove_taints;
        return std::find(gone.begin(), gone.end(), taint.key) != gone.end();
      });
      for (const k8s::Taint& taint : update.taints) {
        std::erase_if(node.taints, [&](const k8s::Taint& old) {
          return old.key == taint.key && old.effect == taint.effect;
        });
        node.taints.push_back(taint);
      }
      Remove(node.meta.finalizers, update.remove_finalizers);
      Merge(node.allocatable, update.allocatable);
      if (update.declared_features) node.declared_features = *update.declared_features;
    }));
  }
  return Ok();
}

Status ScenarioRunner::Do(const scenario::UpdatePod& update) {
  const std::vector<PodPtr> pods = PodsLike(update.pods);
  if (pods.empty() && !update.if_there)
    return NotFoundError(fmt::format("{}: there is none", update.pods.ToString()));
  for (const PodPtr& pod : pods) {
    KNX_TRY_DONE(cluster_.api().UpdatePod(KeyOf(*pod), Actor::kUser, [&](k8s::Pod& next) {
      ChangeLabels(next.meta.labels, update.labels, update.remove_labels);
      for (const auto& [key, value] : update.node_selector) {
        SetLabel(next.spec.node_selector, key, value);
      }
      Remove(next.spec.scheduling_gates, update.remove_gates);
      Remove(next.meta.finalizers, update.remove_finalizers);
      for (const k8s::Toleration& toleration : update.tolerations) {
        next.spec.tolerations.push_back(toleration);
      }
      if (update.requests.has_value() && !next.spec.containers.empty()) {
        Merge(next.spec.containers.front().resources.requests, *update.requests);
      }
      if (!update.resize.empty()) {
        SetLabel(next.meta.annotations, scenario::kResize, update.resize);
      }
    }));
  }
  return Ok();
}

Status ScenarioRunner::Do(const scenario::BindByOther& bind) {
  const std::vector<PodPtr> pods = PodsLike(bind.pods);
  if (pods.empty()) return NotFoundError(fmt::format("{}: there is none", bind.pods.ToString()));
  for (const PodPtr& pod : pods) {
    const engine::PodRef ref{pod->meta.namespace_, pod->meta.name, pod->meta.uid};
    KNX_TRY_DONE(cluster_.api().Bind(ref, bind.node, Actor::kForeignScheduler));
  }
  return Ok();
}

}  // namespace knx::sim
