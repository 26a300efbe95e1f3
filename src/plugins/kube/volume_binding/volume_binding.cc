#include "plugins/kube/volume_binding/volume_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "k8s/selector.h"
#include "plugins/common/args.h"
#include "plugins/common/pod_volumes.h"
#include "plugins/kube/volume_binding/binding_progress.h"
#include "plugins/kube/volume_binding/pod_claims.h"
#include "plugins/kube/volume_binding/volume_finder.h"

namespace knx::plugins {
namespace {

using framework::Code;
using framework::EventKind;
using framework::Outcome;

// How often the state is looked at while volumes are on their way, as kube-scheduler does.
constexpr Duration kLookEvery = Duration::Seconds(1);

class ClaimsFilter final : public framework::NodeFilter {
 public:
  ClaimsFilter(const cluster::State& state, const PodClaims& claims) : finder_(state, claims) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (const std::uint8_t reasons = finder_.Judge(nodes[i], nullptr)) {
        out.Reject(i, Code::kUnresolvable, reasons);
      }
    }
  }
  void Explain(const framework::Verdict& verdict,
               std::vector<std::string>& reasons) const override {
    const std::pair<VolumeFinder::Reason, std::string_view> texts[] = {
        {VolumeFinder::kNodeConflict, "node(s) didn't match PersistentVolume's node affinity"},
        {VolumeFinder::kNoVolume, "node(s) didn't find available persistent volumes to bind"},
        {VolumeFinder::kNoSpace, "node(s) did not have enough free storage"},
        {VolumeFinder::kVolumeGone,
         "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
    };
    for (const auto& [reason, text] : texts) {
      if ((verdict.detail & reason) != 0) reasons.emplace_back(text);
    }
  }
  [[nodiscard]] bool Current() const override { return finder_.Current(); }

 private:
  VolumeFinder finder_;
};

const std::string& MigratedPlugins(const k8s::CsiNode& node) {
  static const std::string none;
  const std::string* list = k8s::FindValue(node.meta.annotations, k8s::names::kMigratedPlugins);
  return list == nullptr ? none : *list;
}

bool HelpsByCsiNode(const framework::ClusterEvent& event) {
  const auto* now = ObjectOf<k8s::CsiNode>(event);
  const auto* before = ObjectBefore<k8s::CsiNode>(event);
  return now == nullptr || before == nullptr || MigratedPlugins(*now) != MigratedPlugins(*before);
}

bool HelpsByClass(const framework::ClusterEvent& event) {
  const auto* now = ObjectOf<k8s::StorageClass>(event);
  const auto* before = ObjectBefore<k8s::StorageClass>(event);
  return now == nullptr || before == nullptr ||
         now->allowed_topologies != before->allowed_topologies;
}

bool HelpsByDriver(const framework::ClusterEvent& event, const framework::PodView& pod) {
  const auto* now = ObjectOf<k8s::CsiDriver>(event);
  const auto* before = ObjectBefore<k8s::CsiDriver>(event);
  if (now == nullptr || before == nullptr) return true;
  const auto& volumes = pod.pod_class.spec.volumes;
  const bool used = std::any_of(volumes.begin(), volumes.end(), [&](const k8s::Volume& volume) {
    return volume.source == k8s::VolumeSource::kCsi && volume.id == now->meta.name;
  });
  return used && before->storage_capacity && !now->storage_capacity;
}

bool HelpsByCapacity(const framework::ClusterEvent& event) {
  const auto* now = ObjectOf<k8s::CsiStorageCapacity>(event);
  const auto* before = ObjectBefore<k8s::CsiStorageCapacity>(event);
  if (now == nullptr || before == nullptr) return true;
  const std::optional<k8s::Quantity>& limit = LargestVolume(*now);
  const std::optional<k8s::Quantity>& old_limit = LargestVolume(*before);
  return limit && (!old_limit || *limit > *old_limit);
}

// Nothing is in the way of the rule that a plugin's arguments fit in the time we count with.
constexpr std::int64_t kMaxTimeoutSeconds = std::int64_t{365} * 24 * 3600;

}  // namespace

Result<std::unique_ptr<framework::Plugin>> VolumeBinding::Make(const framework::PluginArgs& args) {
  std::int64_t seconds = 600;
  KNX_TRY_DONE(ReadArgs(args, "VolumeBindingArgs", [&](k8s::FieldReader& fields) {
    fields.Read("bindTimeoutSeconds", seconds,
                k8s::IntegerLimits{.min = 0, .max = kMaxTimeoutSeconds});
    if (fields.Has("shape")) {
      fields.Fail("shape",
                  "not supported: it belongs to the feature gate StorageCapacityScoring, which is "
                  "off; remove it");
    }
  }));
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<VolumeBinding>(VolumeBindingArgs{Duration::Seconds(seconds)}));
}

// ---- waking up ----

framework::EventSet VolumeBinding::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {EventKind::kStorageClassAdd, EventKind::kStorageClassUpdate, EventKind::kClaimAdd,
          EventKind::kClaimUpdate,     EventKind::kVolumeAdd,          EventKind::kVolumeUpdate,
          EventKind::kNodeAdd,         EventKind::kNodeLabel,          EventKind::kNodeTaint,
          EventKind::kCsiNodeAdd,      EventKind::kCsiNodeUpdate,      EventKind::kCsiDriverUpdate,
          EventKind::kCapacityAdd,     EventKind::kCapacityUpdate};
}

bool VolumeBinding::MayHelp(const framework::ClusterEvent& event,
                            const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kClaimAdd:
    case EventKind::kClaimUpdate:
      return UsesClaimOf(event, pod.pod_class, true);
    case EventKind::kStorageClassUpdate:
      return HelpsByClass(event);
    case EventKind::kCsiNodeUpdate:
      return HelpsByCsiNode(event);
    case EventKind::kCsiDriverUpdate:
      return HelpsByDriver(event, pod);
    case EventKind::kCapacityUpdate:
      return HelpsByCapacity(event);
    default:
      return true;
  }
}

// ---- which nodes ----

framework::PreFilterResult VolumeBinding::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  if (pod.pod_class.claims.empty()) {
    result.outcome = Outcome::Skip();
    return result;
  }
  const cluster::Volumes& volumes = pod.state.volumes();
  if (auto complaint = ClaimsComplaint(volumes, pod.pod_class)) {
    // What claims say changes with nothing that the engine watches.
    result.scope = framework::Scope::kCluster;
    result.outcome = Outcome::Unresolvable(*std::move(complaint));
    return result;
  }
  const PodClaims claims = SortClaims(volumes, pod.pod_class);
  if (claims.immediate) {
    result.scope = framework::Scope::kCluster;
    result.outcome = Outcome::Unresolvable("pod has unbound immediate PersistentVolumeClaims");
    return result;
  }
  result.filter = std::make_unique<ClaimsFilter>(pod.state, claims);
  return result;
}

framework::PreScoreResult VolumeBinding::PreScore(const framework::PodView& /*pod*/) const {
  framework::PreScoreResult result;
  result.scope = framework::Scope::kFacts;
  result.outcome = Outcome::Skip();
  return result;
}

// ---- before the binding ----

Outcome VolumeBinding::Reserve(const framework::PodView& pod, cluster::NodeRow node,
                               cluster::State& state) const {
  const cluster::Volumes& volumes = pod.state.volumes();
  if (auto complaint = ClaimsComplaint(volumes, pod.pod_class)) {
    return Outcome::Failed(*std::move(complaint));
  }
  const PodClaims claims = SortClaims(volumes, pod.pod_class);
  if (claims.delayed.empty() && !claims.immediate) return Outcome::Success();
  cluster::VolumePlan plan;
  plan.node = pod.state.nodes().name(node);
  if (VolumeFinder(pod.state, claims).Judge(node, &plan) != 0) {
    return Outcome::Failed(fmt::format("no volumes for the pod on node \"{}\"", plan.node));
  }
  state.ReserveVolumes(pod.id, std::move(plan));
  return Outcome::Success();
}

void VolumeBinding::Unreserve(const framework::PodView& pod, cluster::NodeRow /*node*/,
                              cluster::State& state) const {
  state.ReleaseVolumes(pod.id);
}

framework::StepResult VolumeBinding::PreBind(const framework::PodView& pod,
                                             cluster::NodeRow node) const {
  const cluster::VolumePlan* plan = pod.state.volumes().FindPlan(pod.id);
  if (plan == nullptr) return {};
  framework::Question question = QuestionOf(pod.state.volumes(), *plan);
  if (question.writes.empty()) return CheckBindings(pod, node);
  question.timeout = args_.bind_timeout;
  return {{Code::kWait, {}}, std::move(question), std::nullopt};
}

framework::StepResult VolumeBinding::ResumePreBind(const framework::PodView& pod,
                                                   cluster::NodeRow node,
                                                   const framework::Answer& answer) const {
  if (answer.ok) return CheckBindings(pod, node);
  return {
      Outcome::Failed(answer.recheck ? "binding volumes: context deadline exceeded" : answer.text),
      std::nullopt, std::nullopt};
}

framework::StepResult VolumeBinding::CheckBindings(const framework::PodView& pod,
                                                   cluster::NodeRow node) const {
  const cluster::VolumePlan* plan = pod.state.volumes().FindPlan(pod.id);
  if (plan == nullptr) return {};
  const BindingProgress progress = ProgressOf(pod.state, node, *plan);
  switch (progress.kind) {
    case BindingProgress::Kind::kDone:
      return {};
    case BindingProgress::Kind::kFailed:
      return {Outcome::Failed("binding volumes: " + progress.why), std::nullopt, std::nullopt};
    case BindingProgress::Kind::kUnderWay:
      break;
  }
  return {{Code::kWait, {}}, std::nullopt, framework::Recheck{kLookEvery, args_.bind_timeout}};
}

}  // namespace knx::plugins
