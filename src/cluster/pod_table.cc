#include "cluster/pod_table.h"

#include <absl/hash/hash.h>

#include "base/check.h"

namespace knx::cluster {

std::size_t PodTable::UidHash::operator()(PodId id) const { return (*this)(table->Get(id).uid); }

std::size_t PodTable::UidHash::operator()(std::string_view uid) const { return absl::HashOf(uid); }

bool PodTable::UidEqual::operator()(PodId a, std::string_view uid) const {
  return table->Get(a).uid == uid;
}

PodTable::PodTable() : by_uid_(0, UidHash{this}, UidEqual{this}) {}

PodId PodTable::Add(Pod&& pod) {
  KNX_CHECK(!Find(pod.uid).valid(), "a pod is added twice");
  PodId id{static_cast<std::uint32_t>(pods_.size())};
  if (free_.empty()) {
    pods_.emplace_back(std::move(pod));
  } else {
    id = free_.back();
    free_.pop_back();
    pods_[id.index] = std::move(pod);
  }
  by_uid_.insert(id);
  return id;
}

Pod PodTable::Remove(PodId id) {
  KNX_CHECK(Contains(id), "a pod is removed that is not there");
  by_uid_.erase(id);
  Pod pod = std::move(*pods_[id.index]);
  pods_[id.index].reset();
  free_.push_back(id);
  return pod;
}

PodId PodTable::Find(std::string_view uid) const {
  const auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? PodId{} : *it;
}

std::size_t PodTable::bytes() const {
  std::size_t total = pods_.size() * sizeof(pods_[0]) + free_.capacity() * sizeof(PodId) +
                      by_uid_.capacity() * (sizeof(PodId) + 1);
  const std::size_t inline_capacity = std::string().capacity();
  for (const std::optional<Pod>& pod : pods_) {
    if (!pod) continue;
    if (pod->name.capacity() > inline_capacity) total += pod->name.capacity() + 1;
    if (pod->uid.capacity() > inline_capacity) total += pod->uid.capacity() + 1;
    if (pod->in_place) total += sizeof(InPlaceUsage);
    if (pod->limits) total += pod->limits->capacity() * sizeof(ResourceAmount);
  }
  return total;
}

}  // namespace knx::cluster
