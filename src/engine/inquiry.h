// Everything the plugins say about one pod and every node: what a decision is made of, asked
// plainly, without anything remembered. For comparing with kube-scheduler, and for explaining.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/outcome.h"

namespace knx::engine {

struct Inquiry {
  struct Rejection {
    std::string node, plugin;
    framework::Code code = framework::Code::kSuccess;
    std::vector<std::string> reasons;
  };
  // A node on which evicting the victims would make room.
  struct Candidate {
    std::string node;
    std::vector<std::string> victims;  // "namespace/name", by name
    std::int64_t violations = 0;       // of disruption budgets
  };
  struct Score {
    std::int64_t raw = 0, normalized = 0, weighted = 0;
  };
  struct PluginScores {
    std::string plugin;
    std::vector<Score> scores;  // of the feasible nodes, in their order
  };

  // By a plugin that keeps the pod out of the queue, of no node. Nothing else is there then.
  std::optional<Rejection> kept_out;
  // The pod as a whole: rejected by that plugin before any node was looked at.
  framework::Outcome outcome;
  std::string rejected_by;
  std::optional<std::vector<std::string>> only_nodes;  // by name; nullopt: all
  // By node name. A node that was left out before it was looked at was rejected by no plugin.
  std::vector<Rejection> rejections;
  std::vector<std::string> feasible;  // by name
  std::vector<PluginScores> scores;   // in the order of the profile
  std::vector<std::int32_t> totals;   // of the feasible nodes
  // What the decision would be, made as decisions are made.
  std::string chosen;                      // empty: none
  std::string message;                     // why none
  bool error = false;                      // something went wrong; it is not that nothing fits
  std::vector<std::string> unschedulable;  // plugins that an event must come from, by name
  // What becomes of the node it is nominated to: another one, none (empty), or what it was.
  std::optional<std::string> nomination;
  std::vector<Candidate> candidates;  // where room could be made for it, by name
};

}  // namespace knx::engine
