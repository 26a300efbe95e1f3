// Which pods do pods speak of, and which pods are those?
//
// Affinity, anti-affinity and spreading are all about pods that a selector means. A selector that
// somebody uses is registered here once, and for each the placed pods that it means are counted by
// row, as they come and go; nobody ever recounts them. Pods of one namespace, with the same labels
// and the same controller are *kin*: no selector can tell them apart, so it is matched with the kin
// and not with each pod. What the plugins need to know of a pod besides its class is its
// *relation*: which of the registered selectors mean it, and which pods are its siblings.
//
// As long as nobody speaks of other pods, all this costs next to nothing.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "base/text_map.h"
#include "cluster/bystanders.h"
#include "cluster/ids.h"
#include "cluster/label_sets.h"
#include "cluster/pod_query.h"
#include "cluster/pod_table.h"
#include "cluster/row_counter.h"

namespace knx::cluster {

// Placed pods that a selector means: all of them, and those that are not being deleted.
enum MatchMeasure : std::uint8_t { kAllPods, kStayingPods };
using MatchCounter = RowCounter<std::int32_t, 2>;
// What placed pods themselves say about pods that a selector means: how many of their terms require
// to be apart from them, how many to be near them, and the weights with which they prefer it.
enum CarryMeasure : std::uint8_t { kApart, kNear, kPreference };
using CarryCounter = RowCounter<std::int64_t, 3>;

struct PodSelector {
  PodQuery query;
  // Of a term of an affinity: what near means. Invalid where it is not for the selector to say.
  Symbol topology_key;
  MatchCounter matching;  // counted for every selector
  CarryCounter carried;   // counted with a topology key only
  std::uint32_t users = 0;
  std::string text;  // by which it is found
};

struct Relation {
  std::vector<PodSelectorId> meant_by;  // sorted
  PodSelectorId siblings;               // invalid: none
  [[nodiscard]] bool MeantBy(PodSelectorId id) const;
};

// The controller of a pod, if it is of a kind whose selector makes siblings.
struct Controller {
  std::optional<k8s::WorkloadKind> kind;
  std::string name;
  friend bool operator==(const Controller&, const Controller&) = default;
};
Controller ControllerOf(const k8s::ObjectMeta& meta);

class Kinship {
 public:
  Kinship(const PodTable& pods, LabelSets& label_sets, const SymbolTable& words,
          const Bystanders& bystanders);
  ~Kinship();
  Kinship(const Kinship&) = delete;
  Kinship& operator=(const Kinship&) = delete;

  // ---- selectors ----
  // The selector of a query; counts one more user of it.
  PodSelectorId Acquire(const PodQuery& query, Symbol topology_key);
  void Release(PodSelectorId id);
  // Stays where it is as long as somebody uses it.
  [[nodiscard]] const PodSelector& Get(PodSelectorId id) const { return selectors_[id.index]; }
  // Pods on `row` that say something about those whom the selector means come, or go.
  void Carry(PodSelectorId id, NodeRow row, const CarryCounter::Numbers& delta);

  // ---- kin ----
  KinId AcquireKin(Symbol pod_namespace, LabelSetId labels, const Controller& controller);
  void AcquireAgain(KinId id) { ++kins_[id.index].users; }
  void ReleaseKin(KinId id);
  [[nodiscard]] Symbol NamespaceOf(KinId id) const { return kins_[id.index].pod_namespace; }
  [[nodiscard]] LabelSetId LabelsOf(KinId id) const { return kins_[id.index].labels; }
  // The selectors that mean these pods, sorted.
  [[nodiscard]] std::span<const PodSelectorId> MeaningOf(KinId id) const {
    return kins_[id.index].meant_by;
  }
  [[nodiscard]] bool Means(PodSelectorId selector, KinId id) const;
  // As of the last time somebody asked for the relation.
  [[nodiscard]] PodSelectorId SiblingsOf(KinId id) const { return kins_[id.index].siblings; }

  // ---- relations ----
  RelationId RelationOf(KinId id);
  [[nodiscard]] const Relation& Get(RelationId id) const;
  // False: no pod is in this relation any more, and none ever will be.
  [[nodiscard]] bool Exists(RelationId id) const;

  // ---- what happens ----
  // Somebody speaks, or has spoken, of other pods. Before that nothing needs to be counted.
  [[nodiscard]] bool tracking() const { return tracking_; }
  // The pod is on its node now, or is about to leave it.
  void PodPlaced(PodId id) { Count(id, +1); }
  void PodLeaves(PodId id) { Count(id, -1); }
  void NamespaceChanged(std::string_view name);

  // ---- care ----
  [[nodiscard]] std::optional<std::string> Verify() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Kin {
    Symbol pod_namespace;
    LabelSetId labels;
    Controller controller;
    std::uint64_t hash = 0;
    std::uint32_t users = 0;
    PodId first;  // of the placed pods, a list through links_
    std::vector<PodSelectorId> meant_by;
    PodSelectorId siblings;
    std::uint64_t siblings_as_of = 0;
    RelationId relation;  // invalid: to be found anew
  };
  // Neighbours in the list of placed pods of one kin.
  struct Link {
    PodId before, after;
  };
  struct RelationEntry {
    Relation relation;
    std::uint32_t kins = 0;
    std::string text;
  };

  // ---- kinship.cc ----
  void Count(PodId id, int sign);
  void StartTracking();
  void LinkPod(PodId id, Kin& kin);
  void UnlinkPod(PodId id, Kin& kin);
  [[nodiscard]] bool Evaluate(const PodQuery& query, const Kin& kin) const;
  void BeginToMean(PodSelectorId id, Kin& kin);
  void CeaseToMean(PodSelectorId id, Kin& kin);
  // Calls visit(kin) for every kin that the query can mean, and some others.
  template <class Visit>
  void ForEachCandidate(const PodQuery& query, Visit visit);
  void FindMeaning(Kin& kin);
  void IndexKin(KinId id, bool add);
  void IndexSelector(PodSelectorId id, bool add);

  // ---- relations.cc ----
  void RefreshSiblings(Kin& kin);
  [[nodiscard]] PodQuery SiblingsQuery(const Kin& kin) const;
  void DropRelation(Kin& kin);

  const PodTable& pods_;
  LabelSets& label_sets_;
  const SymbolTable& words_;
  const Bystanders& bystanders_;

  std::deque<PodSelector> selectors_;  // a deque, so that a selector stays where it is
  std::vector<PodSelectorId> free_selectors_;
  TextMap<PodSelectorId> selector_index_;
  std::vector<PodSelectorId> namespace_selectors_;  // those that ask about namespaces

  std::vector<Kin> kins_;
  std::vector<KinId> free_kins_;
  absl::flat_hash_map<std::uint64_t, KinId> kin_index_;  // by hash; a second of one hash is alone

  // Kept from the first selector on. By namespace and label; a selector that is not bound to
  // namespaces is under no namespace, one that needs no label among the rest.
  bool tracking_ = false;
  absl::flat_hash_map<std::uint64_t, std::vector<KinId>> kins_with_label_;
  absl::flat_hash_map<std::uint64_t, std::vector<PodSelectorId>> selectors_with_label_;
  std::vector<PodSelectorId> selectors_without_label_;
  std::vector<Link> links_;  // by pod

  absl::flat_hash_map<RelationId, RelationEntry> relations_;
  TextMap<RelationId> relation_index_;
  std::uint32_t next_relation_ = 1;
};

}  // namespace knx::cluster
