// Can a pod's claims be served on a node, and how? Prepared once for a class of pods from its
// claims and from what is known of volumes; asked about one node after the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "plugins/kube/volume_binding/free_volumes.h"
#include "plugins/kube/volume_binding/pod_claims.h"

namespace knx::plugins {

// What a driver can make at most in one piece; the more exact number wins.
const std::optional<k8s::Quantity>& LargestVolume(const k8s::CsiStorageCapacity& capacity);

class VolumeFinder {
 public:
  // Why a node does not do; several may hold.
  enum Reason : std::uint8_t {
    kNodeConflict = 1,  // a volume that a claim has cannot be used there
    kNoVolume = 2,      // a claim without a volume finds none there, and none can be made
    kNoSpace = 4,       // one could be made if there were room for it
    kVolumeGone = 8,    // a claim has a volume that does not exist
  };

  VolumeFinder(const cluster::State& state, const PodClaims& claims);

  // A set of reasons; 0: it does, and `plan` (if there is one) is what has to be written.
  [[nodiscard]] std::uint8_t Judge(cluster::NodeRow row, cluster::VolumePlan* plan) const;

  // False once something that it was prepared from is another.
  [[nodiscard]] bool Current() const;

 private:
  // A volume that is there: on which nodes, and on which if its driver took over there.
  struct BoundVolume {
    bool exists = false;
    NodeLabelsMatcher nodes, migrated_nodes;
    std::string_view in_tree_plugin;  // empty: of no driver that could take over
  };
  // What is needed to make a volume for a claim.
  struct Provisioning {
    bool possible = false;
    NodeLabelsMatcher nodes;
    bool needs_capacity = false;
    std::vector<NodeLabelsMatcher> with_capacity;  // any of them
  };
  struct UnboundClaim {
    std::string key;
    k8s::Quantity size;
    FreeVolumes volumes;
    Provisioning provisioning;
  };

  void PrepareBound(const std::string& claim);
  void PrepareDelayed(const std::string& claim);
  Provisioning PrepareProvisioning(const k8s::PersistentVolumeClaim& claim);
  [[nodiscard]] std::uint8_t JudgeBound(cluster::NodeRow row) const;
  [[nodiscard]] std::uint8_t JudgeDelayed(cluster::NodeRow row, cluster::VolumePlan* plan) const;
  [[nodiscard]] std::uint8_t JudgeProvisioning(const Provisioning& provisioning,
                                               const cluster::NodeFacts& node) const;
  void Plan(const UnboundClaim& claim, const std::string* volume, cluster::VolumePlan& plan) const;

  const cluster::State& state_;
  WordLookup words_;
  std::array<std::uint64_t, static_cast<std::size_t>(cluster::Volumes::Kind::kCount)> seen_{};
  std::vector<BoundVolume> bound_;
  std::vector<UnboundClaim> provisioned_;  // those for which a node was chosen already
  std::vector<std::string> selected_;      // and that node
  std::vector<UnboundClaim> unbound_;      // the smallest first
};

// Whether a volume can be used on the node, as it is attached there.
bool CanUse(const cluster::State& state, cluster::NodeRow row, const k8s::PersistentVolume& volume);

}  // namespace knx::plugins
