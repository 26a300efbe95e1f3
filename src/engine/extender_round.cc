#include "engine/extender_round.h"

#include "base/check.h"

namespace knx::engine {

using cluster::PodId;

ExtenderRound& ExtenderRounds::Begin(PodId pod) {
  End(pod);
  return rounds_[pod];
}

void ExtenderRounds::End(PodId pod) {
  const auto round = rounds_.find(pod);
  if (round == rounds_.end()) return;
  for (const ActionId action : round->second.unanswered) {
    const auto asked = asked_.find(action);
    deadlines_.erase({asked->second.deadline, action});
    asked_.erase(asked);
  }
  rounds_.erase(round);
}

void ExtenderRounds::Await(ActionId action, const Asked& asked) {
  rounds_.at(asked.pod).unanswered.insert(action);
  asked_.emplace(action, asked);
  deadlines_.emplace(asked.deadline, action);
}

std::optional<ExtenderRounds::Asked> ExtenderRounds::Take(ActionId action) {
  const auto found = asked_.find(action);
  if (found == asked_.end()) return std::nullopt;
  const Asked asked = found->second;
  asked_.erase(found);
  deadlines_.erase({asked.deadline, action});
  rounds_.at(asked.pod).unanswered.erase(action);
  return asked;
}

std::optional<ActionId> ExtenderRounds::Overdue(Time now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
  return deadlines_.begin()->second;
}

Time ExtenderRounds::NextWake() const {
  return deadlines_.empty() ? kNever : deadlines_.begin()->first;
}

std::optional<std::string> ExtenderRounds::Verify() const {
  std::size_t unanswered = 0;
  for (const auto& [pod, round] : rounds_) {
    if (round.unanswered.empty()) return "a round waits for no extender";
    unanswered += round.unanswered.size();
  }
  if (unanswered != asked_.size() || unanswered != deadlines_.size()) {
    return "an extender is asked on behalf of nobody";
  }
  return std::nullopt;
}

}  // namespace knx::engine
