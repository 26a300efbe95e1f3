// The caches of all classes, within a budget: the least recently used is forgotten first.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/state.h"
#include "engine/class_cache.h"

namespace knx::engine {

class ClassCaches {
 public:
  ClassCaches(const cluster::State& state, std::size_t fixed_bytes, std::size_t bytes_per_node)
      : state_(state), fixed_bytes_(fixed_bytes), bytes_per_node_(bytes_per_node) {}

  // The cache of a class, up to date. Valid until the next call.
  ClassCache& Get(const framework::Profile& profile, cluster::ClassId id,
                  const ParallelFor& parallel_for);
  [[nodiscard]] std::size_t bytes() const { return total_bytes_; }
  // Classes with a cache, by id.
  [[nodiscard]] std::vector<cluster::ClassId> Cached() const;

 private:
  struct Slot {
    std::unique_ptr<ClassCache> cache;
    std::uint64_t serial = 0;  // of the class it was made for: ids are used again
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;
  };
  void Forget(Slot& slot);
  void KeepWithinBudget(const Slot& in_use);
  [[nodiscard]] std::size_t budget() const {
    return fixed_bytes_ + bytes_per_node_ * state_.nodes().row_count();
  }

  const cluster::State& state_;
  std::size_t fixed_bytes_, bytes_per_node_;
  std::vector<Slot> slots_;  // by class id
  std::uint64_t uses_ = 0;
  std::size_t total_bytes_ = 0;
};

}  // namespace knx::engine
