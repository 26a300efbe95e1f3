#include "sim/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "k8s/owner.h"

namespace knx::sim {
namespace {

const std::set<std::string>& KeysIn(const std::map<std::string, std::set<std::string>>& index,
                                    const std::string& key) {
  static const std::set<std::string> kNone;
  const auto found = index.find(key);
  return found == index.end() ? kNone : found->second;
}

void Drop(std::map<std::string, std::set<std::string>>& index, const std::string& key,
          const std::string& pod) {
  const auto found = index.find(key);
  if (found == index.end()) return;
  found->second.erase(pod);
  if (found->second.empty()) index.erase(found);
}

std::string OwnerUid(const Ptr<k8s::Pod>& pod) {
  if (pod == nullptr) return {};
  const k8s::OwnerReference* owner = ControllerOf(pod->meta);
  return owner == nullptr ? std::string() : owner->uid;
}

}  // namespace

std::string PodKey(std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}", namespace_, name);
}

std::string WorkloadKey(k8s::WorkloadKind kind, std::string_view namespace_,
                        std::string_view name) {
  return fmt::format("{}/{}/{}", KindName(kind), namespace_, name);
}

std::string PodGroupKey(k8s::PodGroupApi api, std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}/{}", static_cast<int>(api), namespace_, name);
}

PodPtr Store::FindPod(const std::string& key, std::string_view uid) const {
  PodPtr pod = Find<k8s::Pod>(key);
  return pod != nullptr && pod->meta.uid == uid ? pod : nullptr;
}

const std::set<std::string>& Store::PodsOn(const std::string& node) const {
  return KeysIn(by_node_, node);
}

const std::set<std::string>& Store::PodsOf(const std::string& owner_uid) const {
  return KeysIn(by_owner_, owner_uid);
}

void Store::Stamp(k8s::ObjectMeta& meta, bool is_new) {
  ++version_;
  meta.resource_version = fmt::format("{}", version_);
  if (!is_new) return;
  if (meta.uid.empty() || uids_.contains(meta.uid)) meta.uid = NewUid();
  uids_.insert(meta.uid);
  meta.created = now();
  if (meta.generation == 0) meta.generation = 1;
}

void Store::Index(const Write<k8s::Pod>& write) {
  const std::string key = KeyOf(write.any());
  const std::string node_before = write.before ? write.before->spec.node_name : "";
  const std::string node_after = write.after ? write.after->spec.node_name : "";
  if (node_before != node_after) {
    if (!node_before.empty()) Drop(by_node_, node_before, key);
    if (!node_after.empty()) by_node_[node_after].insert(key);
  }
  const std::string owner_before = OwnerUid(write.before);
  const std::string owner_after = OwnerUid(write.after);
  if (owner_before != owner_after) {
    if (!owner_before.empty()) Drop(by_owner_, owner_before, key);
    if (!owner_after.empty()) by_owner_[owner_after].insert(key);
  }
}

std::string Store::NewUid() {
  const std::uint64_t a = random_.Next();
  const std::uint64_t b = random_.Next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::string Store::NewPodName(std::string_view namespace_, std::string_view prefix) {
  constexpr int kSuffix = 5;
  while (true) {
    std::string name = fmt::format("{}{}", prefix, NameSuffix(random_, kSuffix));
    if (Find<k8s::Pod>(PodKey(namespace_, name)) == nullptr) return name;
  }
}

std::string NameSuffix(Random& random, int length) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < length; ++i) out += kLetters[random.Below(kLetters.size())];
  return out;
}

const k8s::Condition* FindCondition(const std::vector<k8s::Condition>& conditions,
                                    std::string_view type) {
  for (const k8s::Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

void SetCondition(std::vector<k8s::Condition>& conditions, k8s::Condition condition, Time now) {
  const auto same_type = [&](const k8s::Condition& c) { return c.type == condition.type; };
  const auto found = std::find_if(conditions.begin(), conditions.end(), same_type);
  condition.last_transition = now;
  if (found == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (found->status == condition.status) condition.last_transition = found->last_transition;
  *found = std::move(condition);
}

bool IsFinished(const k8s::Pod& pod) {
  return pod.status.phase == k8s::PodPhase::kSucceeded ||
         pod.status.phase == k8s::PodPhase::kFailed;
}

bool IsReady(const k8s::Pod& pod) {
  const k8s::Condition* ready = FindCondition(pod.status.conditions, "Ready");
  return ready != nullptr && ready->status == "True";
}

}  // namespace knx::sim
