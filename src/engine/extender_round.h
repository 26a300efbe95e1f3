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

// The rounds that wait for answers.
class ExtenderRounds {
 public:
  struct Asked {
    cluster::PodId pod;
    std::size_t extender = 0;
    Time deadline;
  };

  [[nodiscard]] bool empty() const { return rounds_.empty(); }
  [[nodiscard]] std::size_t size() const { return rounds_.size(); }
  [[nodiscard]] bool Contains(cluster::PodId pod) const { return rounds_.contains(pod); }
  [[nodiscard]] ExtenderRound& at(cluster::PodId pod) { return rounds_.at(pod); }
  // Any that the pod had is over.
  ExtenderRound& Begin(cluster::PodId pod);
  // Answers that come later are answers to nobody. Does nothing if there is none.
  void End(cluster::PodId pod);

  void Await(ActionId action, const Asked& asked);
  // Who waits for the answer, which is no longer waited for; nullopt: nobody.
  std::optional<Asked> Take(ActionId action);
  // The first whose time is up.
  [[nodiscard]] std::optional<ActionId> Overdue(Time now) const;
  [[nodiscard]] Time NextWake() const;

  // That every round waits for something, and the other way round: the first difference.
  [[nodiscard]] std::optional<std::string> Verify() const;

 private:
  absl::flat_hash_map<cluster::PodId, ExtenderRound> rounds_;
  std::map<ActionId, Asked> asked_;
  std::set<std::pair<Time, ActionId>> deadlines_;
};

}  // namespace knx::engine
