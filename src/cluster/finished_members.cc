#include "cluster/finished_members.h"

#include <algorithm>
#include <utility>

#include "k8s/owner.h"

namespace knx::cluster {
namespace {

// Times of an API server are whole seconds. Who is made in the second in which another ends comes
// after it.
constexpr Duration kTick = Duration::Seconds(1);

}  // namespace

FinishedMember ReadFinishedMember(const k8s::Pod& pod) {
  FinishedMember out;
  out.uid = pod.meta.uid;
  if (const auto* owner = k8s::ControllerOf(pod.meta)) out.owner = owner->uid;
  out.created = pod.meta.created.value_or(Time{});
  // The last thing that becomes of its conditions is that it is not ready any more.
  out.ended = out.created;
  for (const k8s::Condition& condition : pod.status.conditions) {
    out.ended = std::max(out.ended, condition.last_transition.value_or(Time{}));
  }
  return out;
}

bool FinishedMembers::Add(const GangKey& key, FinishedMember pod) {
  if (const auto known = pods_.find(pod.uid); known != pods_.end()) {
    if (known->second.gang->first == key) return false;
    Remove(pod.uid);  // it says now that it was of another gang
  }
  const auto gang = gangs_.try_emplace(key).first;
  const auto owner = gang->second.owners.try_emplace(std::move(pod.owner)).first;
  ++owner->second.pods;
  owner->second.begun = std::min(owner->second.begun, pod.created);
  const Time last_run = std::max(pod.created, pod.ended - kTick);
  std::vector<Time>& last_runs = gang->second.last_runs;
  last_runs.insert(std::upper_bound(last_runs.begin(), last_runs.end(), last_run), last_run);
  pods_.emplace(std::move(pod.uid), Entry{gang, owner, last_run});
  return true;
}

std::optional<FinishedMembers::Removed> FinishedMembers::Remove(const std::string& uid) {
  const auto known = pods_.find(uid);
  if (known == pods_.end()) return std::nullopt;
  const Entry entry = known->second;
  pods_.erase(known);
  Removed removed{entry.gang->first, entry.last_run};
  OfGang& gang = entry.gang->second;
  gang.last_runs.erase(
      std::lower_bound(gang.last_runs.begin(), gang.last_runs.end(), entry.last_run));
  if (--entry.owner->second.pods == 0) gang.owners.erase(entry.owner);
  if (gang.last_runs.empty()) gangs_.erase(entry.gang);
  return removed;
}

std::uint32_t FinishedMembers::Count(const GangKey& key, Time begun) const {
  const auto gang = gangs_.find(key);
  if (gang == gangs_.end()) return 0;
  const std::vector<Time>& last_runs = gang->second.last_runs;
  return static_cast<std::uint32_t>(last_runs.end() -
                                    std::lower_bound(last_runs.begin(), last_runs.end(), begun));
}

Time FinishedMembers::BegunBy(const GangKey& key, std::string_view owner) const {
  const auto gang = gangs_.find(key);
  if (gang == gangs_.end() || owner.empty()) return kNever;
  const auto known = gang->second.owners.find(owner);
  return known == gang->second.owners.end() ? kNever : known->second.begun;
}

std::size_t FinishedMembers::bytes() const {
  constexpr std::size_t kMapNode = 4 * sizeof(void*), kUid = 36;
  std::size_t total =
      pods_.capacity() * (sizeof(std::string) + sizeof(Entry)) + pods_.size() * kUid;
  for (const auto& [key, gang] : gangs_) {
    total += kMapNode + sizeof(key) + sizeof(gang) + key.name.size() +
             gang.last_runs.capacity() * sizeof(Time) +
             gang.owners.size() * (kMapNode + sizeof(std::string) + sizeof(Owner) + kUid);
  }
  return total;
}

}  // namespace knx::cluster
