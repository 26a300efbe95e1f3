// What a scenario says must be true, in terms that can be seen from outside of any scheduler: where
// pods are, what their conditions and events say, how many there are, by when.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "k8s/objects.h"
#include "scenario/pod_selection.h"

namespace knx::scenario {

struct NumberRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool Contains(std::int64_t n) const { return min <= n && n <= max; }
  [[nodiscard]] std::string ToString() const;  // "3", "2..4", ">= 2", "<= 4"
};
// "3", "2..4", ">= 2", "<= 4"; nullopt: something else.
std::optional<NumberRange> ParseNumberRange(std::string_view text);

struct TextMatch {
  std::optional<std::string> exact, contains, prefix;
  [[nodiscard]] bool Matches(std::string_view text) const;
  [[nodiscard]] bool empty() const { return !exact && !contains && !prefix; }
  [[nodiscard]] std::string ToString() const;
};

// Pods per value of a label of their nodes.
struct Spread {
  std::string by;
  std::map<std::string, std::int64_t> counts;  // exactly so, other values none
  std::optional<std::int64_t> max_skew;  // between the fullest and the emptiest, over all nodes
  [[nodiscard]] bool empty() const { return by.empty(); }
};

struct EventExpectation {
  std::string reason;
  std::string type;  // "Normal", "Warning"; empty: either
  TextMatch note;
  NumberRange count{.min = 1};
  [[nodiscard]] std::string ToString() const;
};

struct NodeExpectation {
  std::string name;
  std::optional<NumberRange> pods;  // that take room there
  k8s::ResourceList requested;
  std::optional<bool> ready, unschedulable;
  [[nodiscard]] std::string ToString() const;
};

// Of a PodGroup of Kubernetes: the condition that says whether its pods have their places.
struct PodGroupExpectation {
  std::string name, namespace_ = "default";
  std::optional<bool> scheduled;
  std::string reason;
  TextMatch message;
  [[nodiscard]] std::string ToString() const;
};

struct Expectation {
  // When. Without any of these: now.
  std::optional<Duration> within, not_before, stays;

  // About these pods.
  PodSelection pods;
  std::optional<NumberRange> count, placed, pending, running, succeeded, failed, terminating,
      attempts;
  std::vector<std::string> on, not_on;  // names of nodes, '*' for any text
  std::optional<std::string> nominated;
  std::optional<bool> scheduled;  // the PodScheduled condition of every one; there must be one
  std::string reason;             // of every one that has no node; there must be one
  TextMatch message;              // the same
  Spread spread;
  std::vector<EventExpectation> events;  // about any of them

  // About the cluster.
  std::optional<NumberRange> evictions, bind_failures;
  std::vector<NodeExpectation> nodes;
  std::vector<PodGroupExpectation> pod_groups;

  // What is expected, in words, without the time.
  [[nodiscard]] std::string ToString() const;

 private:
  [[nodiscard]] std::vector<std::string> AboutPods() const;
};

}  // namespace knx::scenario
