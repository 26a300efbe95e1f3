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
  struct Score {
    std::int64_t raw = 0, normalized = 0, weighted = 0;
  };
  struct PluginScores {
    std::string plugin;
    std::vector<Score> scores;  // of the feasible nodes, in their order
  };

  // The pod as a whole: rejected by that plugin before any node was looked at.
  framework::Outcome outcome;
  std::string rejected_by;
  std::optional<std::vector<std::string>> only_nodes;  // by name; nullopt: all
  std::vector<Rejection> rejections;                   // by node name
  std::vector<std::string> feasible;                   // by name
  std::vector<PluginScores> scores;                    // in the order of the profile
  std::vector<std::int32_t> totals;                    // of the feasible nodes
  // What the decision would be, made as decisions are made.
  std::string chosen;                      // empty: none
  std::string message;                     // why none
  std::vector<std::string> unschedulable;  // plugins that an event must come from, by name
};

}  // namespace knx::engine
