// Whether gangs stay partly placed: seen from what the scheduler was told and what it decided.
//
// Of a gang of which some have a place and too few for its minimum, its roles or its sub-groups,
// those who have one are asked to go at the end of a grace (docs/gangs.md), where their profile
// evicts who is incomplete. Nobody is missed, by what is said there: by a driver that runs, while
// the places of its executors are kept; by those who ran for longer than the grace, with nobody
// else there, when a scheduler came; by those who were enough until more was asked for, as long as
// none of them is lost. Those who make it whole and are on their way are waited for; if they come
// back, the grace is over when it would have been. Who was asked to go, and does not, has another,
// and so has who was on its way when it ended, as long as nobody has answered about its binding. A
// gang of which somebody has a place by a profile that knows no gangs is not looked at before it is
// whole without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/engine.h"
#include "sim/placement_rules.h"
#include "sim/told_view.h"

namespace knx::sim {

class GangGrace {
 public:
  // A new scheduler, which knows nothing of what was before.
  void OnStart();
  // It knows everything that is there: now it makes up its mind about what it has found.
  void OnListed() { listed_ = true; }
  // A pod is asked to go, because its gang is incomplete or to make room.
  void OnEviction(const std::string& uid, bool incomplete);
  // After whatever happened. Who stays partly placed for too long, in words.
  [[nodiscard]] std::optional<std::string> Check(const engine::Engine& engine, const ToldView& told,
                                                 const Rules& rules, Time now);

 private:
  // How a gang stands.
  struct Count {
    bool applies = false;      // some have a place, and have to be enough or to go
    bool foreign = false;      // somebody has a place by a profile that does not place them so
    bool ours = false;         // the profile of somebody places gangs as wholes
    bool singles = false;      // each of them is for itself
    bool kept = false;         // a driver runs, and the places of its executors are kept
    bool whole = false;        // with those on their way
    bool whole_bound = false;  // without them
    bool others = false;       // wait, and are held back by nothing but the gang
    bool ask_more = false;     // some of those, than who has a place does
    bool all_placed = false;   // nobody else of it is there, waiting or leaving
    bool asked = false;        // some were, at the end of the grace
    bool own_grace = false;    // its object says it
    PodPtr driver = {};        // that has a place, if any
    bool flying = false;       // some are on their way
    std::size_t placed = 0, filled = 0;  // the latter with those who are done
    Duration grace, straggler_wait;
    Time started = kNever, last_made;  // the first that has a place, the last that waits
    std::string who_stays;             // and is to go at the end of the grace; empty: nobody
  };
  // What is known of a gang from one look to the next.
  struct Known {
    cluster::GangKey key = {};
    std::uint64_t version = 0;          // of the gang
    bool at_rest = false;               // nothing but a change of the gang makes a difference
    bool foreign = false;               // was, and it has not been whole without since
    bool whole = false, kept = false;   // as counted then
    std::size_t enough = 0;             // had a place or were done, while that was enough
    std::size_t were_enough = 0;        // so many, until more was asked for; 0: they were not
    cluster::GangDemand kept_for = {};  // what was asked for while places were kept
    PodPtr driver = {};                 // as it was then
    bool found_alone = false;           // by a scheduler that came, for longer than the grace
    std::optional<Time> since = {};     // too few have a place
    Duration grace = {};                // as it was then
    Duration counted_grace = {};        // as it was at the last look
    Time not_before = {};               // nobody has to go
  };
  [[nodiscard]] Count CountGang(const engine::Engine& engine, const ToldView& told,
                                const Rules& rules, cluster::GangId id) const;
  // `first_look`: the scheduler has just come.
  static void Begin(const Count& count, Known& known, bool first_look, Time now);
  static void Note(const Count& count, const cluster::GangDemand& demand, Known& known,
                   bool first_look, Time now);

  static Duration GraceOf(const Count& count, const Known& known);

  std::map<cluster::GangId, Known> gangs_;
  std::set<std::string> asked_;      // uids of those who were ever asked to go, or are to be
  std::set<std::string> for_grace_;  // of these, since the last look, at the end of a grace
  bool listed_ = false;              // the scheduler knows everything that is there
  bool fresh_ = true;                // it has not been looked at since
};

}  // namespace knx::sim
