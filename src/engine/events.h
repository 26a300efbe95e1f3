// What the core is told. Together with the time these are its only input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "framework/plugin.h"
#include "k8s/objects.h"

namespace knx::engine {

using ActionId = std::uint64_t;

// A node is there, or is as it says now.
struct NodeUpserted {
  k8s::Node node;
};
struct NodeDeleted {
  std::string name;
};

// A pod is there, or is as it says now. Pods of other schedulers too: they take room.
struct PodUpserted {
  k8s::Pod pod;
};
struct PodDeleted {
  std::string uid;
};

// Any other object is there, or is as it says now: a namespace, a service, a budget, a claim, …
struct ObjectUpserted {
  k8s::Object object;
};
// As it was last known.
struct ObjectDeleted {
  k8s::Object object;
};

// An action was carried out, or was not.
struct ActionFinished {
  ActionId action = 0;
  std::optional<std::string> failure;
  bool missing = false;  // what it was about was not there any more; no failure then
};

// The outside answered a question of a plugin.
struct QuestionAnswered {
  ActionId action = 0;
  framework::Answer answer;
};

using Event = std::variant<NodeUpserted, NodeDeleted, PodUpserted, PodDeleted, ObjectUpserted,
                           ObjectDeleted, ActionFinished, QuestionAnswered>;

}  // namespace knx::engine
