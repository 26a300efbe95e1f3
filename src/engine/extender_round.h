// The cycle of a pod about which extenders are asked. The plugins say which nodes come into
// question; then the extenders are asked, and the pod waits for their answers while others go on.
//
// What the extenders said about nodes stays true until the round is over. What the plugins said may
// not: before a node is taken the plugins are asked again about the nodes that are left. Of those
// that still fit the best is taken; if none does, the round begins anew. The same if a pod that
// was to be evicted has gone by the time the extenders have agreed to that.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "engine/events.h"
#include "engine/placement.h"
#include "framework/extender_config.h"

namespace knx::engine {

struct ExtenderRound {
  enum class Phase : std::uint8_t {
    kNominated,  // filter, about the nominated node alone
    kFilter,
    kPrioritize,
    kPreempt,
  };
  Phase phase = Phase::kFilter;
  std::vector<std::size_t> extenders;  // that are interested, in order
  std::size_t turn = 0;                // whose it is among them, with kFilter and kPreempt
  std::vector<std::string> nodes;      // that are left, by name
  std::set<ActionId> unanswered;
  ExtenderVerdicts verdicts;
  std::map<std::string, std::int64_t> scores;  // by node, weighted
  Placement placement;                         // kPreempt: what is said if it comes to nothing
  std::vector<ExtenderAnswer::Victims> sent;   // kPreempt: what the extender is asked about
};

// What an extender says about the nodes that it was asked about, which are sorted.
struct FilteredNodes {
  std::vector<std::string> left;       // sorted
  std::optional<std::string> failure;  // it cannot be believed
};
FilteredNodes ReadFiltered(const framework::Extender& extender, const ExtenderAnswer& answer,
                           const std::vector<std::string>& asked);
// Why it refuses nodes, in its words.
void TakeRefusals(const ExtenderAnswer& answer, ExtenderVerdicts& verdicts);
// Adds what it gives to nodes.
void TakeScores(const framework::Extender& extender, const ExtenderAnswer& answer,
                std::map<std::string, std::int64_t>& scores);

// Rounds that wait for answers, by whom they are for.
template <class Who, class Round>
class PausedRounds {
 public:
  struct Asked {
    Who who;
    std::size_t extender = 0;
    Time deadline;
    std::size_t part = 0;  // of the round, if it has several
  };

  [[nodiscard]] bool empty() const { return rounds_.empty(); }
  [[nodiscard]] std::size_t size() const { return rounds_.size(); }
  [[nodiscard]] bool Contains(Who who) const { return rounds_.contains(who); }
  [[nodiscard]] Round& at(Who who) { return rounds_.at(who); }
  // nullptr: there is none.
  [[nodiscard]] Round* Find(Who who) {
    const auto round = rounds_.find(who);
    return round == rounds_.end() ? nullptr : &round->second;
  }
  // An answer is awaited.
  [[nodiscard]] bool Waits(Who who) const {
    const auto round = rounds_.find(who);
    return round != rounds_.end() && !round->second.unanswered.empty();
  }
  // Any that it had is over.
  Round& Begin(Who who) {
    End(who);
    return rounds_[who];
  }
  // Answers that come later are answers to nobody. Does nothing if there is none.
  void End(Who who) {
    if (rounds_.empty()) return;
    const auto round = rounds_.find(who);
    if (round == rounds_.end()) return;
    Forget(round->second);
    rounds_.erase(round);
  }
  // What it asked is not waited for any more.
  void Forget(Round& round) {
    for (const ActionId action : round.unanswered) {
      const auto asked = asked_.find(action);
      deadlines_.erase({asked->second.deadline, action});
      asked_.erase(asked);
    }
    round.unanswered.clear();
  }

  void Await(ActionId action, const Asked& asked) {
    rounds_.at(asked.who).unanswered.insert(action);
    asked_.emplace(action, asked);
    deadlines_.emplace(asked.deadline, action);
  }
  // Who waits for the answer, which is no longer waited for; nullopt: nobody.
  std::optional<Asked> Take(ActionId action) {
    const auto found = asked_.find(action);
    if (found == asked_.end()) return std::nullopt;
    const Asked asked = found->second;
    asked_.erase(found);
    deadlines_.erase({asked.deadline, action});
    rounds_.at(asked.who).unanswered.erase(action);
    return asked;
  }
  // The first whose time is up.
  [[nodiscard]] std::optional<ActionId> Overdue(Time now) const {
    if (deadlines_.empty() || deadlines_.begin()->first > now) return std::nullopt;
    return deadlines_.begin()->second;
  }
  [[nodiscard]] Time NextWake() const {
    return deadlines_.empty() ? kNever : deadlines_.begin()->first;
  }

  // That every round waits for something, or `may_rest`, and the other way round: the first
  // difference.
  template <class MayRest>
  [[nodiscard]] std::optional<std::string> Verify(const MayRest& may_rest) const {
    std::size_t unanswered = 0;
    for (const auto& [who, round] : rounds_) {
      if (round.unanswered.empty() && !may_rest(who)) return "a round waits for no extender";
      unanswered += round.unanswered.size();
    }
    if (unanswered != asked_.size() || unanswered != deadlines_.size()) {
      return "an extender is asked on behalf of nobody";
    }
    return std::nullopt;
  }

 private:
  absl::flat_hash_map<Who, Round> rounds_;
  std::map<ActionId, Asked> asked_;
  std::set<std::pair<Time, ActionId>> deadlines_;
};

using ExtenderRounds = PausedRounds<cluster::PodId, ExtenderRound>;

}  // namespace knx::engine
