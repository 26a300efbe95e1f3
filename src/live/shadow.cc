#include "live/shadow.h"

#include <fmt/format.h>

#include <algorithm>

#include "k8s/names.h"

namespace knx::live {
namespace {

// Why another scheduler says that the pod cannot be placed; empty if it does not.
std::string_view RefusalOf(const k8s::Pod& pod) {
  for (const k8s::Condition& condition : pod.status.conditions) {
    if (condition.type != k8s::names::kPodScheduled) continue;
    if (condition.reason == k8s::names::kReasonUnschedulable) return condition.message;
  }
  return "";
}

}  // namespace

void Shadow::LookAt(engine::Engine& engine, const k8s::Pod& pod) {
  const std::string& uid = pod.meta.uid;
  const std::string name = fmt::format("{}/{}", pod.meta.namespace_, pod.meta.name);
  const engine::PodStanding standing = engine.Standing(uid);
  const bool waited = standing == engine::PodStanding::kWaiting;
  if (!pod.spec.node_name.empty()) {
    const auto ours = waited ? engine.Inquire(uid) : std::nullopt;
    if (ours) report_.Placed(name, pod.spec.node_name, *ours);
    return Forget(uid);
  }
  const std::string_view refusal = RefusalOf(pod);
  if (refusal.empty() || standing == engine::PodStanding::kNotOurs) return;
  std::string& before = refused_[uid];
  if (before == refusal) return;
  before = refusal;
  // What was said before we knew the pod was said about a cluster that we do not know.
  const auto ours = waited ? engine.Inquire(uid) : std::nullopt;
  if (ours) report_.Refused(name, refusal, *ours);
}

}  // namespace knx::live
