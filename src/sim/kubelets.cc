#include "sim/kubelets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "k8s/selector.h"
#include "scenario/annotations.h"
#include "sim/admission.h"

namespace knx::sim {
namespace {

bool RequestsDiffer(const k8s::PodSpec& a, const k8s::PodSpec& b) {
  for (std::size_t i = 0; i < std::min(a.containers.size(), b.containers.size()); ++i) {
    if (!(a.containers[i].resources == b.containers[i].resources)) return true;
  }
  return false;
}

// What a kubelet says its containers have; nothing while that is what the spec says too.
std::vector<k8s::ContainerStatus> StatusesOf(const k8s::PodSpec& spec) {
  std::vector<k8s::ContainerStatus> out;
  for (const k8s::Container& container : spec.containers) {
    out.push_back({.name = container.name,
                   .allocated = container.resources.requests,
                   .actuated = container.resources.requests});
  }
  return out;
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
  if (was_bound && RequestsDiffer(write.before->spec, pod.spec)) ResizeSoon(write);
}

void Kubelets::OnWrite(const Write<k8s::Node>& write) {
  if (write.after == nullptr || write.before != nullptr) return;
  for (const std::string& key : store_.PodsOn(write.after->meta.name)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    if (!IsFinished(*pod)) StartSoon(*pod);
  }
}

void Kubelets::Restart(const std::string& node) {
  dead_.erase(node);
  for (const std::string& key : store_.PodsOn(node)) {
    const PodPtr pod = store_.Find<k8s::Pod>(key);
    if (IsFinished(*pod)) continue;
    if (pod->meta.deleted.has_value()) {
      StopSoon(*pod);
    } else {
      StartSoon(*pod);
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
  if (const auto run_for = RunFor(pod.meta); run_for.ok() && run_for->has_value()) {
    const std::string* ends_as = k8s::FindValue(pod.meta.annotations, scenario::kEndsAs);
    const bool fails = ends_as != nullptr && *ends_as == "Failed";
    end_after(**run_for, fails ? k8s::PodPhase::kFailed : k8s::PodPhase::kSucceeded);
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

// New requests hold at once for who looks at the spec; the container has the old ones until the
// kubelet has acted, and says so in its status.
void Kubelets::ResizeSoon(const Write<k8s::Pod>& write) {
  const std::string key = KeyOf(*write.after);
  const std::string uid = write.after->meta.uid;
  agenda_.After(Duration{}, [this, key, uid, old_spec = write.before->spec] {
    const PodPtr current = store_.FindPod(key, uid);
    if (current == nullptr || !current->status.containers.empty()) return;
    k8s::Pod next = *current;
    next.status.containers = StatusesOf(old_spec);
    store_.Put(std::move(next), Actor::kKubelet);
  });
  agenda_.After(timing_.resize, [this, key, uid] {
    const PodPtr current = store_.FindPod(key, uid);
    if (current == nullptr || !Alive(current->spec.node_name)) return;
    k8s::Pod next = *current;
    next.status.containers = StatusesOf(current->spec);
    if (!(next.status == current->status)) store_.Put(std::move(next), Actor::kKubelet);
  });
}

}  // namespace knx::sim
