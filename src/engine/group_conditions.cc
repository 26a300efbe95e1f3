#include "engine/group_conditions.h"

#include <algorithm>

namespace knx::engine {

using cluster::GangKey;

namespace {

// So long lies between two writes of the same in other words, and after one that failed or that
// nobody answered.
constexpr Duration kRewriteAfter = Duration::Seconds(60);

bool IsSameCondition(const k8s::PodGroupCondition& a, const k8s::PodGroupCondition& b) {
  return a.said.status == b.said.status && a.said.reason == b.said.reason &&
         a.said.message == b.said.message && a.observed_generation == b.observed_generation;
}

}  // namespace

void GroupConditions::Upsert(const GangKey& key, const k8s::PodGroup& object, Time now) {
  const auto known = groups_.find(key);
  if (known != groups_.end() && known->second.uid != object.meta.uid) Remove(key);
  Group& group = groups_[key];
  group.namespace_ = object.meta.namespace_;
  group.name = object.meta.name;
  group.uid = object.meta.uid;
  group.version = object.version;
  group.generation = object.meta.generation;
  group.says = object.scheduled;
  Plan(key, group, now);
}

void GroupConditions::Remove(const GangKey& key) {
  const auto group = groups_.find(key);
  if (group == groups_.end()) return;
  due_.erase({group->second.due, key});
  writing_.erase(group->second.writing);
  groups_.erase(group);
}

bool GroupConditions::IsSettled(const GangKey& key) const {
  const auto group = groups_.find(key);
  if (group == groups_.end() || group->second.has_started()) return true;
  const auto& wanted = group->second.wanted;
  return wanted && wanted->said.status == "True";
}

void GroupConditions::Say(const GangKey& key, std::string_view status, std::string_view reason,
                          std::string message, Time now) {
  const auto found = groups_.find(key);
  if (found == groups_.end() || IsSettled(key)) return;
  Group& group = found->second;
  group.wanted.emplace();
  group.wanted->said = {std::string(k8s::ScheduledConditionIn(group.version)),
                        std::string(status),
                        std::string(reason),
                        std::move(message),
                        {}};
  group.wanted->observed_generation = group.generation;
  Plan(key, group, now);
}

Time GroupConditions::DueOf(const Group& group, Time now) {
  if (!group.wanted || group.has_started()) return kNever;
  if (group.says && IsSameCondition(*group.says, *group.wanted)) return kNever;
  if (!group.sent) return now;
  // News that is older than the last write may still come in.
  const bool is_sent =
      group.failed || group.writing != 0 || IsSameCondition(*group.sent, *group.wanted);
  const bool in_other_words = group.says && group.says->said.status == group.wanted->said.status &&
                              group.says->said.reason == group.wanted->said.reason;
  return is_sent || in_other_words ? std::max(now, group.sent_at + kRewriteAfter) : now;
}

void GroupConditions::Plan(const GangKey& key, Group& group, Time now) {
  due_.erase({group.due, key});
  group.due = DueOf(group, now);
  if (group.due != kNever) due_.emplace(group.due, key);
}

std::optional<PatchPodGroup> GroupConditions::TakeWrite(ActionId action, Time now) {
  if (NextWrite() > now) return std::nullopt;
  const GangKey key = due_.begin()->second;
  Group& group = groups_.at(key);
  k8s::PodGroupCondition& wanted = *group.wanted;
  // The time of a transition is that of the status, as everywhere in Kubernetes.
  const bool same_status = group.says && group.says->said.status == wanted.said.status;
  wanted.said.last_transition =
      same_status && group.says->said.last_transition ? group.says->said.last_transition : now;
  writing_.erase(group.writing);
  group.writing = action;
  group.sent = wanted;
  group.sent_at = now;
  writing_.emplace(action, key);
  Plan(key, group, now);
  return PatchPodGroup{group.namespace_, group.name, group.uid, group.version, wanted};
}

void GroupConditions::OnWritten(const ActionFinished& finished, Time now) {
  const auto written = writing_.find(finished.action);
  if (written == writing_.end()) return;
  const GangKey key = written->second;
  writing_.erase(written);
  Group& group = groups_.at(key);
  group.writing = 0;
  group.failed = finished.failure.has_value();
  if (!group.failed) group.says = group.sent;
  Plan(key, group, now);
}

}  // namespace knx::engine
