// Labels of pods, kept once for all pods that have the same.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/ids.h"
#include "k8s/objects.h"

namespace knx::cluster {

class LabelSets {
 public:
  LabelSetId Acquire(const k8s::StringMap& labels);
  void AcquireAgain(LabelSetId id) { ++sets_[id.index].users; }
  void Release(LabelSetId id);
  [[nodiscard]] const k8s::StringMap& Get(LabelSetId id) const { return sets_[id.index].labels; }
  [[nodiscard]] std::size_t size() const { return sets_.size() - free_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Set {
    k8s::StringMap labels;
    std::uint64_t hash = 0;
    std::uint32_t users = 0;
  };
  std::vector<Set> sets_;
  std::vector<LabelSetId> free_;
  // By hash of the content. Two sets with one hash are told apart by comparing them; the second is
  // then not shared.
  absl::flat_hash_map<std::uint64_t, LabelSetId> by_hash_;
};

}  // namespace knx::cluster
