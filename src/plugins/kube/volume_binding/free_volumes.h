// The volumes that one claim could get, the best first, and which of them a node can use.
// Most volumes of a class can be used on one node only (local disks), so a node is not held against
// all of them: volumes are looked up by the label they ask for.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "plugins/kube/volume_binding/node_labels_matcher.h"

namespace knx::plugins {

class FreeVolumes {
 public:
  FreeVolumes(const cluster::Volumes& volumes, const k8s::PersistentVolumeClaim& claim,
              WordLookup& words);

  // The volume that the claim gets on a node, not counting those that are taken; nullptr: none.
  [[nodiscard]] const std::string* Find(const cluster::NodeFacts& node,
                                        const std::vector<const std::string*>& taken,
                                        const WordLookup& words) const;

 private:
  struct Candidate {
    std::string name;
    NodeLabelsMatcher nodes;
  };
  using Order = std::uint32_t;

  void Add(const k8s::PersistentVolume& volume, WordLookup& words);
  [[nodiscard]] bool Usable(Order candidate, const cluster::NodeFacts& node,
                            const std::vector<const std::string*>& taken,
                            const WordLookup& words) const;
  // The first of a list that is usable and comes before `best`.
  void Improve(const std::vector<Order>& list, const cluster::NodeFacts& node,
               const std::vector<const std::string*>& taken, const WordLookup& words,
               std::optional<Order>& best) const;

  std::optional<Candidate> set_aside_;  // for this claim: that one or none
  std::vector<Candidate> candidates_;   // in order of preference
  std::vector<Order> anywhere_;         // not known by a label
  std::vector<Symbol> keys_;            // of labels that volumes are known by
  absl::flat_hash_map<std::pair<Symbol, Symbol>, std::vector<Order>> by_label_;
};

}  // namespace knx::plugins
