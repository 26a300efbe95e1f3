#include "plugins/kube/volume_restrictions/volume_restrictions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/common/pod_volumes.h"

namespace knx::plugins {
namespace {

using framework::Code;
using framework::EventKind;
using framework::Outcome;
using k8s::VolumeSource;

bool HaveOneInCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& text) {
    return std::find(b.begin(), b.end(), text) != b.end();
  });
}

bool Conflict(const k8s::Volume& a, const k8s::Volume& b) {
  if (a.source != b.source || a.id != b.id) return false;
  const bool both_read = a.read_only && b.read_only;
  switch (a.source) {
    case VolumeSource::kAwsEbs:
      return true;
    case VolumeSource::kGcePd:
    case VolumeSource::kIscsi:
      return !both_read;
    case VolumeSource::kRbd:
      return !both_read && a.pool == b.pool && HaveOneInCommon(a.monitors, b.monitors);
    default:
      return false;
  }
}

bool Conflict(const std::vector<k8s::Volume>& a, const std::vector<k8s::Volume>& b) {
  return std::any_of(a.begin(), a.end(), [&](const k8s::Volume& volume) {
    return std::any_of(b.begin(), b.end(),
                       [&](const k8s::Volume& other) { return Conflict(volume, other); });
  });
}

class RestrictionsFilter final : public framework::NodeFilter {
  enum Detail : std::uint64_t { kDisk, kClaimInUse };  // what Explain is told

 public:
  RestrictionsFilter(const framework::PodView& pod, std::vector<k8s::Volume> disks,
                     std::vector<std::string> exclusive)
      : state_(pod.state),
        disks_(std::move(disks)),
        exclusive_(std::move(exclusive)),
        claims_seen_(pod.state.volumes().generation(cluster::Volumes::Kind::kClaim)),
        in_use_(CountInUse()) {}

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    // Where nothing was in the way before a plan, kube-scheduler does not look again.
    const bool skips = disks_.empty() && in_use_ == 0;
    const bool in_use = !skips && in_use_ + planned_ > 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!disks_.empty() && DiskInUse(nodes[i])) {
        out.Reject(i, Code::kUnschedulable, kDisk);
      } else if (in_use) {
        out.Reject(i, Code::kUnschedulable, kClaimInUse);
      }
    }
  }
  void Explain(const framework::Verdict& verdict,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back(
        verdict.detail == kDisk
            ? "node(s) had no available disk"
            : "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
              "already in-use by another pod");
  }
  [[nodiscard]] bool Current() const override {
    return claims_seen_ == state_.volumes().generation(cluster::Volumes::Kind::kClaim) &&
           in_use_ == CountInUse();
  }
  void OnPodAdded(cluster::PodId pod, cluster::NodeRow) override { planned_ += CountUses(pod); }
  void OnPodRemoved(cluster::PodId pod, cluster::NodeRow) override { planned_ -= CountUses(pod); }

 private:
  [[nodiscard]] bool DiskInUse(cluster::NodeRow row) const {
    const auto& pods = state_.volumes().OnNode(state_.nodes().name(row)).with_disks;
    return std::any_of(pods.begin(), pods.end(), [&](cluster::PodId pod) {
      return Conflict(disks_, state_.class_of(pod).spec.volumes);
    });
  }
  // Claims that a pod on some node uses, each once: there should be no second user.
  [[nodiscard]] std::int64_t CountInUse() const {
    return std::count_if(exclusive_.begin(), exclusive_.end(), [&](const std::string& claim) {
      const auto& users = state_.volumes().UsersOf(claim);
      return std::any_of(users.begin(), users.end(), [&](const cluster::Volumes::User& user) {
        return !user.ephemeral && state_.nodes().has_node(user.row);
      });
    });
  }
  // Uses by a pod that a plan moves. kube-scheduler goes by the name of the claim alone, whatever
  // the namespace.
  [[nodiscard]] std::int64_t CountUses(cluster::PodId pod) const {
    if (exclusive_.empty()) return 0;
    std::int64_t uses = 0;
    for (const cluster::ClaimUse& use : state_.class_of(pod).claims) {
      if (use.ephemeral) continue;
      uses += std::any_of(exclusive_.begin(), exclusive_.end(), [&](const std::string& claim) {
        return NameOf(claim) == NameOf(use.key);
      });
    }
    return uses;
  }
  static std::string_view NameOf(std::string_view claim) {
    return claim.substr(claim.find('/') + 1);
  }

  const cluster::State& state_;
  std::vector<k8s::Volume> disks_;
  std::vector<std::string> exclusive_;  // claims that only one pod may use
  std::uint64_t claims_seen_;
  std::int64_t in_use_;
  std::int64_t planned_ = 0;  // uses more, or fewer, by a plan
};

bool IsExclusive(const k8s::PersistentVolumeClaim& claim) {
  return std::find(claim.access_modes.begin(), claim.access_modes.end(),
                   k8s::AccessMode::kReadWriteOncePod) != claim.access_modes.end();
}

}  // namespace

framework::EventSet VolumeRestrictions::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {EventKind::kAssignedPodDelete, EventKind::kUnassignedPodDelete, EventKind::kNodeAdd,
          EventKind::kNodeTaint, EventKind::kClaimAdd};
}

bool VolumeRestrictions::MayHelp(const framework::ClusterEvent& event,
                                 const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kClaimAdd:
      return UsesClaimOf(event, pod.pod_class, false);
    case EventKind::kAssignedPodDelete:
    case EventKind::kUnassignedPodDelete: {
      const cluster::PodClass* gone = event.pod_now.pod_class;
      if (gone == nullptr) return true;
      if (Conflict(pod.pod_class.spec.volumes, gone->spec.volumes)) return true;
      return std::any_of(gone->claims.begin(), gone->claims.end(), [&](const auto& use) {
        const auto& ours = pod.pod_class.claims;
        return !use.ephemeral && std::find(ours.begin(), ours.end(), use) != ours.end();
      });
    }
    default:
      return true;
  }
}

framework::PreFilterResult VolumeRestrictions::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kUsage;
  std::vector<k8s::Volume> disks;
  for (const k8s::Volume& volume : pod.pod_class.spec.volumes) {
    if (cluster::IsRestrictedDisk(volume)) disks.push_back(volume);
  }
  std::vector<std::string> exclusive;
  bool has_claims = false;
  for (const cluster::ClaimUse& use : pod.pod_class.claims) {
    if (use.ephemeral) continue;
    has_claims = true;
    const k8s::PersistentVolumeClaim* claim = pod.state.volumes().FindClaim(use.key);
    if (claim == nullptr) {
      // What claims there are changes with nothing that the engine watches.
      result.scope = framework::Scope::kCluster;
      result.outcome = Outcome::Unresolvable(ClaimNotFound(use.key));
      return result;
    }
    const bool listed = std::find(exclusive.begin(), exclusive.end(), use.key) != exclusive.end();
    if (IsExclusive(*claim) && !listed) exclusive.push_back(use.key);
  }
  if (disks.empty() && !has_claims) {
    result.outcome = Outcome::Skip();
    return result;
  }
  // Also if nothing is in the way now: that may change.
  result.filter = std::make_unique<RestrictionsFilter>(pod, std::move(disks), std::move(exclusive));
  return result;
}

}  // namespace knx::plugins
