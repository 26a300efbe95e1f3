#include "plugins/kube/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "k8s/csi_migration.h"
#include "plugins/common/pod_volumes.h"

namespace knx::plugins {
namespace {

using cluster::Volumes;
using framework::Code;
using framework::EventKind;

bool MayBeAttached(const k8s::Volume& volume) {
  return volume.source == k8s::VolumeSource::kClaim ||
         volume.source == k8s::VolumeSource::kEphemeral || k8s::IsMigratable(volume.source);
}

bool MayBeAttached(const k8s::PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [](const k8s::Volume& volume) { return MayBeAttached(volume); });
}

// The volumes that a pod brings, each once.
struct Wanted {
  std::string driver, name;
  friend auto operator<=>(const Wanted&, const Wanted&) = default;
};

class LimitsFilter final : public framework::NodeFilter {
  enum Detail : std::uint64_t { kTooMany, kNoClaim };  // what Explain is told

 public:
  explicit LimitsFilter(const framework::PodView& pod) : state_(pod.state) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      seen_[i] = state_.volumes().generation(kKinds[i]);
    }
    for (const cluster::ClaimUse& use : pod.pod_class.claims) {
      if (state_.volumes().FindClaim(use.key) == nullptr) {
        missing_ = use.key;
        return;
      }
      if (auto as = state_.volumes().AttachedAs(use.key)) Want(*std::move(as));
    }
    for (const k8s::Volume& volume : pod.pod_class.spec.volumes) {
      if (auto as = k8s::AttachedAs(volume)) Want(*std::move(as));
    }
    std::sort(wanted_.begin(), wanted_.end());
    wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (missing_) {
        out.Reject(i, Code::kUnresolvable, kNoClaim);
      } else if (!wanted_.empty() && ExceedsLimits(state_.nodes().name(nodes[i]))) {
        out.Reject(i, Code::kUnschedulable, kTooMany);
      }
    }
  }
  void Explain(const framework::Verdict& verdict,
               std::vector<std::string>& reasons) const override {
    if (verdict.detail == kNoClaim && missing_) {
      reasons.push_back(fmt::format("looking up PVC {}: {}", *missing_, ClaimNotFound(*missing_)));
    } else {
      reasons.emplace_back("node(s) exceed max volume count");
    }
  }
  [[nodiscard]] bool Current() const override {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (seen_[i] != state_.volumes().generation(kKinds[i])) return false;
    }
    return true;
  }

 private:
  static constexpr std::array<Volumes::Kind, 3> kKinds = {
      Volumes::Kind::kClaim, Volumes::Kind::kVolume, Volumes::Kind::kClass};

  void Want(k8s::CsiVolume volume) {
    std::string name = volume.driver + "/" + volume.handle;
    wanted_.push_back({std::move(volume.driver), std::move(name)});
  }

  [[nodiscard]] bool ExceedsLimits(const std::string& node_name) const {
    const cluster::NodeVolumes& node = state_.volumes().OnNode(node_name);
    if (!node.csi) return false;
    for (const k8s::CsiNodeDriver& driver : node.csi->drivers) {
      if (!driver.limit) continue;
      std::int64_t added = 0;
      for (const Wanted& wanted : wanted_) {
        if (wanted.driver != driver.name) continue;
        // A volume that pods share is attached once. One that is merely attached still counts
        // twice, as in kube-scheduler.
        const auto use = node.in_use.find(wanted.name);
        added += use == node.in_use.end() || use->second.pods == 0 ? 1 : 0;
      }
      if (added == 0) continue;
      const auto present = node.by_driver.find(driver.name);
      const std::int64_t there = present == node.by_driver.end() ? 0 : present->second;
      if (there + added > *driver.limit) return true;
    }
    return false;
  }

  const cluster::State& state_;
  std::array<std::uint64_t, kKinds.size()> seen_{};
  std::vector<Wanted> wanted_;
  std::optional<std::string> missing_;
};

bool HelpsByLimit(const framework::ClusterEvent& event) {
  const auto* now = ObjectOf<k8s::CsiNode>(event);
  const auto* before = ObjectBefore<k8s::CsiNode>(event);
  if (now == nullptr || before == nullptr) return true;
  std::map<std::string_view, std::int32_t> limits;
  for (const k8s::CsiNodeDriver& driver : before->drivers) {
    limits[driver.name] = driver.limit.value_or(0);
  }
  return std::any_of(now->drivers.begin(), now->drivers.end(), [&](const auto& driver) {
    const auto old = limits.find(driver.name);
    return driver.limit.value_or(0) > (old == limits.end() ? 0 : old->second);
  });
}

bool HelpsByPod(const framework::PodInEvent& gone) {
  if (gone.pod_class == nullptr) return true;
  // A pod that waited held no volume, unless room was kept for it.
  if (!gone.node.valid() && !gone.nominated.valid()) return false;
  return MayBeAttached(gone.pod_class->spec);
}

bool HelpsByAttachment(const framework::ClusterEvent& event, const framework::PodView& pod) {
  const auto* gone = ObjectOf<k8s::VolumeAttachment>(event);
  const auto& volumes = pod.pod_class.spec.volumes;
  return gone == nullptr ||
         std::any_of(volumes.begin(), volumes.end(), [&](const k8s::Volume& volume) {
           if (volume.source == k8s::VolumeSource::kClaim) return true;
           const auto as = k8s::AttachedAs(volume);
           return as && as->driver == gone->attacher;
         });
}

}  // namespace

framework::EventSet NodeVolumeLimits::events() const {
  return {EventKind::kCsiNodeAdd,          EventKind::kCsiNodeUpdate, EventKind::kAssignedPodDelete,
          EventKind::kUnassignedPodDelete, EventKind::kClaimAdd,      EventKind::kAttachmentDelete};
}

bool NodeVolumeLimits::MayHelp(const framework::ClusterEvent& event,
                               const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kCsiNodeUpdate:
      return HelpsByLimit(event);
    case EventKind::kAssignedPodDelete:
    case EventKind::kUnassignedPodDelete:
      return HelpsByPod(event.pod_now);
    case EventKind::kClaimAdd:
      return UsesClaimOf(event, pod.pod_class, true);
    case EventKind::kAttachmentDelete:
      return HelpsByAttachment(event, pod);
    default:
      return true;
  }
}

framework::PreFilterResult NodeVolumeLimits::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kUsage;
  if (MayBeAttached(pod.pod_class.spec)) {
    result.filter = std::make_unique<LimitsFilter>(pod);
  } else {
    result.outcome = framework::Outcome::Skip();
  }
  return result;
}

}  // namespace knx::plugins
