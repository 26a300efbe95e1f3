// Members of a gang that found no place, one of each kind, and who said no to it: whatever helps
// one of them may help the gang. Members that no plugin can tell apart are one kind.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "engine/plugin_set.h"
#include "engine/queue.h"

namespace knx::engine {

class BlockedKinds {
 public:
  struct Kind {
    cluster::PodId pod;  // invalid: it is gone, and others like it may be there
    PluginSet rejected_by, pending_on;
    [[nodiscard]] bool Names(std::uint8_t plugin) const {
      return rejected_by.Contains(plugin) || pending_on.Contains(plugin);
    }
  };
  // With more of them anything may help: to ask about each would cost more than to try.
  static constexpr std::size_t kMost = 64;

  void Add(const cluster::State& state, cluster::PodId pod, const FailedAttempt& attempt);
  void Add(const cluster::State& state, const BlockedKinds& others);
  // Members that found a place when others did not, and may be in their way: another place for them
  // helps as well. Nothing if nobody was blocked.
  void AddThoseInTheWay(const cluster::State& state, std::span<const cluster::PodId> members);
  // This one and nobody else.
  void Set(cluster::PodId pod, const FailedAttempt& attempt);
  // The pod is not a member any more.
  void Forget(cluster::PodId pod);
  [[nodiscard]] std::span<const Kind> all() const { return kinds_; }

  // What the pod waits for that stands for the gang, beside what the attempt names already: whoever
  // said no to one of them. Nobody at all, that is anything, if one of them cannot say who it was
  // in terms of the pod's profile.
  void WidenTo(const cluster::State& state, cluster::PodId stands, FailedAttempt& attempt) const;

 private:
  // nullptr: of that kind none is there.
  Kind* Find(const cluster::State& state, cluster::PodId pod);

  std::vector<Kind> kinds_;
  bool more_ = false;
};

}  // namespace knx::engine
