#include "engine/evictions.h"

#include <algorithm>

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
  expected_.emplace(plan.victims[plan.sent].uid, id);
  ++plan.sent;
}

Evictions::Answered Evictions::OnAnswer(ActionId action, bool failed) {
  const auto awaited = awaited_.find(action);
  const auto [id, victim] = awaited->second;
  awaited_.erase(awaited);
  Plan& plan = plans_.at(id);
  ++plan.answered;
  plan.failed |= failed;
  if (failed) plan.refused.push_back(victim);
  return {id, plan.victims[victim]};
}

bool Evictions::IsAnswered(PlanId id) const {
  const Plan& plan = plans_.at(id);
  return plan.answered == plan.sent && Sendable(id) == 0;
}

bool Evictions::IsOver(PlanId id) const {
  const Plan& plan = plans_.at(id);
  return IsAnswered(id) && (plan.failed || !plan.pod.valid() || AllGoing(id));
}

void Evictions::End(PlanId id) {
  const auto found = plans_.find(id);
  const Plan& plan = found->second;
  if (plan.pod.valid()) by_pod_.erase(plan.pod);
  std::erase_if(expected_, [id](const auto& entry) { return entry.second == id; });
  std::erase_if(paused_, [id](const auto& entry) { return entry.second == id; });
  plans_.erase(found);
}

void Evictions::Abandon(cluster::PodId pod) {
  const auto found = by_pod_.find(pod);
  if (found == by_pod_.end()) return;
  const PlanId id = found->second;
  by_pod_.erase(found);
  plans_.at(id).pod = cluster::PodId{};
  const bool paused = std::any_of(paused_.begin(), paused_.end(),
                                  [id](const auto& entry) { return entry.second == id; });
  if (IsOver(id) && paused) End(id);
}

std::vector<Evictions::PlanId> Evictions::Expecting(const std::string& uid) const {
  std::vector<PlanId> plans;
  for (auto next = expected_.lower_bound({uid, 0}); next != expected_.end() && next->first == uid;
       ++next) {
    plans.push_back(next->second);
  }
  return plans;
}

std::vector<Evictions::PlanId> Evictions::OnGoing(const std::string& uid) {
  std::vector<PlanId> plans = Expecting(uid);
  for (const PlanId plan : plans) {
    ++plans_.at(plan).seen_going;
    expected_.erase({uid, plan});
  }
  return plans;
}

std::optional<PodRef> Evictions::TakeAsked(ActionId action) {
  auto found = asked_.extract(action);
  return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
}

namespace {

bool Means(const Evictions::Plan& plan, const std::string& uid) {
  const bool goes_on = plan.pod.valid() && !plan.failed;
  const std::size_t count = goes_on ? plan.victims.size() : plan.sent;
  for (std::size_t i = 0; i < count; ++i) {
    const bool refused =
        std::find(plan.refused.begin(), plan.refused.end(), i) != plan.refused.end();
    if (!refused && plan.victims[i].uid == uid) return true;
  }
  return false;
}

}  // namespace

bool Evictions::Evicts(const std::string& uid) const {
  const auto is_it = [&](const auto& asked) { return asked.second.uid == uid; };
  const auto means = [&](const auto& entry) { return Means(entry.second, uid); };
  return std::any_of(asked_.begin(), asked_.end(), is_it) ||
         std::any_of(plans_.begin(), plans_.end(), means);
}

std::vector<PodRef> Evictions::VictimsFor(cluster::PodId pod) const {
  const auto found = by_pod_.find(pod);
  return found == by_pod_.end() ? std::vector<PodRef>() : plans_.at(found->second).victims;
}

void Evictions::NoteRefusal(const std::string& uid, Time now) {
  constexpr std::size_t kRemembered = 256;
  refused_[uid] = now;
  if (refused_.size() <= kRemembered) return;
  refused_.erase(
      std::min_element(refused_.begin(), refused_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; }));
}

bool Evictions::WasRefused(const std::string& uid, Time since) const {
  const auto found = refused_.find(uid);
  return found != refused_.end() && found->second > since;
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
