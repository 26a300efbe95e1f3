// What the core is told. Together with the time these are its only input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

// A pod is there, or is as it says now. Pods of other schedulers too: they take room. Those that
// have succeeded too, if they belong to gangs: nobody has to start in their stead.
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

// All there is has been told, at the start or after a time in which nothing was heard. What came
// and went meanwhile is not told of.
struct Listed {};

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

// What an extender said, by what it was asked for.
struct ExtenderAnswer {
  using Texts = std::vector<std::pair<std::string, std::string>>;  // by node, names unique
  struct Victims {
    std::string node;
    std::vector<std::string> uids;
    std::int64_t violations = 0;
  };

  std::optional<std::string> failure{};  // then nothing else counts
  std::vector<std::string> nodes{};      // filter: those that are left
  Texts failed{}, unresolvable{};        // and why others are not, as far as it says so
  std::vector<std::pair<std::string, std::int64_t>> scores{};  // prioritize
  std::vector<Victims> victims{};                              // preempt: nodes that are left
};

struct ExtenderAnswered {
  ActionId action = 0;
  ExtenderAnswer answer;
};

using Event =
    std::variant<NodeUpserted, NodeDeleted, PodUpserted, PodDeleted, ObjectUpserted, ObjectDeleted,
                 Listed, ActionFinished, QuestionAnswered, ExtenderAnswered>;

}  // namespace knx::engine
