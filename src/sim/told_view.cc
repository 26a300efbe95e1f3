#include "sim/told_view.h"

#include <utility>

namespace knx::sim {

void ToldView::OnPod(const PodPtr& pod) {
  const std::string& uid = pod->meta.uid;
  pods_[uid] = {pod, RequestsOf(*pod)};
  if (!pod->spec.node_name.empty()) Forget(uid);
  Settle(uid);
}

void ToldView::OnPodGone(const std::string& uid) {
  pods_.erase(uid);
  Forget(uid);
  Settle(uid);
}

void ToldView::OnDecision(const std::string& uid, Decision decision) {
  Forget(uid);
  by_action_[decision.action] = uid;
  decisions_[uid] = std::move(decision);
  Settle(uid);
}

void ToldView::OnAnswer(engine::ActionId action, bool failed) {
  const auto found = by_action_.find(action);
  if (found == by_action_.end()) return;
  const std::string uid = found->second;
  by_action_.erase(found);
  const auto decision = decisions_.find(uid);
  if (decision == decisions_.end()) return;
  decision->second.answered = true;
  if (failed) Forget(uid);
  Settle(uid);
}

void ToldView::GiveUp(Time before) {
  std::set<std::string> given_up;
  for (const auto& [action, uid] : by_action_) {
    const auto decision = decisions_.find(uid);
    if (decision == decisions_.end() || decision->second.decided <= before) given_up.insert(uid);
  }
  for (const std::string& uid : given_up) {
    Forget(uid);
    Settle(uid);
  }
}

void ToldView::Forget(const std::string& uid) {
  const auto decision = decisions_.find(uid);
  if (decision == decisions_.end()) return;
  by_action_.erase(decision->second.action);
  decisions_.erase(decision);
}

void ToldView::Settle(const std::string& uid) {
  std::string now;
  if (const auto told = pods_.find(uid); told != pods_.end()) {
    now = told->second.pod->spec.node_name;
    if (const Decision* decision = FindDecision(uid); now.empty() && decision != nullptr) {
      now = decision->node;
    }
  }
  const auto place = places_.find(uid);
  const std::string before = place == places_.end() ? std::string() : place->second;
  if (before == now) return;
  if (!before.empty()) {
    const auto node = by_node_.find(before);
    node->second.erase(uid);
    if (node->second.empty()) by_node_.erase(node);
    places_.erase(place);
  }
  if (!now.empty()) {
    by_node_[now].insert(uid);
    places_[uid] = now;
  }
}

const ToldView::Told* ToldView::FindPod(std::string_view uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second;
}

NodePtr ToldView::FindNode(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : found->second;
}

const ToldView::Decision* ToldView::FindDecision(std::string_view uid) const {
  const auto found = decisions_.find(uid);
  return found == decisions_.end() ? nullptr : &found->second;
}

const std::string& ToldView::NodeOf(std::string_view uid) const {
  static const std::string kNowhere;
  const auto found = places_.find(uid);
  return found == places_.end() ? kNowhere : found->second;
}

const std::set<std::string>& ToldView::PodsOn(const std::string& node) const {
  static const std::set<std::string> kNone;
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? kNone : found->second;
}

}  // namespace knx::sim
