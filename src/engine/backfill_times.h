// How long pods run, as far as anybody says or has seen: an annotation of the pod, its deadline, or
// how long others of the same owner ran. And so when those that run will have ended.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cluster/state.h"
#include "k8s/objects.h"

namespace knx::engine {

// A pod that ends some time, but nobody knows when: after all that is known, and before kNever.
inline constexpr Time kUnknownEnd{kNever.ns - 1};

// What a pod says about its run time and cannot be read; nullptr: nothing.
[[nodiscard]] const std::string* UnreadableRunTime(const k8s::ObjectMeta& meta);

// So long after its time somebody may have ended without having been heard of.
inline constexpr Duration kLate = Duration::Seconds(1);

class RunTimes {
 public:
  explicit RunTimes(const cluster::State& state) : state_(state) {}

  // The pod came, or is as it says now; whether it says something else than before.
  bool Learn(cluster::PodId id, const k8s::Pod& pod, Time now);
  // It has a place from now on; `borrowed`: one that is promised to another.
  void NotePlaced(cluster::PodId id, bool borrowed, Time now);
  // It stands for room that is reserved until then.
  void NoteHold(cluster::PodId id, Time ends) { pods_[id] = Known{.until = ends}; }
  // It has done its work: others of its owner are expected to run as long.
  void NoteFinished(cluster::PodId id, Time now);
  void Forget(cluster::PodId id) { pods_.erase(id); }

  // nullopt: nobody knows.
  [[nodiscard]] std::optional<Duration> RunTimeOf(cluster::PodId id) const;
  // When a pod that has a place will have ended; never before now. kNever: it is not expected to.
  [[nodiscard]] Time EndOf(cluster::PodId id, Time now) const;
  // When it was made, or first heard of if it does not say.
  [[nodiscard]] Time CameAt(cluster::PodId id) const;
  // May pass others that wait.
  [[nodiscard]] bool MayPass(cluster::PodId id) const;
  // Was placed where another was promised a start.
  [[nodiscard]] bool Borrows(cluster::PodId id) const;
  // It runs for longer than was known, by more than nobody can help: a minute, or a tenth of it.
  [[nodiscard]] bool TakesTooLong(cluster::PodId id, Time now) const;

  [[nodiscard]] std::size_t bytes() const;
  // What is known of pods that are there no longer; nullopt: nothing.
  [[nodiscard]] std::optional<std::string> Verify() const;

 private:
  struct Known {
    Time seen = {}, placed = {};
    Time until = {};      // of a hold: when it ends
    Duration said = {};   // zero: nothing is said
    bool serves = false;  // is made to run for good
    bool may_pass = true;
    bool borrows = false;
    std::string owner = {};
  };
  // The last that have done their work, of one owner.
  using Past = std::deque<Duration>;
  static constexpr std::size_t kRemembered = 5;
  static constexpr std::size_t kMostOwners = 10'000;  // the oldest are forgotten

  [[nodiscard]] const Known* Find(cluster::PodId id) const;
  [[nodiscard]] Time StartOf(cluster::PodId id, const Known& known) const;

  const cluster::State& state_;
  absl::flat_hash_map<cluster::PodId, Known> pods_;
  absl::flat_hash_map<std::string, Past> past_;
  std::deque<std::string> owners_;  // in the order in which they came
};

}  // namespace knx::engine
