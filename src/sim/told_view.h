// What the scheduler has been told and what it has decided since, kept by somebody who does not
// trust it: the yardstick for its decisions. A decision may rest on old news, but never contradict
// the news it had.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "engine/events.h"
#include "sim/amounts.h"
#include "sim/store.h"

namespace knx::sim {

class ToldView {
 public:
  struct Told {
    PodPtr pod;
    Amounts requests;
  };
  // A binding that was decided and not yet seen, nor reported as failed.
  struct Decision {
    std::string node;
    engine::ActionId action = 0;
    Time decided;
    bool answered = false;
  };

  void OnNode(const NodePtr& node) { nodes_[node->meta.name] = node; }
  void OnNodeGone(const std::string& name) { nodes_.erase(name); }
  void OnPod(const PodPtr& pod);
  void OnPodGone(const std::string& uid);
  void OnDecision(const std::string& uid, Decision decision);
  void OnAnswer(engine::ActionId action, bool failed);
  // Forgets decisions that nobody answered and that were made at `before` or earlier, as the
  // scheduler does.
  void GiveUp(Time before);

  [[nodiscard]] const std::map<std::string, NodePtr>& nodes() const { return nodes_; }
  using Pods = std::map<std::string, Told, std::less<>>;  // by uid
  [[nodiscard]] const Pods& pods() const { return pods_; }
  [[nodiscard]] const Told* FindPod(std::string_view uid) const;
  [[nodiscard]] NodePtr FindNode(const std::string& name) const;
  [[nodiscard]] const Decision* FindDecision(std::string_view uid) const;
  // Where the pod takes room: bound there as told, or decided to be. Empty: nowhere.
  [[nodiscard]] const std::string& NodeOf(std::string_view uid) const;
  [[nodiscard]] const std::set<std::string>& PodsOn(const std::string& node) const;
  // Every node that some pod takes room on, known or not.
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& occupied() const {
    return by_node_;
  }
  [[nodiscard]] bool unanswered() const { return !by_action_.empty(); }

 private:
  // Brings by_node_ in line with where the pod takes room now.
  void Settle(const std::string& uid);
  void Forget(const std::string& uid);

  std::map<std::string, NodePtr> nodes_;
  Pods pods_;
  std::map<std::string, Decision, std::less<>> decisions_;
  std::map<engine::ActionId, std::string> by_action_;  // unanswered
  std::map<std::string, std::string, std::less<>> places_;
  std::map<std::string, std::set<std::string>> by_node_;
};

}  // namespace knx::sim
