// What the core wants done. Values: whoever drives the core carries them out and reports back with
// ActionFinished.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/events.h"
#include "framework/plugin.h"

namespace knx::engine {

struct PodRef {
  std::string namespace_, name, uid;
  friend bool operator==(const PodRef&, const PodRef&) = default;
};

// Reported back always.
struct BindPod {
  PodRef pod;
  std::string node;
};

// Writes the PodScheduled condition and, if it is set, the nominated node (empty: clears it). A
// failure is reported and written again with the next attempt.
struct PatchPodStatus {
  PodRef pod;
  std::string status, reason, message;
  std::int64_t observed_generation = 0;
  std::optional<std::string> nominated_node;
};

// Takes back the nominated node of a pod, and leaves its condition alone. Best effort: what could
// not be written is written with the pod's next attempt.
struct ClearNomination {
  PodRef pod;
};

// Room is made for a pod on a node, and these have to go for it. Said before anything is done about
// it, so that everything after it can be held against it; there is nothing to carry out.
struct PlanEvictions {
  PodRef preemptor;
  std::string node;
  std::vector<PodRef> victims;     // on that node
  std::vector<PodRef> along = {};  // elsewhere, because the gang of a victim is no use without it
};

// Writes the condition that says why the pod has to go, then deletes it, if it is still the one
// with that uid. Reported back always; a pod that is gone already is reported as missing.
struct EvictPod {
  PodRef pod;
  std::optional<PodRef> preemptor;  // nullopt: it goes because its gang is incomplete
  std::string reason, message;      // of its DisruptionTarget condition
};

// An event for people, best effort.
struct RecordEvent {
  PodRef pod;
  bool warning = false;
  std::string reason, action, note;
  std::string reporter;             // the profile's scheduler name
  std::optional<PodRef> related{};  // the other pod that it is about
};

// A question of a plugin; answered with QuestionAnswered, or given up at the deadline.
struct AskOutside {
  PodRef pod;
  std::string plugin;
  std::string node;
  framework::Question question;
};

enum class ExtenderVerb : std::uint8_t { kFilter, kPrioritize, kPreempt };

// A question to an extender, by its position in EngineOptions; answered with ExtenderAnswered.
struct AskExtender {
  struct Victims {
    std::string node;
    std::vector<PodRef> pods;  // the most important first
    std::int64_t violations = 0;
  };
  PodRef pod;
  std::size_t extender = 0;
  ExtenderVerb verb = ExtenderVerb::kFilter;
  std::vector<std::string> nodes;     // by name; filter and prioritize
  std::vector<Victims> victims = {};  // by name of the node; preempt
};

// The extender binds the pod. Reported back always.
struct BindByExtender {
  PodRef pod;
  std::string node;
  std::size_t extender = 0;
};

// Writes the conditions of a ResourceReservation, all that it has, and who uses which of its
// places. A failure is reported and written again later.
struct PatchReservation {
  std::string namespace_, name, uid;
  std::vector<k8s::Condition> conditions;
  std::vector<std::pair<std::string, std::string>> pods;  // by place, sorted
};

// Writes the condition of a PodGroup of Kubernetes that says whether its pods have their places,
// and leaves its others alone. A failure is reported and written again later.
struct PatchPodGroup {
  std::string namespace_, name, uid;
  std::string version;  // of the kind
  k8s::PodGroupCondition condition;
};

struct Action {
  ActionId id = 0;
  std::variant<BindPod, PatchPodStatus, ClearNomination, PlanEvictions, EvictPod, RecordEvent,
               AskOutside, AskExtender, BindByExtender, PatchReservation, PatchPodGroup>
      what;
};

}  // namespace knx::engine
