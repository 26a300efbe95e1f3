// Who waits for a start, and what it is promised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/backfill_times.h"
#include "framework/plugin.h"

namespace knx::engine {

// Who waits for a start: a pod, or a gang for which that pod stands.
struct Waiter {
  cluster::PodId pod;
  cluster::GangId gang = {};
  std::vector<cluster::PodId> members = {};  // that start together; the pod itself without a gang
  std::size_t needed = 1;
  bool begun = false;  // others of the gang have a place, and are too few
  std::int32_t priority = 0;
  Time since = {};
  const framework::BackfillArgs* args = nullptr;
};

struct Promise {
  cluster::PodId pod;
  cluster::GangId gang;
  Time start = {};  // kUnknownEnd: some time, at these places
  Time due = {};    // when it was to start before others were late
  Time first = {};  // what was promised to it first
  // Somebody who was let pass it did not end when it said: nobody's word counts any more.
  bool betrayed = false;
  std::vector<std::pair<cluster::PodId, cluster::NodeRow>> places = {};
  Duration run = {};   // zero: nobody knows
  Time wake = kNever;  // when it is made anew, if nothing has come of it by then
  Time kept = kNever;  // since when it could start, and has not
  bool may_pass = true;
  std::uint64_t number = 0;  // the less, the earlier it was given
  Time tried = kNever;       // since when it has been relied on, and nobody is bound

  // Another may come to stand for a gang.
  [[nodiscard]] bool IsTo(cluster::PodId who, cluster::GangId of) const {
    return gang.valid() ? gang == of : pod == who;
  }
  // Nobody is known to have ended by when it starts.
  [[nodiscard]] bool IsOpen() const { return start == kUnknownEnd || betrayed; }
  [[nodiscard]] bool Is(const Waiter& waiter) const { return IsTo(waiter.pod, waiter.gang); }
  [[nodiscard]] bool IsOn(cluster::NodeRow row) const {
    return std::any_of(places.begin(), places.end(),
                       [row](const auto& place) { return place.second == row; });
  }
  [[nodiscard]] bool HasPlaceFor(cluster::PodId member) const {
    return std::any_of(places.begin(), places.end(),
                       [member](const auto& place) { return place.first == member; });
  }
};

}  // namespace knx::engine
