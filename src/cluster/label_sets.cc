#include "cluster/label_sets.h"

#include <absl/hash/hash.h>

#include "base/check.h"

namespace knx::cluster {

LabelSetId LabelSets::Acquire(const k8s::StringMap& labels) {
  const std::uint64_t hash = absl::HashOf(labels);
  const auto it = by_hash_.find(hash);
  if (it != by_hash_.end() && sets_[it->second.index].labels == labels) {
    ++sets_[it->second.index].users;
    return it->second;
  }
  LabelSetId id{static_cast<std::uint32_t>(sets_.size())};
  if (free_.empty()) {
    sets_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  sets_[id.index] = {labels, hash, 1};
  if (it == by_hash_.end()) by_hash_.emplace(hash, id);
  return id;
}

void LabelSets::Release(LabelSetId id) {
  Set& set = sets_[id.index];
  KNX_CHECK(set.users > 0, "a label set lost more pods than it had");
  if (--set.users > 0) return;
  const auto it = by_hash_.find(set.hash);
  if (it != by_hash_.end() && it->second == id) by_hash_.erase(it);
  set = {};
  free_.push_back(id);
}

std::size_t LabelSets::bytes() const {
  std::size_t total = sets_.capacity() * sizeof(Set) + free_.capacity() * sizeof(LabelSetId) +
                      by_hash_.capacity() * (sizeof(std::uint64_t) + sizeof(LabelSetId) + 1);
  for (const Set& set : sets_) {
    total += set.labels.capacity() * sizeof(set.labels[0]);
    for (const auto& [key, value] : set.labels) {
      if (key.capacity() > std::string().capacity()) total += key.capacity() + 1;
      if (value.capacity() > std::string().capacity()) total += value.capacity() + 1;
    }
  }
  return total;
}

}  // namespace knx::cluster
