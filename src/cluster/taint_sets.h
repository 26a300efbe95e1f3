// Sets of taints, kept once for all nodes that have the same: a toleration is judged once a set,
// not once a node.
#pragma once

#include <string>
#include <vector>

#include "base/text_map.h"
#include "cluster/ids.h"
#include "k8s/objects.h"

namespace knx::cluster {

class TaintSets {
 public:
  TaintSets() { Intern({}); }
  TaintSetId Intern(const std::vector<k8s::Taint>& taints);
  [[nodiscard]] const std::vector<k8s::Taint>& Get(TaintSetId id) const { return sets_[id.index]; }
  // Ids are 0..size()-1; 0 is the empty set.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] std::size_t bytes() const { return sets_.size() * 256; }

 private:
  std::vector<std::vector<k8s::Taint>> sets_;
  TextMap<TaintSetId> index_;
};

}  // namespace knx::cluster
