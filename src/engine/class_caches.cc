#include "engine/class_caches.h"

#include <algorithm>

namespace knx::engine {
namespace {

// Sweeping fewer caches than this is not worth it.
constexpr std::size_t kMinSwept = 64;

}  // namespace

ClassCache& ClassCaches::Get(const framework::Profile& profile, cluster::ClassId id,
                             cluster::RelationId relation, const ParallelFor& parallel_for) {
  const Key key{id, relation};
  const std::uint64_t serial = state_.classes().Get(id).serial;
  auto found = slots_.find(key);
  if (found != slots_.end() && found->second.serial != serial) {
    Forget(found);
    found = slots_.end();
  }
  if (found == slots_.end()) {
    if (slots_.size() >= std::max(kMinSwept, 2 * swept_size_)) ForgetWhatNobodyNeeds();
    found = slots_.try_emplace(key).first;
    found->second.cache = std::make_unique<ClassCache>(profile, state_, id, relation);
    found->second.serial = serial;
  }
  Slot& slot = found->second;
  slot.last_use = ++uses_;
  slot.cache->Refresh(parallel_for);
  ClassCache& cache = *slot.cache;
  const std::size_t bytes = cache.bytes();
  total_bytes_ += bytes - slot.bytes;
  slot.bytes = bytes;
  if (total_bytes_ > budget()) KeepWithinBudget(key);
  return cache;
}

void ClassCaches::Forget(Slots::iterator slot) {
  total_bytes_ -= slot->second.bytes;
  slots_.erase(slot);
}

bool ClassCaches::Needed(const Key& key, const Slot& slot) const {
  return state_.classes().Get(key.first).serial == slot.serial &&
         state_.kinship().Exists(key.second);
}

// Classes and relations that are gone leave their caches behind.
void ClassCaches::ForgetWhatNobodyNeeds() {
  for (auto it = slots_.begin(); it != slots_.end();) {
    const auto here = it++;
    if (!Needed(here->first, here->second)) Forget(here);
  }
  swept_size_ = slots_.size();
}

// A scan over all caches, at most once for each that has to go: rare enough not to need a list.
void ClassCaches::KeepWithinBudget(const Key& in_use) {
  ForgetWhatNobodyNeeds();
  while (total_bytes_ > budget()) {
    auto oldest = slots_.end();
    for (auto it = slots_.begin(); it != slots_.end(); ++it) {
      if (it->first == in_use) continue;
      if (oldest == slots_.end() || it->second.last_use < oldest->second.last_use) oldest = it;
    }
    if (oldest == slots_.end()) return;
    Forget(oldest);
  }
}

std::vector<ClassCaches::Key> ClassCaches::Cached() const {
  std::vector<Key> out;
  for (const auto& [key, slot] : slots_) {
    if (Needed(key, slot)) out.push_back(key);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace knx::engine
