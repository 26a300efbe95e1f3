// The caches of all classes, within a budget: the least recently used is forgotten first.
// Pods of one class that stand differently to other pods are judged differently, so each class has
// a cache for every relation its pods are in.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/class_cache.h"

namespace knx::engine {

class ClassCaches {
 public:
  // The profile follows from the class, which names its scheduler.
  using Key = std::pair<cluster::ClassId, cluster::RelationId>;

  ClassCaches(const cluster::State& state, std::size_t fixed_bytes, std::size_t bytes_per_node)
      : state_(state), fixed_bytes_(fixed_bytes), bytes_per_node_(bytes_per_node) {}

  // The cache of a class and relation, up to date. Valid until the next call.
  ClassCache& Get(const framework::Profile& profile, cluster::ClassId id,
                  cluster::RelationId relation, const ParallelFor& parallel_for);
  [[nodiscard]] std::size_t bytes() const { return total_bytes_; }
  // What there is a cache of, sorted.
  [[nodiscard]] std::vector<Key> Cached() const;

 private:
  struct Slot {
    std::unique_ptr<ClassCache> cache;
    std::uint64_t serial = 0;  // of the class it was made for: ids are used again
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;
  };
  using Slots = absl::flat_hash_map<Key, Slot>;
  void Forget(Slots::iterator slot);
  void ForgetWhatNobodyNeeds();
  void KeepWithinBudget(const Key& in_use);
  [[nodiscard]] bool Needed(const Key& key, const Slot& slot) const;
  [[nodiscard]] std::size_t budget() const {
    return fixed_bytes_ + bytes_per_node_ * state_.nodes().row_count();
  }

  const cluster::State& state_;
  std::size_t fixed_bytes_, bytes_per_node_;
  Slots slots_;
  std::size_t swept_size_ = 0;  // how many were left when it was last swept
  std::uint64_t uses_ = 0;
  std::size_t total_bytes_ = 0;
};

}  // namespace knx::engine
