#include "plugins/kube/volume_binding/binding_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "k8s/names.h"
#include "k8s/selector.h"
#include "plugins/common/pod_volumes.h"
#include "plugins/kube/volume_binding/volume_finder.h"

namespace knx::plugins {
namespace {

using Kind = BindingProgress::Kind;
using cluster::NodeRow;
using cluster::Volumes;

BindingProgress Failed(std::string why) { return {Kind::kFailed, std::move(why)}; }

std::optional<BindingProgress> CheckUsable(const cluster::State& state, NodeRow node,
                                           const k8s::PersistentVolume& volume) {
  if (CanUse(state, node, volume)) return std::nullopt;
  return Failed(fmt::format(
      "pv \"{}\" node affinity doesn't match node \"{}\": no matching NodeSelectorTerms",
      volume.meta.name, state.nodes().name(node)));
}

BindingProgress ClaimProgress(const k8s::PersistentVolumeClaim& claim) {
  return {cluster::IsFullyBound(claim) ? Kind::kDone : Kind::kUnderWay, {}};
}

// What we wrote is assumed until the API server tells of it.
BindingProgress Check(const cluster::State& state, NodeRow node,
                      const cluster::VolumePlan::Binding& binding) {
  const Volumes& volumes = state.volumes();
  const k8s::PersistentVolume* volume = volumes.FindVolume(binding.volume);
  if (volume == nullptr) {
    return Failed(
        fmt::format("failed to check binding: persistentvolumes \"{}\" not found", binding.volume));
  }
  const k8s::PersistentVolumeClaim* claim = volumes.FindClaim(binding.claim);
  if (claim == nullptr) {
    return Failed(fmt::format("failed to check binding: persistentvolumeclaims \"{}\" not found",
                              binding.claim));
  }
  if (volumes.IsAssumed(binding.volume)) return {};
  if (auto failed = CheckUsable(state, node, *volume)) return *failed;
  if (!volume->claim || volume->claim->uid.empty()) {
    return Failed(fmt::format("ClaimRef got reset for pv \"{}\"", binding.volume));
  }
  return ClaimProgress(*claim);
}

BindingProgress Check(const cluster::State& state, NodeRow node,
                      const cluster::VolumePlan::Provision& provision, const std::string& wanted) {
  const Volumes& volumes = state.volumes();
  const k8s::PersistentVolumeClaim* claim = volumes.FindClaim(provision.claim);
  if (claim == nullptr) {
    return Failed(
        fmt::format("failed to check provisioning pvc: persistentvolumeclaims \"{}\" not found",
                    provision.claim));
  }
  if (volumes.IsSelectionAssumed(provision.claim)) return {};
  if (claim->meta.annotations.empty()) {
    return Failed(fmt::format("selectedNode annotation reset for PVC \"{}\"", claim->meta.name));
  }
  const std::string* selected = k8s::FindValue(claim->meta.annotations, k8s::names::kSelectedNode);
  if (selected == nullptr || *selected != wanted) {
    return Failed(fmt::format("provisioning failed for PVC \"{}\"", claim->meta.name));
  }
  if (!claim->volume_name.empty()) {
    const k8s::PersistentVolume* volume = volumes.FindVolume(claim->volume_name);
    // We may have been told of the claim first.
    if (volume == nullptr) return {};
    if (auto failed = CheckUsable(state, node, *volume)) return *failed;
  }
  return ClaimProgress(*claim);
}

}  // namespace

framework::Question QuestionOf(const Volumes& volumes, const cluster::VolumePlan& plan) {
  framework::Question question;
  question.topic = "volumes";
  for (const cluster::VolumePlan::Binding& binding : plan.bindings) {
    if (binding.written) continue;
    question.writes.push_back(
        {binding.volume, binding.to, binding.chosen_by_us, {}, binding.volume_version});
    question.body += fmt::format("{}bind {} to {}", question.body.empty() ? "" : ", ",
                                 binding.volume, binding.claim);
  }
  for (const cluster::VolumePlan::Provision& provision : plan.provisions) {
    const k8s::PersistentVolumeClaim* claim = volumes.FindClaim(provision.claim);
    if (provision.written || claim == nullptr) continue;
    question.writes.push_back({{},
                               {claim->meta.namespace_, claim->meta.name, claim->meta.uid},
                               false,
                               plan.node,
                               provision.claim_version});
    question.body += fmt::format("{}provision {} for {}", question.body.empty() ? "" : ", ",
                                 provision.claim, plan.node);
  }
  return question;
}

BindingProgress ProgressOf(const cluster::State& state, NodeRow node,
                           const cluster::VolumePlan& plan) {
  if (!state.nodes().has_node(node)) {
    return Failed(fmt::format("failed to get node \"{0}\": node \"{0}\" not found", plan.node));
  }
  for (const cluster::VolumePlan::Binding& binding : plan.bindings) {
    const BindingProgress progress = Check(state, node, binding);
    if (progress.kind != Kind::kDone) return progress;
  }
  for (const cluster::VolumePlan::Provision& provision : plan.provisions) {
    const BindingProgress progress = Check(state, node, provision, plan.node);
    if (progress.kind != Kind::kDone) return progress;
  }
  return {Kind::kDone, {}};
}

}  // namespace knx::plugins
