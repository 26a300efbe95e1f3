// The cluster as the core knows it: nodes, pods, who is where, who is nominated where.
// One owner, no locks. Between Mark() and Rollback() a plan (places, displacements, nominations) is
// tried on the state itself, never on a copy; what happens in the cluster meanwhile has to wait. A
// rollback restores values and marks what it touched as changed, so that no cache can mistake the
// state after it for the state before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/symbol.h"
#include "cluster/bystanders.h"
#include "cluster/change_log.h"
#include "cluster/gang_table.h"
#include "cluster/image_table.h"
#include "cluster/kinship.h"
#include "cluster/label_sets.h"
#include "cluster/node_table.h"
#include "cluster/pod_class.h"
#include "cluster/pod_table.h"
#include "cluster/taint_sets.h"
#include "cluster/volumes.h"
#include "k8s/objects.h"

namespace knx::cluster {

// What an update of a Node object changed, as far as scheduling cares.
struct NodeChange {
  bool added = false, removed = false;
  bool allocatable = false, labels = false, taints = false, unschedulable = false, images = false;
  bool declared_features = false;
  NodeFacts before;  // what it said before; empty for a new one
  [[nodiscard]] bool any() const {
    return added || removed || allocatable || labels || taints || unschedulable || images ||
           declared_features;
  }
};

// What an update of a Pod object changed.
struct PodChange {
  bool spec = false;  // its class
  bool tolerations = false;
  bool labels = false;
  bool gates_removed = false;   // it had gates and has none now
  bool requests_lower = false;  // takes less of at least one resource than before
  bool usage = false;           // takes something else on its node than before
  bool moved = false;           // is on another node than before, or on one at all
  bool terminating = false;
  bool nomination = false;  // where room is kept for it, because somebody else says so
  bool gang = false;        // belongs to another gang than before, or says otherwise what it needs
};

class State {
 public:
  // Made and destroyed out of line, so that those who use it need not compile all that is in it.
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // ---- nodes ----
  NodeChange UpsertNode(const k8s::Node& node);
  NodeChange RemoveNode(NodeRow row);
  [[nodiscard]] const NodeTable& nodes() const { return nodes_; }
  void RefreshRanks() { nodes_.RefreshRanks(); }

  // ---- pods ----
  // A pod with a node name takes room there, whether the node is known or not.
  PodId AddPod(const k8s::Pod& pod);
  PodChange UpdatePod(PodId id, const k8s::Pod& pod);
  void RemovePod(PodId id);
  // Takes room on a node for a pod that has none yet, until it is confirmed or displaced.
  void Assume(PodId id, NodeRow row);
  // Takes the pod from its node; the pod stays known.
  void Displace(PodId id);
  void Nominate(PodId id, NodeRow row);
  void ClearNomination(PodId id);
  void SetBeneficiaryPriority(PodId hold, std::int32_t priority) {
    pods_.Edit(hold).beneficiary_priority = priority;
  }
  // Evictions that make room for it have begun, or are over. Not part of a plan.
  void SetMakingRoom(PodId id, bool making_room) { pods_.Edit(id).making_room = making_room; }
  // It is evicted for another, or is not after all. Not part of a plan.
  void SetEvicted(PodId id, bool evicted);
  // Keeps a class and kin although their last pod goes, for who still has to speak of them.
  void Hold(ClassId id, KinId kin) {
    classes_.AcquireAgain(id);
    kinship_.AcquireAgain(kin);
  }
  void Release(ClassId id, KinId kin) {
    classes_.Release(id);
    kinship_.ReleaseKin(kin);
  }
  [[nodiscard]] std::span<const PodId> nominated(NodeRow row) const;
  // Rows with nominated pods, ascending.
  [[nodiscard]] const std::map<NodeRow, std::vector<PodId>>& nominations() const {
    return nominations_;
  }
  [[nodiscard]] const PodTable& pods() const { return pods_; }
  [[nodiscard]] const Pod& pod(PodId id) const { return pods_.Get(id); }
  [[nodiscard]] const PodClass& class_of(PodId id) const {
    return classes_.Get(pods_.Get(id).pod_class);
  }
  // Whether a node that says this is there for pods at all: neither cordoned nor known to be dead.
  [[nodiscard]] bool TakesPods(const NodeFacts& facts) const;
  // What the pod takes from the node it is on.
  [[nodiscard]] NodeTable::Usage usage_of(PodId id) const;

  // ---- pods that speak of pods ----
  [[nodiscard]] const Kinship& kinship() const { return kinship_; }
  // How the pod stands to others, as far as that makes a difference to plugins.
  RelationId RelationOf(PodId id) { return kinship_.RelationOf(pods_.Get(id).kin); }

  // ---- pods that start together ----
  [[nodiscard]] const GangTable& gangs() const { return gangs_; }
  // A pod has done its work, whether it was known or not; it takes no room. The gang that has one
  // more of those now, if any.
  GangId AddFinished(const k8s::Pod& pod);
  // One that has done its work is gone, likewise. Nothing if it was not told to have done so.
  GangId RemoveFinished(const std::string& uid);
  // Invalid if it belongs to none, as far as can be read, or if each pod of it starts for itself.
  [[nodiscard]] GangId gang_of(PodId id) const {
    const GangId gang = named_gang_of(id);
    return gang.valid() && gangs_.Get(gang).together() ? gang : GangId{};
  }
  // Before the first pod comes: whether what operators put on their pods makes gangs of them.
  void SetOperatorGangs(OperatorGangs operators) { operator_gangs_ = operators; }
  // Likewise: pods of this scheduler are placed by themselves, whatever gang they belong to.
  void PlaceByItself(std::string scheduler_name) {
    by_itself_.push_back(std::move(scheduler_name));
  }
  // Whose members name the object, whether it is there or not; none for other kinds of objects.
  [[nodiscard]] std::vector<GangId> GangsOf(const k8s::Object& object) const;
  void NoteConflictSaid(PodId id) { pods_.Edit(id).gang->conflict_said = true; }

  // ---- what pods are for ----
  // Before the first pod or namespace comes; they must outlive the state. nullptr: nobody asks.
  void SetProfileRules(const ProfileRules* rules) { profile_rules_ = rules; }
  [[nodiscard]] WorkloadProfile profile_of(PodId id) const;
  // Grows when a namespace begins to say something else about its pods.
  [[nodiscard]] std::uint64_t namespace_profile_changes() const {
    return namespace_profile_changes_;
  }

  // ---- everything else ----
  // Pods and nodes are not taken here.
  void UpsertObject(const k8s::Object& object);
  void RemoveObject(const k8s::Object& object);
  [[nodiscard]] const Bystanders& bystanders() const { return bystanders_; }
  [[nodiscard]] const Volumes& volumes() const { return volumes_; }
  // What the pod needs of volumes is its own from here on, until it is released or settled.
  void ReserveVolumes(PodId id, VolumePlan plan);
  // Does nothing for a pod without a plan.
  void ReleaseVolumes(PodId id);
  // It has happened: nothing is left to be taken back.
  void SettleVolumes(PodId id) { volumes_.Settle(id); }

  // ---- words ----
  [[nodiscard]] const SymbolTable& words() const { return words_; }
  [[nodiscard]] const ResourceNames& resources() const { return resource_names_; }
  [[nodiscard]] ResourceNames& resources() { return resource_names_; }
  [[nodiscard]] const TaintSets& taint_sets() const { return taint_sets_; }
  [[nodiscard]] const ImageTable& images() const { return images_; }
  [[nodiscard]] const LabelSets& label_sets() const { return label_sets_; }
  [[nodiscard]] const ClassTable& classes() const { return classes_; }
  // Grows when nodes bring words or sets of taints that were not known before. What was prepared
  // from texts of a pod
  // ("no node has that label") must then be prepared again.
  [[nodiscard]] std::uint64_t vocabulary() const { return words_.size() + taint_sets_.size(); }

  // ---- changes ----
  // Rows whose Node object changed; rows whose pods changed.
  [[nodiscard]] const ChangeLog& fact_changes() const { return fact_changes_; }
  [[nodiscard]] const ChangeLog& usage_changes() const { return usage_changes_; }

  // ---- journal ----
  using MarkId = std::size_t;
  // Begins recording, or nests. Everything after it can be taken back.
  MarkId Mark();
  // Takes back everything since `mark`, newest first, and ends the recording that `mark` began.
  void Rollback(MarkId mark);
  // Keeps everything since `mark`; an outer mark can still take it back.
  void Commit(MarkId mark);
  [[nodiscard]] bool recording() const { return open_marks_ > 0; }

  // ---- care ----
  // Recounts everything from scratch; says the first difference, or nothing.
  [[nodiscard]] std::optional<std::string> Verify() const;
  struct Bytes {
    std::size_t nodes = 0, pods = 0, classes = 0, labels = 0, words = 0, changes = 0;
    std::size_t bystanders = 0, volumes = 0, kinship = 0;
    [[nodiscard]] std::size_t total() const {
      return nodes + pods + classes + labels + words + changes + bystanders + volumes + kinship;
    }
  };
  [[nodiscard]] Bytes bytes() const;

 private:
  // One change of the journal, and what is needed to take it back.
  struct Placed {
    PodId pod;
  };
  struct Displaced {
    PodId pod;
    NodeRow row;
    bool assumed;
  };
  struct Nominated {
    PodId pod;
    NodeRow before;
  };
  struct VolumesReserved {
    PodId pod;
  };
  // The plan is the last of released_: entries stay small and cheap to copy.
  struct VolumesReleased {
    PodId pod;
  };
  using Change = std::variant<Placed, Displaced, Nominated, VolumesReserved, VolumesReleased>;

  NodeFacts MakeFacts(const k8s::Node& node);
  std::vector<ImageId> ImagesOf(const k8s::Node& node);
  Pod MakeRecord(const k8s::Pod& pod);
  void PutOn(PodId id, NodeRow row, bool assumed);
  void TakeOff(PodId id);
  // Counts the pod, which is on a node, among those that others ask about, or no longer.
  void CountRelations(PodId id, const Pod& pod, int sign) {
    if (pod.gang != nullptr && pod.gang->id.valid() && pod.fills_gang()) {
      gangs_.CountPlaced(pod.gang->id, sign);
    }
    if (kinship_.tracking()) CountTracked(id, sign);
  }
  void CountTracked(PodId id, int sign);
  [[nodiscard]] GangId named_gang_of(PodId id) const {
    const auto& gang = pods_.Get(id).gang;
    return gang == nullptr ? GangId{} : gang->id;
  }
  void JoinGang(PodId id);
  void LeaveGang(PodId id);
  [[nodiscard]] GangDemand CountGangDemand(GangId id) const;
  void AddSubGroup(const Pod& member, GangDemand& demand) const;
  // Which sub-group a member is in, as it says or as the object of its gang does.
  void AssignSubGroup(PodId id);
  // Who has finished in this run of the gang, after anything changed that says when it began. The
  // gang, if its pods start together.
  GangId RecountFinished(GangId id);
  [[nodiscard]] Time BegunWith(const Pod& member, const GangKey& key) const;
  void SetGangObject(const k8s::Object& object, bool there);
  void SetNamespaceProfile(const k8s::Object& object, bool there);
  void SetNomination(PodId id, NodeRow row);
  // Nominates the pod to the node that it was last told to be.
  void FollowNomination(PodId id);
  void ReleaseRowIfUnused(NodeRow row);
  [[nodiscard]] std::optional<std::string> VerifyNode(NodeRow row,
                                                      std::span<const PodId> pods) const;
  [[nodiscard]] std::optional<std::string> VerifyShared() const;
  [[nodiscard]] std::optional<std::string> VerifyVolumes() const;
  void TouchVolumeNodes();
  [[nodiscard]] std::optional<std::string> VerifyCarried() const;
  [[nodiscard]] std::optional<std::string> VerifyGangs() const;
  void TouchUsage(NodeRow row) { usage_changes_.Append(row); }

  SymbolTable words_;
  ResourceNames resource_names_;
  TaintSets taint_sets_;
  ImageTable images_;
  NodeTable nodes_;
  LabelSets label_sets_;
  PodTable pods_;
  GangTable gangs_;
  OperatorGangs operator_gangs_ = OperatorGangs::kIgnore;
  std::vector<std::string> by_itself_;  // schedulers of pods that are placed so
  const ProfileRules* profile_rules_ = nullptr;
  std::map<Symbol, ProfileFindings> namespace_profiles_;  // of those that say anything
  std::uint64_t namespace_profile_changes_ = 0;
  Bystanders bystanders_;
  Volumes volumes_;
  Kinship kinship_{pods_, label_sets_, words_, bystanders_};
  ClassTable classes_{words_, kinship_};
  std::map<NodeRow, std::vector<PodId>> nominations_;
  ChangeLog fact_changes_, usage_changes_;
  std::vector<Change> journal_;
  std::vector<VolumePlan> released_;  // while recording, in the order of the journal
  std::size_t open_marks_ = 0;
};

}  // namespace knx::cluster
