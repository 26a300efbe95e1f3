#include "sim/kubelets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "scenario/pod_script.h"

namespace knx::sim {
namespace {

bool RequestsDiffer(const k8s::PodSpec& a, const k8s::PodSpec& b) {
  for (std::size_t i = 0; i < std::min(a.containers.size(), b.containers.size()); ++i) {
    if (!(a.containers[i].resources == b.containers[i].resources)) return true;
  }
  return false;
}

// The pod as it is when everything it asks for holds.
k8s::PodStatus Actuated(const k8s::Pod& pod) {
  k8s::PodStatus out = pod.status;
  out.containers.clear();
  for (const k8s::Container& container : pod.spec.containers) {
    const k8s::ResourceList& requests = container.resources.requests;
    out.containers.push_back({.name = container.name, .allocated = requests, .actuated = requests});
  }
  for (k8s::ContainerStatus& status : out.init_containers) {
    for (const k8s::Container& container : pod.spec.init_containers) {
      if (container.name != status.name) continue;
      status.allocated = status.actuated = container.resources.requests;
    }
  }
  if (pod.spec.resources.has_value() && out.actuated.has_value()) {
    out.allocated = out.actuated = pod.spec.resources->requests;
  }
  std::erase_if(out.conditions, [](const k8s::Condition& condition) {
    return condition.type == k8s::names::kPodResizePending;
  });
  return out;
}

std::string_view ResizeRefusal(const k8s::Pod& pod) {
  // Checked at admission, so that it can be read here.
  const auto script = scenario::ScriptOf(pod.meta);
  return script.ok() ? script->resize_refusal : std::string_view();
}

void SetReady(k8s::Pod& pod, bool ready, Time now) {
  for (const char* type : {"Ready", "ContainersReady"}) {
    SetCondition(pod.status.conditions,
                 {.type = type,
                  .status = ready ? "True" : "False",
                  .reason = {},
                  .message = {},
                  .last_transition = {}},
                 now);
  }
}

}  // namespace

Kubelets::Kubelets(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing)
    : agenda_(agenda), store_(store), api_(api), timing_(timing) {
  store.Listen(*this);
}

bool Kubelets::Alive(const std::string& node) const {
  return !dead_.contains(node) && store_.Find<k8s::Node>(node) != nullptr;
}

void Kubelets::OnWrite(const Write<k8s::Pod>& write) {
  if (write.after == nullptr) {
    runs_.erase(write.before->meta.uid);
    return;
  }
  const k8s::Pod& pod = *write.after;
  if (pod.spec.node_name.empty() || IsFinished(pod)) return;
  const bool was_bound = write.before != nullptr && !write.before->spec.node_name.empty();
  const bool was_deleted = write.before != nullptr && write.before->meta.deleted.has_value();
  if (!was_bound) StartSoon(pod);
  if (pod.meta.deleted.has_value() && !was_deleted) StopSoon(pod);
  if (!was_bound) return;
  const bool resized = RequestsDiffer(write.before->spec, pod.spec);
  if (resized) KeepSize(*write.before);
  if (resized || ResizeRefusal(*write.before) != ResizeRefusal(pod)) ResizeSoon(pod);
}

void Kubelets::OnWrite(const Write<k8s::Node>& write) {
  // Who comes by the name of a node that is gone is another machine.
  if (write.after == nullptr) dead_.erase(write.before->meta.name);
  if (write.before == nullptr) TakeUp(write.after->meta.name);
}

void Kubelets::Restart(const std::string& node) {
  dead_.erase(node);
  TakeUp(node);
}

void Kubelets::TakeUp(const std::string& node) {
  for (const std::string& key : store_.PodsOn(node)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    if (IsFinished(*pod)) continue;
    if (pod->meta.deleted.has_value()) {
      StopSoon(*pod);
    } else {
      StartSoon(*pod);
      ResizeSoon(*pod);
    }
  }
}

void Kubelets::StartSoon(const k8s::Pod& pod) {
  agenda_.After(timing_.start, [this, key = KeyOf(pod), uid = pod.meta.uid] { Start(key, uid); });
}

void Kubelets::StopSoon(const k8s::Pod& pod) {
  const Duration grace = *pod.meta.deleted - agenda_.now();
  agenda_.After(std::min(timing_.stop, grace), [this, key = KeyOf(pod), uid = pod.meta.uid] {
    const PodPtr current = store_.FindPod(key, uid);
    if (current == nullptr || !Alive(current->spec.node_name)) return;
    api_.RemovePod(key, uid, Actor::kKubelet);
  });
}

void Kubelets::Start(const std::string& key, const std::string& uid) {
  const PodPtr current = store_.FindPod(key, uid);
  if (current == nullptr || IsFinished(*current) || current->meta.deleted.has_value()) return;
  if (!Alive(current->spec.node_name)) return;
  k8s::Pod next = *current;
  next.status.phase = k8s::PodPhase::kRunning;
  if (!next.status.start_time.has_value()) next.status.start_time = agenda_.now();
  SetReady(next, true, agenda_.now());
  // Nobody has said so of a pod that was made with a node.
  SetCondition(next.status.conditions,
               {.type = std::string(k8s::names::kPodScheduled),
                .status = "True",
                .reason = {},
                .message = {},
                .last_transition = {}},
               agenda_.now());
  ++runs_[uid];
  PlanEnd(next);
  if (!(next.status == current->status)) store_.Put(std::move(next), Actor::kKubelet);
}

void Kubelets::PlanEnd(const k8s::Pod& pod) {
  const std::uint64_t run = runs_[pod.meta.uid];
  const auto end_after = [&](Duration span, k8s::PodPhase phase) {
    agenda_.After(span, [this, key = KeyOf(pod), uid = pod.meta.uid, run, phase] {
      End(key, uid, run, phase);
    });
  };
  // Checked at admission, so that it can be read here.
  if (const auto script = scenario::ScriptOf(pod.meta);
      script.ok() && script->run_for.has_value()) {
    end_after(*script->run_for, script->ends_as);
  }
  if (pod.spec.active_deadline_seconds.has_value()) {
    constexpr std::int64_t kMaxSeconds = kMaxSpan.ns / 1'000'000'000;
    end_after(Duration::Seconds(std::min(*pod.spec.active_deadline_seconds, kMaxSeconds)),
              k8s::PodPhase::kFailed);
  }
}

void Kubelets::End(const std::string& key, const std::string& uid, std::uint64_t run,
                   k8s::PodPhase phase) {
  const PodPtr current = store_.FindPod(key, uid);
  if (current == nullptr || IsFinished(*current) || !Alive(current->spec.node_name)) return;
  if (runs_[uid] != run) return;
  k8s::Pod next = *current;
  next.status.phase = phase;
  SetReady(next, false, agenda_.now());
  store_.Put(std::move(next), Actor::kKubelet);
}

// New requests hold at once for who looks at the spec; the containers have what they had until the
// kubelet has acted, and say so in their status.
void Kubelets::KeepSize(const k8s::Pod& before) {
  agenda_.After(Duration{}, [this, before] {
    const PodPtr current = store_.FindPod(KeyOf(before), before.meta.uid);
    if (current == nullptr || !current->status.containers.empty()) return;
    k8s::Pod next = *current;
    next.status.containers = Actuated(before).containers;
    store_.Put(std::move(next), Actor::kKubelet);
  });
}

void Kubelets::ResizeSoon(const k8s::Pod& pod) {
  agenda_.After(timing_.resize, [this, key = KeyOf(pod), uid = pod.meta.uid] {
    const PodPtr current = store_.FindPod(key, uid);
    if (current == nullptr || IsFinished(*current) || !Alive(current->spec.node_name)) return;
    // Nobody has resized it yet.
    if (current->status.containers.empty()) return;
    const k8s::PodStatus done = Actuated(*current);
    if (done == current->status) return;
    k8s::Pod next = *current;
    if (const std::string_view refusal = ResizeRefusal(*current); refusal.empty()) {
      next.status = done;
    } else {
      SetCondition(next.status.conditions,
                   {.type = std::string(k8s::names::kPodResizePending),
                    .status = "True",
                    .reason = std::string(refusal),
                    .message = {},
                    .last_transition = {}},
                   agenda_.now());
    }
    if (!(next.status == current->status)) store_.Put(std::move(next), Actor::kKubelet);
  });
}

}  // namespace knx::sim
