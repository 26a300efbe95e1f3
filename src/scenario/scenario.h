// A scenario: a cluster, what happens in it, and what must be true, as read from a YAML file.
// The format is described in docs/scenarios.md. Reading checks everything that can be checked
// without running it; errors have file, line and field.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"
#include "scenario/call_fault.h"
#include "scenario/expectation.h"
#include "scenario/pod_selection.h"
#include "scenario/timing.h"

namespace knx::scenario {

// Something of which there are many, told apart by a number: $i in its texts. Read again for each.
struct Template {
  enum class Form : std::uint8_t { kNode, kShort, kManifests };
  Form form = Form::kShort;
  const k8s::YamlNode* node = nullptr;  // in the document of the scenario
  std::string path;                     // for errors
  std::int64_t count = 1, first = 1;
};

// In which order the numbers of a template are made; shuffled by the seed.
enum class Order : std::uint8_t { kForwards, kBackwards, kShuffled };

struct Create {
  Template what;
  Order order = Order::kForwards;
  std::optional<Duration> every;  // one after the other, with this in between
  bool random_gaps = false;       // between nothing and twice that
};
// Puts objects in the place of those that are there, or makes them.
struct Apply {
  Template what;
};
struct Delete {
  std::string kind;  // "Pod", "Node", ...
  std::string namespace_, name;
  PodSelection pods;      // with kind "Pod"
  bool if_there = false;  // pods of which there are none are no error
  std::optional<std::int64_t> grace_seconds;
};
struct Scale {
  std::string kind, namespace_, name;
  std::int32_t replicas = 0;
};
struct NodeAction {
  enum class Kind : std::uint8_t { kCordon, kUncordon, kDrain, kKill, kRestart };
  Kind kind = Kind::kCordon;
  std::string node;  // '*' stands for any text
  bool honour_budgets = true;
};
struct UpdateNode {
  std::string node;
  k8s::StringMap labels;
  std::vector<std::string> remove_labels, remove_taints;
  std::vector<std::string> remove_finalizers;  // "*": every one
  std::vector<k8s::Taint> taints;
  k8s::ResourceList allocatable;
  std::optional<std::vector<std::string>> declared_features;  // from now on
};
struct UpdatePod {
  PodSelection pods;
  bool if_there = false;  // none of them is no error
  k8s::StringMap labels, node_selector;
  std::vector<std::string> remove_labels;
  std::vector<std::string> remove_gates, remove_finalizers;  // "*": every one
  std::vector<k8s::Toleration> tolerations;
  std::optional<k8s::ResourceList> requests;  // of the first container
  std::string resize;                         // the annotation kResize; empty: as it is
};
// Somebody else binds a pod.
struct BindByOther {
  PodSelection pods;
  std::string node;
};
struct RestartScheduler {
  Duration down_for, stale;
  bool pods_first = false;
};
// Lists that end a random fault are no older than this.
inline constexpr Duration kOldestRandomList = Duration::Seconds(10);

// kRandom: one of the others, by the seed, again and again.
struct WatchFault {
  enum class Kind : std::uint8_t { kLate, kLose, kDuplicate, kRandom };
  Kind kind = Kind::kLate;
  bool pods = true, nodes = true;
  Duration by, lasts, stale, every;
  std::int64_t count = 0;
};
struct PassTime {
  enum class Kind : std::uint8_t { kFor, kUntil, kSettle };
  Kind kind = Kind::kFor;
  Duration span;
};

using Happening =
    std::variant<Create, Apply, Delete, Scale, NodeAction, UpdateNode, UpdatePod, BindByOther,
                 RestartScheduler, WatchFault, CallFault, PassTime, Expectation>;

struct Step {
  SourcePlace place;
  std::string path;            // "steps[2]"
  std::optional<Duration> at;  // not before then, from the beginning
  Happening what;
};

struct Scenario {
  std::string file;
  std::string name, why;
  std::string variant;       // "n=4, order=shuffled"; empty: there is only this one
  std::size_t variants = 1;  // so many there are
  std::optional<std::uint64_t> seed;
  std::string config;       // a text; empty: none
  int config_line = 0;      // where it begins
  std::string config_file;  // or where it is
  Timing timing;
  std::vector<Template> nodes, objects;
  std::vector<Step> steps;
  Duration oldest_list;  // the longest `stale` in it
  std::unique_ptr<k8s::YamlNode> document;
};

// Whether a document is a scenario rather than a manifest.
bool IsScenario(const k8s::YamlNode& document);
// `variant`: which of its variants (variants.h), from 0.
Result<Scenario> ReadScenario(k8s::YamlNode document, std::string_view file,
                              std::size_t variant = 0);

// The objects of a template for one number.
Result<std::vector<k8s::Object>> MakeObjects(const Template& what, std::int64_t number,
                                             std::string_view file);

}  // namespace knx::scenario
