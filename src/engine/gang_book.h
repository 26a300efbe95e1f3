// What is known of gangs that wait: which of their members could start, who stands for them in the
// queue, and since when. A gang is one entry of the queue: one member stands for it, and the others
// are held back until the gang is planned as a whole.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/state.h"
#include "engine/blocked_kinds.h"
#include "engine/gang_demand.h"

namespace knx::engine {

struct WaitingGang {
  // Members that wait and are held back by nothing but the gang, in the order in which they came.
  std::vector<cluster::PodId> ready;
  cluster::PodId stands;               // for the gang in the queue; invalid: too few are ready
  BlockedKinds blocked;                // found no place when the gang was last planned
  std::optional<Symbol> pin;           // the domain to which it was confined then (PinOf)
  std::optional<GangDemand> asked;     // what was to be found then
  std::uint64_t asked_version = 0;     // of the gang, up to which that is known to hold
  std::uint32_t attempts = 0;          // to place it, whoever stood for it
  std::uint32_t refusals = 0;          // of these, in a row, with which it could not start
  std::uint32_t failures = 0;          // in a row of those that were on their way together
  bool lost_place = false;             // one of them did before any was bound, when last planned
  Time since;                          // its first member was seen
  std::optional<Time> missing_report;  // when it is said that members are missing
  std::size_t said_missing = 0;        // with so many ready; 0: was not said
  std::int32_t noted_minimum = 0;      // members that declare less than this were warned
  std::string also;                    // what is to be said beside what is missing; empty: nothing
  bool incomplete = false;             // some have a place, and too few: it goes before others
  std::optional<Time> incomplete_report;  // when it is said that only some of it have a place
  bool said_incomplete = false;
  Time ask_again;  // not before that, who was asked to go because it is incomplete
  // They make it whole and are on their way. Until they are bound its grace goes on: it ends then.
  std::vector<cluster::PodId> completing;
  std::optional<Time> grace_end;
  // Some ran when we came, for longer than the grace, and nobody else of it was there, waiting or
  // leaving: who is missed may have done its work and be gone. They are not asked to go.
  bool found_alone = false;
  // So many had a place, and were enough, when more were asked for: as long as as many have one
  // nobody is asked to go. 0: they were too few, as far as is known, or lost somebody since.
  std::size_t were_enough = 0;
  // Members whose bindings are refused leave their places to nobody else until then.
  std::optional<Time> keeps_until;
  std::optional<Time> evicted_at;   // others, to make room for it, since it was last bound
  std::uint32_t evicted_times = 0;  // so often by then
  std::optional<Time> retry_at;     // may evict others then
  std::optional<Time> told_at;      // all members last said why it does not fit
  std::size_t told_needed = 0;      // so many places were needed then
  std::optional<Time> tell_report;  // when the others say what by now only one of them does
  std::string untold_reason, untold;
  // Whether those who are ready are enough, as of a version of the gang.
  mutable std::optional<std::pair<std::uint64_t, bool>> enough;
};

// What its members are told of an attempt that failed.
struct GangRefusal {
  std::string_view reason;
  const std::string& message;
  std::size_t needed = 0;  // places
};

// "default/train", for people: a name of any length is shortened.
std::string GangName(const cluster::State& state, cluster::GangId id);
// Of a gang of which too few have a place, in words.
std::string WhoHasAPlace(const cluster::State& state, cluster::GangId id);
// Of a gang with too few members, in words.
std::string WhatIsMissing(const cluster::State& state, cluster::GangId id,
                          const WaitingGang& waiting);

class GangBook {
 public:
  // Made if it is not there.
  WaitingGang& Open(cluster::GangId gang, Time now);
  // nullptr: nothing is known of it.
  [[nodiscard]] WaitingGang* Find(cluster::GangId gang);
  [[nodiscard]] const WaitingGang* Find(cluster::GangId gang) const;
  void Close(cluster::GangId gang);
  [[nodiscard]] std::size_t size() const { return gangs_.size(); }

  static void SetReady(WaitingGang& gang, cluster::PodId pod, bool ready);
  static void SetAlso(WaitingGang& gang, std::string also);
  // Others are evicted for it.
  static void NoteEvictions(WaitingGang& gang, Time now);

  // How many more members have to get a place at once, at the least. Remembered, as long as nothing
  // changes that makes a difference: many are asked about again with every event of a member.
  [[nodiscard]] std::size_t NeededBy(const cluster::State& state, cluster::GangId id) const;
  // Whether those who are ready are enough of each role and for whole sub-groups.
  [[nodiscard]] static bool FillParts(const cluster::State& state, cluster::GangId id,
                                      const WaitingGang& waiting);
  // Whether it can start as a whole with those who are ready: in number, and the right ones.
  [[nodiscard]] bool AreEnough(const cluster::State& state, cluster::GangId id,
                               const WaitingGang& waiting) const;
  // If they are not, and all start: how many have to come, at the least, so that nothing is missed.
  [[nodiscard]] std::size_t StillToCome(const cluster::State& state, cluster::GangId id,
                                        const WaitingGang& waiting) const;

  // Something is to be said of a gang at a time, or it is to be tried again, or no longer.
  void SetMissingReport(cluster::GangId id, std::optional<Time> when);
  void SetIncompleteReport(cluster::GangId id, std::optional<Time> when);
  void SetTellReport(cluster::GangId id, std::optional<Time> when);
  // Too few of it have a place: it is said when the grace ends, of which it has used nothing yet.
  void BeginGrace(cluster::GangId id, Time whole_grace_end);
  // It gets as much more, or less.
  void ExtendGrace(cluster::GangId id, Duration by);
  // Enough have a place. Some of them may be on their way to it, and may have to come back.
  void SuspendGrace(cluster::GangId id, const std::vector<cluster::PodId>& members,
                    const std::function<bool(cluster::PodId)>& is_on_its_way);
  void NoteBound(cluster::GangId id, cluster::PodId pod);
  // For that long since the first binding was refused.
  static bool KeepsPlaces(WaitingGang& gang, Duration grace, Time now);
  // It is bound as a whole: what went wrong before is over.
  static void ForgetTroubles(WaitingGang& gang);
  [[nodiscard]] static bool HasTroubles(const WaitingGang& gang);
  void SetRetry(cluster::GangId id, std::optional<Time> when);
  [[nodiscard]] Time NextReport() const {
    return reports_.empty() ? kNever : reports_.begin()->first;
  }
  // A gang with something to be said or done by now, whose time is taken off.
  struct Due {
    cluster::GangId gang;
    bool missing = false, incomplete = false, tell = false, retry = false;
  };
  std::optional<Due> PopReport(Time now);

 private:
  static void EndGrace(WaitingGang& gang);
  void Reschedule(cluster::GangId id, std::optional<Time>& slot, std::optional<Time> when);

  std::map<cluster::GangId, WaitingGang> gangs_;
  mutable std::vector<std::pair<std::uint64_t, std::size_t>> needed_;  // by gang: version, number
  std::set<std::pair<Time, cluster::GangId>> reports_;
};

}  // namespace knx::engine
