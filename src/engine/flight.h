// What the engine notes of pods that are on their way to their nodes, and of those that are not
// yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cluster/state.h"
#include "engine/actions.h"

namespace knx::engine {

// A pod that has a place and is on its way there. It owns its room until it is bound or
// forgotten.
// kStatus: nothing is left to do but to wait until the last status written to the pod is there:
// written after the binding it would say again that the pod has no place.
// kGang: waits until the other members of its gang have come as far, their statuses included.
enum class FlightStep : std::uint8_t { kPermit, kPreBind, kGang, kStatus, kBind };
struct Flight {
  FlightStep step = FlightStep::kPermit;
  std::size_t plugin = 0;  // position among the plugins of that step
  ActionId action = 0;     // what it waits for
  Time deadline;
  bool asks_extender = true;          // to bind, if one does
  bool crowded = false;               // others have taken room on its node meanwhile
  std::optional<std::size_t> binder;  // the extender that was asked to
  // It waits for the state to change rather than for an answer, and gives up then.
  std::optional<Time> recheck_until;
  std::uint64_t departure = 0;  // with the members of its gang, until all are ready to be bound
  cluster::GangId gang;         // of which all were well when it was planned
};

// A gang of which members are being bound, as long as none of them failed.
struct GangBinding {
  Time since;  // its first member was seen
  std::size_t pods = 0, left = 0;
};

// What the pod's PodScheduled condition says, or should.
struct ScheduledCondition {
  std::string reason, message;
  ActionId patch = 0;      // that writes it, until it is reported on
  bool unwritten = false;  // it could not be written, as far as we know
  [[nodiscard]] bool Says(std::string_view why, std::string_view what) const {
    return !unwritten && reason == why && message == what;
  }
};

// A pod as an event tells of it, when the pod itself may be gone.
struct Departed {
  cluster::ClassId pod_class;
  cluster::KinId kin;
  cluster::ResourceVector requests;
  cluster::NodeRow node, nominated;
  std::int32_t priority = 0;
};

}  // namespace knx::engine
