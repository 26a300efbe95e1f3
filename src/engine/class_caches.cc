#include "engine/class_caches.h"

namespace knx::engine {

ClassCache& ClassCaches::Get(const framework::Profile& profile, cluster::ClassId id,
                             const ParallelFor& parallel_for) {
  if (id.index >= slots_.size()) slots_.resize(id.index + 1);
  Slot& slot = slots_[id.index];
  const std::uint64_t serial = state_.classes().Get(id).serial;
  if (slot.cache != nullptr && slot.serial != serial) Forget(slot);
  if (slot.cache == nullptr) {
    slot.cache = std::make_unique<ClassCache>(profile, state_, id);
    slot.serial = serial;
  }
  slot.last_use = ++uses_;
  slot.cache->Refresh(parallel_for);
  const std::size_t bytes = slot.cache->bytes();
  total_bytes_ += bytes - slot.bytes;
  slot.bytes = bytes;
  if (total_bytes_ > budget()) KeepWithinBudget(slot);
  return *slot.cache;
}

void ClassCaches::Forget(Slot& slot) {
  total_bytes_ -= slot.bytes;
  slot = {};
}

// A scan over all classes, at most once for each cache that has to go: rare enough not to need a
// list.
void ClassCaches::KeepWithinBudget(const Slot& in_use) {
  while (total_bytes_ > budget()) {
    Slot* oldest = nullptr;
    for (Slot& slot : slots_) {
      if (slot.cache == nullptr || &slot == &in_use) continue;
      if (oldest == nullptr || slot.last_use < oldest->last_use) oldest = &slot;
    }
    if (oldest == nullptr) return;
    Forget(*oldest);
  }
}

std::vector<cluster::ClassId> ClassCaches::Cached() const {
  std::vector<cluster::ClassId> out;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].cache != nullptr) out.push_back(cluster::ClassId{i});
  }
  return out;
}

}  // namespace knx::engine
