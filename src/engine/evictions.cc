#include "engine/evictions.h"

#include "base/check.h"

namespace knx::engine {

Evictions::PlanId Evictions::Begin(Plan plan) {
  KNX_CHECK(!plan.victims.empty(), "a plan evicts nobody");
  Abandon(plan.pod);
  const PlanId id = ++last_plan_;
  by_pod_[plan.pod] = id;
  plans_.emplace(id, std::move(plan));
  return id;
}

std::size_t Evictions::Sendable(PlanId id) const {
  const Plan& plan = plans_.at(id);
  const std::size_t first = plan.victims.size() - 1;
  if (plan.sent < first) return first - plan.sent;
  const bool last = plan.sent == first && plan.answered == first && !plan.failed;
  return last && plan.pod.valid() ? 1 : 0;
}

void Evictions::Sent(PlanId id, ActionId action) {
  Plan& plan = plans_.at(id);
  awaited_.emplace(action, std::pair(id, plan.sent));
  ++plan.sent;
  if (plan.sent == plan.victims.size()) last_victims_[plan.victims.back().uid] = id;
}

Evictions::Answered Evictions::OnAnswer(ActionId action, bool failed) {
  const auto awaited = awaited_.find(action);
  const auto [id, victim] = awaited->second;
  awaited_.erase(awaited);
  Plan& plan = plans_.at(id);
  ++plan.answered;
  plan.failed |= failed;
  return {id, plan.victims[victim]};
}

bool Evictions::IsOver(PlanId id) const {
  const Plan& plan = plans_.at(id);
  return plan.answered == plan.sent && Sendable(id) == 0;
}

void Evictions::End(PlanId id) {
  const auto found = plans_.find(id);
  const Plan& plan = found->second;
  if (plan.pod.valid()) by_pod_.erase(plan.pod);
  const auto last = last_victims_.find(plan.victims.back().uid);
  if (last != last_victims_.end() && last->second == id) last_victims_.erase(last);
  plans_.erase(found);
}

void Evictions::Abandon(cluster::PodId pod) {
  const auto found = by_pod_.find(pod);
  if (found == by_pod_.end()) return;
  const PlanId id = found->second;
  by_pod_.erase(found);
  plans_.at(id).pod = cluster::PodId{};
  if (IsOver(id) && std::erase_if(paused_, [id](const auto& p) { return p.second == id; }) > 0) {
    End(id);
  }
}

std::optional<cluster::PodId> Evictions::OnLeaving(std::string_view uid) const {
  const auto last = last_victims_.find(uid);
  if (last == last_victims_.end()) return std::nullopt;
  const cluster::PodId pod = plans_.at(last->second).pod;
  if (!pod.valid()) return std::nullopt;
  return pod;
}

std::optional<Evictions::PlanId> Evictions::PlanFor(cluster::PodId pod) const {
  const auto found = by_pod_.find(pod);
  if (found == by_pod_.end()) return std::nullopt;
  return found->second;
}

std::optional<Evictions::PlanId> Evictions::PopPaused(Time now) {
  if (paused_.empty() || paused_.begin()->first > now) return std::nullopt;
  const PlanId id = paused_.begin()->second;
  paused_.erase(paused_.begin());
  return id;
}

}  // namespace knx::engine
