// What the core has to tell those who count and write about it. They hear of it in the middle of
// things: the state can be read, and the core must not be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "cluster/state.h"
#include "engine/queue.h"
#include "framework/cluster_event.h"

namespace knx::engine {

enum class AttemptResult : std::uint8_t { kScheduled, kUnschedulable, kError };

// An attempt to place a pod that is over: the pod is bound, or is in the queue again.
struct EndedAttempt {
  cluster::PodId pod;
  AttemptResult result = AttemptResult::kScheduled;
  std::uint32_t number = 0;  // the how manyth of this pod
  Time ready, began;         // first in the active queue; taken from it for this attempt
  bool flushed = false;      // made only because the pod had waited for too long
  std::string_view message;  // why it failed
};

enum class GangOutcome : std::uint8_t {
  kPlaced,          // all that must start have a place, and are being bound
  kBound,           // all that were placed together are bound, at the first try
  kMembersMissing,  // for so long that it was said
  kNoRoom,
  kIncomplete,  // after the grace, some have a place, and too few
};

struct GangReport {
  cluster::GangId gang;
  GangOutcome outcome = GangOutcome::kPlaced;
  std::size_t pods = 0;        // that it is about
  Duration waited;             // since its first member was seen
  std::uint32_t attempts = 0;  // to place it so far, this one included
};

enum class GangResult : std::uint8_t {
  kScheduled,  // all that must start have a place
  kUnschedulable,
  kMakingRoom,  // there is none yet: others have to go
  kError,
};

// A gang was decided about, as a whole.
struct GangAttempt {
  cluster::PodId pod;  // that stands for it
  GangResult result = GangResult::kScheduled;
  Time began;  // taken from the queue
};

enum class BackfillOutcome : std::uint8_t {
  kPromised,  // a start, for the first time
  kStarted,   // who was promised one
  kPassed,    // somebody who was promised one
  kHeld,      // fits, and would delay a promised start
};

// About a pod, or the gang for which it stands.
struct BackfillReport {
  cluster::PodId pod;
  BackfillOutcome outcome = BackfillOutcome::kPromised;
  // kStarted: by how much, against what was promised first; negative: early; nullopt: that had no
  // time.
  std::optional<Duration> late = std::nullopt;
};

// What a pod of ours says and nobody heeds, because a profile lacks the plugin for it.
enum class Ignored : std::uint8_t {
  kGang,     // it is placed like any other
  kDriver,   // no room is kept for the pods that it makes
  kRunTime,  // no start is promised by it
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnAttempt(const cluster::State& /*state*/, const EndedAttempt& /*attempt*/) {}
  virtual void OnQueued(QueuePlace /*place*/, framework::EventKind /*why*/) {}
  // A pod, or the gang for which it stands, has waited for so long that it is taken before others
  // of its priority.
  virtual void OnStarved(cluster::PodId /*pod*/) {}
  // Something happened that may make waiting pods fit.
  virtual void OnEvent(framework::EventKind /*kind*/) {}
  // A pod fits nowhere, and it was looked for others to go: so many, or none that would help.
  virtual void OnPreemption(std::size_t /*victims*/) {}
  virtual void OnGang(const cluster::State& /*state*/, const GangReport& /*report*/) {}
  virtual void OnGangAttempt(const cluster::State& /*state*/, const GangAttempt& /*attempt*/) {}
  virtual void OnIgnored(const cluster::State& /*state*/, cluster::PodId /*pod*/,
                         Ignored /*what*/) {}
  virtual void OnBackfill(const cluster::State& /*state*/, const BackfillReport& /*report*/) {}
  // Somebody else bound a pod of ours, before our binding was sent.
  virtual void OnForeignBind(const cluster::State& /*state*/, cluster::PodId /*pod*/) {}
  // The pod was bound to a node that has less than those bound to it ask for: somebody else put
  // pods there, too.
  virtual void OnOvercommit(const cluster::State& /*state*/, cluster::PodId /*pod*/) {}
};

}  // namespace knx::engine
