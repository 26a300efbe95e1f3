#include "engine/waiting_groups.h"

#include "base/check.h"

namespace knx::engine {

WaitingGroups::Group WaitingGroups::Hold(const WaitsFor& what) {
  const auto [it, is_new] = by_what_.try_emplace(what, limit());
  if (is_new) {
    if (free_.empty()) {
      groups_.emplace_back();
    } else {
      it->second = free_.back();
      free_.pop_back();
    }
    groups_[it->second].what = what;
  }
  ++groups_[it->second].holders;
  return it->second;
}

void WaitingGroups::Release(Group group) {
  Entry& entry = groups_[group];
  KNX_CHECK(entry.holders > 0, "a group is released by nobody");
  if (--entry.holders > 0) return;
  KNX_CHECK(entry.members.empty(), "a group is given up by a member");
  by_what_.erase(entry.what);
  free_.push_back(group);
}

void WaitingGroups::Join(Group group, std::uint32_t record) {
  std::vector<std::uint32_t>& members = groups_[group].members;
  positions_[record] = static_cast<std::uint32_t>(members.size());
  members.push_back(record);
}

void WaitingGroups::Leave(Group group, std::uint32_t record) {
  std::vector<std::uint32_t>& members = groups_[group].members;
  const std::uint32_t at = positions_[record];
  KNX_CHECK(at < members.size() && members[at] == record, "a pod leaves a group it is not in");
  members[at] = members.back();
  positions_[members[at]] = at;
  members.pop_back();
}

WaitingGroups::Group WaitingGroups::Find(const WaitsFor& what) const {
  const auto it = by_what_.find(what);
  return it == by_what_.end() ? limit() : it->second;
}

std::size_t WaitingGroups::bytes() const {
  std::size_t total = groups_.capacity() * sizeof(Entry) + free_.capacity() * sizeof(Group) +
                      by_what_.capacity() * (sizeof(decltype(by_what_)::value_type) + 1);
  for (const Entry& entry : groups_) total += entry.members.capacity() * sizeof(std::uint32_t);
  return total;
}

}  // namespace knx::engine
