// What every object has, and the selectors that objects choose others with. Maps are vectors sorted
// by key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "k8s/quantity.h"

namespace knx::k8s {

using StringMap = std::vector<std::pair<std::string, std::string>>;  // sorted by key, keys unique
using ResourceList = std::vector<std::pair<std::string, Quantity>>;  // sorted by name, names unique

struct OwnerReference {
  std::string kind, name, uid;
  bool controller = false;
  std::string api_version = {};
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name;
  std::string namespace_;  // empty for what lives outside of namespaces
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  StringMap labels, annotations;
  std::vector<OwnerReference> owners;
  std::vector<std::string> finalizers;   // keep it there after it was deleted
  std::optional<Time> created, deleted;  // deleted: deletionTimestamp
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

// One of the things that the status of an object says.
struct Condition {
  std::string type, status, reason, message;
  std::optional<Time> last_transition;
  friend bool operator==(const Condition&, const Condition&) = default;
};

// ---- selectors ----

// An API server may know operators that we do not.
enum class SelectorOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kUnknown };

// One condition on a label, or for nodes on a field. Gt and Lt exist for nodes only.
struct Requirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string> values;
  std::string unknown_op{};  // how it is written, with kUnknown
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// matchLabels and matchExpressions, all of which must hold. An empty one selects everything.
struct LabelSelector {
  StringMap match_labels;
  std::vector<Requirement> match_expressions;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct NodeSelectorTerm {
  std::vector<Requirement> match_expressions, match_fields;
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;  // any of them
  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;
};

}  // namespace knx::k8s
