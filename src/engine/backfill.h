// Who waits is promised a start; who would delay it does not pass.
//
// The first in the order that cannot start gets a promise: the earliest time at which it fits, by
// when the pods that run will have ended, and its places then. Others start before it only if they
// have ended by then, or go to other nodes, or leave room for it. With the mode `conservative`
// those after the first are promised a start, too.
//
// Where nobody knows when pods end, the promise has places and no time: nothing that may still run
// when they become free is put there, so that they do become free. So it is where somebody
// who was let pass did not end when it said.
//
// What was promised and what is known of the future may come to differ: somebody starts later than
// it was placed, or is late. Before promises are relied on they are made to agree. Where it is a
// matter of a little, all start at their places as soon as these are free, so that nobody loses its
// turn by the lateness of another. Otherwise all promises are made anew, in the order in
// which they were given. In both cases they do not contradict each other any more.
//
// The future is tried on the state itself, between a mark and a rollback.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/backfill_times.h"
#include "engine/held_alike.h"
#include "engine/pace.h"
#include "engine/promise.h"
#include "engine/started_promises.h"

namespace knx::engine {

// A search for places at which it delays nobody who was promised a start.
struct Detour {
  const Waiter& waiter;
  std::vector<cluster::NodeRow> closed;    // promised nodes, ascending
  std::vector<cluster::NodeRow> left_out;  // of these, where it would delay somebody, ascending
  std::int32_t tries = 0;                  // so many of them are still looked at
  cluster::ClassId pod_class;              // of whom `left_out` was found out
  Time now;
};

enum class Passing : std::uint8_t {
  kNobody,  // there is nobody whom it passes
  kBeside,  // somebody who is promised a start, and takes nothing of its room
  kInTime,  // uses its room meanwhile, and will have ended by then
  kForbidden,
};

class Backfill {
 public:
  using Places = std::vector<std::pair<cluster::PodId, cluster::NodeRow>>;
  struct Doors {
    // Gives it places as the state is, and takes their room. None: it does not fit.
    std::function<Places(const Waiter&)> plan;
    // Whether they get nothing there but what is reserved for them.
    std::function<bool(const Places&)> is_own;
    // Whether the pod fits on the node as the state is.
    std::function<bool(cluster::PodId, cluster::NodeRow)> fits;
    // Takes what the pod needs there beside its room; false: it cannot have it.
    std::function<bool(cluster::PodId, cluster::NodeRow)> reserve;
    // As it waits at present; nullopt: it does not wait any more.
    std::function<std::optional<Waiter>(const Promise&)> find;
    // Whether it still waits.
    std::function<bool(const Promise&)> waits;
  };

  Backfill(cluster::State& state, Doors doors)
      : state_(state), doors_(std::move(doors)), times_(state) {}

  [[nodiscard]] RunTimes& times() { return times_; }
  [[nodiscard]] const RunTimes& times() const { return times_; }

  // Where it stands among those of its priority: the less, the earlier.
  [[nodiscard]] Time OrderOf(const Waiter& waiter) const;

  // Whatever is asked as long as this is there leaves the promises as they were.
  class Unchanged {
   public:
    explicit Unchanged(Backfill& backfill)
        : backfill_(backfill), promises_(backfill.promises_), moved_(backfill.moved_) {}
    ~Unchanged() {
      backfill_.promises_ = std::move(promises_);
      // What moves only for who asks would let others try again, for ever.
      backfill_.moved_ = moved_;
    }
    Unchanged(const Unchanged&) = delete;
    Unchanged& operator=(const Unchanged&) = delete;

   private:
    Backfill& backfill_;
    std::vector<Promise> promises_;
    bool moved_;
  };

  // Whether it may start now at these places, whose room may be taken already.
  Passing MayStart(const Waiter& waiter, const Places& places, Time now);
  // Whether that would be forbidden once those have gone for it; changes nothing.
  [[nodiscard]] bool WouldDelay(const Waiter& waiter, const Places& places,
                                std::span<const cluster::PodId> victims, Time now);
  // nullopt: it passes nobody, wherever it goes.
  [[nodiscard]] std::optional<Detour> Around(const Waiter& waiter, Time now);
  // Takes the places that it was promised, with all that it needs there, if its time has come and
  // they are free; none otherwise.
  Places TakePromised(const Waiter& waiter, Time now);
  // Whether all promises stand if it is at these places; changes nothing.
  [[nodiscard]] bool LeavesRoom(const Waiter& waiter, const Places& places, Time now);
  [[nodiscard]] bool HasPromise(const Waiter& waiter) const;
  // It cannot start now: what it is promised; nullptr: nothing.
  const Promise* Refuse(const Waiter& waiter, Time now);
  // Whether one like it was just held back, and nothing has happened since that may help. Of a pod
  // for which no room is reserved, and which may be on any node.
  [[nodiscard]] bool IsHeldAlike(const Waiter& waiter, Time now) const;
  void NoteHeldAlike(const Waiter& waiter, Time now);
  void NoteEvent() { alike_.Clear(); }
  // It fits, and is held back for the sake of a promise.
  void NoteHeld(const Waiter& waiter) { held_.insert(waiter.pod); }
  [[nodiscard]] bool IsHeld(cluster::PodId pod) const { return held_.contains(pod); }
  [[nodiscard]] bool HoldsSomebody() const { return !held_.empty(); }
  // Those who were held back, once a promise has moved or gone: it may be their turn now. Where
  // promises move with every try, who has been tried often waits for a moment. And the first of
  // those who were promised nothing because others were, if it can be promised a start now. And
  // those who have lost what they were promised to somebody more important.
  std::vector<cluster::PodId> TakeReleased(Time now);
  // It starts: the promise that it had.
  std::optional<Promise> Start(const Waiter& waiter, Passing passing, Time now);
  // What the gang is promised, until it is put back: for those of `after` what it was for those of
  // `before`, in their order. Not put back if these are not as many.
  [[nodiscard]] std::optional<Promise> TakeOut(cluster::GangId gang);
  void PutBack(Promise promise, std::span<const cluster::PodId> before,
               std::span<const cluster::PodId> after);
  // Nothing came of its start, and it waits again: what it was promised is kept for it, before
  // others take the room. Not for long: it may never work out.
  void GiveBack(cluster::PodId pod, cluster::GangId gang, Time now);
  void NoteBound(cluster::PodId pod) { started_.NoteBound(pod); }

  [[nodiscard]] std::span<const Promise> promises() const { return promises_; }
  // kNever: none is promised.
  [[nodiscard]] Time NextStart() const;
  // The pod, or the gang, is not there any more; another may get its id.
  void Forget(cluster::PodId pod);
  void Forget(cluster::GangId gang);
  // The pod may have gone over to another gang, or to none.
  void ForgetPlacesOf(cluster::PodId pod);
  // Who was promised a place on the node.
  [[nodiscard]] std::vector<cluster::PodId> PromisedOn(cluster::NodeRow row);
  // The node goes. Gives those who were promised a place on it, and are promised nothing now.
  std::vector<cluster::PodId> ForgetNode(cluster::NodeRow row);
  // When a start has been promised that did not come, or who was tried often may be again.
  [[nodiscard]] Time NextWake() const;
  // Whose start did not come; they are not named again for a while.
  std::vector<cluster::PodId> TakeLate(Time now);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { kNow, kEnd, kPromisedEnd, kPromisedStart };
    Time at;
    Kind kind = Kind::kEnd;
    cluster::PodId pod{};     // kEnd
    std::size_t promise = 0;  // of promised ends and starts
    friend bool operator<(const Step& a, const Step& b) {
      return a.at != b.at ? a.at < b.at : a.kind < b.kind;
    }
  };
  struct Found {
    Time start;
    Places places;
  };
  struct Search {
    std::size_t before;  // so many of the promises come before it
    bool now_too;        // it may be able to start now
    Time until;          // and not later than this
    Time now;
  };
  // Who is being decided about.
  struct Turn {
    const Waiter& waiter;
    const Places& places;  // that it is tried at; none: it does not fit now
    Time now;
  };
  struct InTheWay {
    std::vector<const Promise*> promises;
    bool passes = false;  // it would start before one who comes before it
  };

  // Forgets promises to those who do not wait any more. `but`: who is being decided about may have
  // the places already that it is tried at.
  void DropGone(const Waiter* but = nullptr);
  [[nodiscard]] Duration RunTimeOf(const Waiter& waiter) const;
  // nullopt: it is like no other.
  [[nodiscard]] std::optional<HeldAlike::Kind> KindOf(const Waiter& waiter) const;
  // Whose promised nodes are used by somebody who was to have ended.
  void NoteBetrayed(Time now);
  // To one who has no promise yet.
  const Promise* GiveFirst(const Turn& turn);
  // No more promises are given than so many before its own.
  [[nodiscard]] static bool IsFull(const Waiter& waiter, std::size_t before);
  [[nodiscard]] std::optional<Waiter> TakeFirstRefused();
  // Zero behind those, the first so many promises, of whom nobody knows when one starts. Promises
  // are given and relied on by the same measure.
  [[nodiscard]] Duration KnownRunTimeOf(const Waiter& waiter, std::size_t before) const;
  [[nodiscard]] double SizeOf(const Waiter& waiter) const;
  // Has not to care about promises to the other.
  [[nodiscard]] bool Outranks(const Waiter& waiter, const Waiter& other) const;
  // When it is noticed that nothing has come of a promise.
  [[nodiscard]] static Time WakeFor(Time start);
  [[nodiscard]] std::vector<Promise>::iterator PromiseTo(const Waiter& waiter);
  // Nodes that are promised to others and that it would not have left by then, ascending: at others
  // it delays nobody.
  [[nodiscard]] std::vector<cluster::NodeRow> ClosedTo(const Waiter& waiter,
                                                       const InTheWay& in_the_way, Time now);
  // Whether it may go to nodes that others are promised if they find room beside it: promises are
  // made so, and whoever comes before all of them may start earlier than it was promised.
  [[nodiscard]] bool MayShare(const Waiter& waiter, const InTheWay& in_the_way, Time now) const;
  // Starts there whoever was promised what.
  [[nodiscard]] bool IsFree(const Waiter& waiter, const Places& places) const;
  Passing Judge(const Turn& turn);
  // Those that it has to care about if it starts there. `places` empty: anywhere.
  [[nodiscard]] InTheWay InTheWayOf(const Waiter& waiter, const Places& places, Time now);
  [[nodiscard]] bool MayPass(const Waiter& waiter) const;
  // It will have ended by when the other is to start.
  [[nodiscard]] bool EndsBefore(const Waiter& waiter, const Promise& promise, Time now) const;
  // The promises as they are if it starts at these places; nullopt: one does not stand.
  std::optional<std::vector<Promise>> Beside(const Waiter& waiter, const Places& places, Time now);
  // Takes those promises back.
  void Drop(absl::FunctionRef<bool(const Promise&)> which);
  // Promises it a start behind the others. `before`: the promise that is made anew; nullptr: it is
  // the first. False: it will not fit.
  bool Give(const Waiter& waiter, const Promise* before, bool now_too, Time now);
  // Promises those a start anew, behind the others, as far as there may be so many.
  void GiveBehind(std::span<const Promise> before, Time now);
  // Among the others, in the order in which they were given.
  void Insert(Promise promise);
  // Promises it an earlier start if the others leave room for that.
  void Improve(const Waiter& waiter, Time now);

  // ---- backfill_future.cc ----
  // When those that run will have ended, in no order.
  [[nodiscard]] std::vector<Step> Ends(Time now) const;
  // What happens from now on, in order: those that run end, those with promises start and end.
  [[nodiscard]] std::vector<Step> Future(Time now) const;
  // Lets a step happen; false: a promise does not stand.
  bool Happen(const Step& step, std::vector<Promise>& promises);
  bool HappenAll(std::span<const Step> steps, std::vector<Promise>& promises);
  // Takes the room that it is promised; false: it is not free.
  bool TakePlaces(const Promise& promise);
  // Makes all promises agree with the future as it is known now; whether they did not.
  bool Agree(const Turn& turn);
  // The promises as they are if all start at their places as soon as these are free, who was to
  // start first before the others; nullopt: somebody would be late by more than a little.
  std::optional<std::vector<Promise>> Play(const Turn& turn);
  bool PlayAll(const Turn& turn, std::vector<Step> steps, std::vector<Promise>& promises);
  // Makes all promises anew, in their order.
  void Remake(const Turn& turn);
  [[nodiscard]] std::optional<Found> Earliest(const Waiter& waiter, const Search& search);
  [[nodiscard]] std::optional<Found> EarliestAlone(const Waiter& waiter,
                                                   std::span<const Step> steps);
  [[nodiscard]] std::optional<Found> EarliestAmong(const Waiter& waiter,
                                                   std::span<const Step> steps,
                                                   const Search& search);
  // When those have started whom it does not pass, of the first so many promises.
  [[nodiscard]] Time NotBefore(const Waiter& waiter, std::size_t before);

  cluster::State& state_;
  Doors doors_;
  RunTimes times_;
  std::vector<Promise> promises_;  // in the order in which they were given
  std::uint64_t given_ = 0;
  StartedPromises started_;
  std::set<cluster::PodId> held_;
  HeldAlike alike_;
  std::set<std::pair<cluster::PodId, cluster::GangId>> refused_;  // because others are promised
  // Who has to be told that it is promised nothing any more.
  std::vector<std::pair<cluster::PodId, cluster::GangId>> lost_;
  std::map<cluster::PodId, Pace> tries_;  // of those who were held back
  Time release_ = kNever;
  bool moved_ = false;  // a promise has moved or gone since somebody was told of it
};

}  // namespace knx::engine
