// How the scheduler hears of one kind of object: a list, then every change, in order and some time
// after it was written. With faults: late, twice, or not at all until the next list.
//
// What it promises even then: the view of the listener is at all times one that the cluster had,
// and it never goes back (a relist may be old, but not older than what was told before; only a
// scheduler that starts may be given a list that is). A pod that has failed is told as gone, as a
// real scheduler's field selector has it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/store.h"

namespace knx::sim {

template <class T>
class Watch {
 public:
  // `object` is the last version of one that is gone, as an API server sends it.
  using Deliver = std::function<void(const Ptr<T>& object, bool gone)>;

  // `listed`: a list has been told.
  Watch(Agenda& agenda, const Store& store, const Timing& timing, Deliver deliver,
        std::function<void()> listed)
      : agenda_(agenda),
        store_(store),
        timing_(timing),
        deliver_(std::move(deliver)),
        listed_(std::move(listed)) {}

  // Forgets the listener and starts over with a list that is `age` old. Delivers it at once.
  void Start(Duration age);
  // The listener is gone; nothing is delivered until Start.
  void Stop();
  // To be called for every write of the store.
  void OnWrite(const Write<T>& write);

  // ---- faults ----
  // For so long, changes are told so much later.
  void BeLate(Duration by, Duration for_how_long);
  // The next `count` changes are told twice.
  void Duplicate(std::int64_t count) { duplicates_ += count; }
  // The connection is lost: what is written now is told only by the list that follows, `age` old.
  void Disconnect(Duration for_how_long, Duration age);
  // Lists that are up to this old can be asked for; must be said before anything is written.
  void KeepHistory(Duration span) { history_span_ = span; }

  // Everything written so far has been told.
  [[nodiscard]] bool Current() const { return connected_ && pending_.empty(); }
  // Every change up to this version has been told.
  [[nodiscard]] std::uint64_t told_version() const;
  [[nodiscard]] bool started() const { return started_; }

 private:
  struct Change {
    std::uint64_t version = 0;
    Time written;
    Ptr<T> before, after;  // as far as the listener may see them
    Ptr<T> last;           // as it was written, or as it was when it was removed
  };
  struct Pending {
    Change change;
    Time due;
  };
  using Objects = std::map<std::string, Ptr<T>>;

  [[nodiscard]] std::uint64_t VersionAt(Duration age) const;
  [[nodiscard]] Objects ListAt(std::uint64_t version) const;
  void List(std::uint64_t version);
  void Enqueue(Change change);
  void DeliverDue(std::uint64_t life);
  void Tell(const Ptr<T>& object, bool gone);

  Agenda& agenda_;
  const Store& store_;
  const Timing& timing_;
  Deliver deliver_;
  std::function<void()> listed_;

  bool started_ = false;
  bool connected_ = false;
  std::uint64_t life_ = 0;       // grows with Start, Stop, Disconnect: older entries are void
  std::uint64_t last_told_ = 0;  // version
  Objects told_;                 // by uid, or name for nodes
  std::deque<Pending> pending_;
  std::deque<Change> history_;
  Duration history_span_;
  Duration late_by_;
  Time late_until_;
  std::int64_t duplicates_ = 0;
};

extern template class Watch<k8s::Pod>;
extern template class Watch<k8s::Node>;

}  // namespace knx::sim
