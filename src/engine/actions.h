// What the core wants done. Values: whoever drives the core carries them out and reports back with
// ActionFinished.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

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

// An event for people, best effort.
struct RecordEvent {
  PodRef pod;
  bool warning = false;
  std::string reason, action, note;
  std::string reporter;  // the profile's scheduler name
};

// A question of a plugin; answered with QuestionAnswered, or given up at the deadline.
struct AskOutside {
  PodRef pod;
  std::string plugin;
  std::string node;
  framework::Question question;
};

struct Action {
  ActionId id = 0;
  std::variant<BindPod, PatchPodStatus, RecordEvent, AskOutside> what;
};

}  // namespace knx::engine
