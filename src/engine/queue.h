// Pods waiting for a decision.
// Active pods are taken in order of effective priority, then age (queue_order.h). A pod that was
// rejected waits until
// something happens that may help it (the plugins that rejected it are asked), then for its
// back-off; a pod that is gated waits for its gate only. Not thread-safe: the core owns it. Knows
// no plugin: whoever owns it answers for them through the Judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/ids.h"
#include "engine/plugin_set.h"
#include "engine/queue_order.h"
#include "framework/cluster_event.h"

namespace knx::engine {

class Observer;
class PodPlaces;
struct InFlightPod;
struct WaitsFor;

// How an attempt to place a pod ended.
struct FailedAttempt {
  PluginSet rejected_by{};     // said no
  PluginSet pending_on{};      // wait for something outside: no back-off when it comes
  bool error = false;          // something went wrong that no plugin answers for
  std::uint32_t failures = 0;  // in a row of what it belongs to, if those are more than its own
};

enum class QueuePlace : std::uint8_t {
  kNone,           // not known here
  kActive,         // may be popped
  kBackoff,        // may be popped once its back-off is over, or if nothing is active
  kErrorBackoff,   // the same after an error: never before its back-off is over
  kUnschedulable,  // waits for an event that may help, or to have waited for too long
  kGated,          // waits for an event that may help with its gate
  kInFlight,       // popped, being decided about
  kDone,           // decided; only its history is here
};

// Waiting pods that a plugin of a profile rejected when they were last tried, or holds back.
struct RejectedPods {
  std::uint32_t profile = 0;
  std::uint8_t plugin = 0;
  std::size_t pods = 0;
  friend bool operator==(const RejectedPods&, const RejectedPods&) = default;
};

class Queue {
 public:
  struct Options {
    Duration initial_backoff = Duration::Seconds(1);
    Duration max_backoff = Duration::Seconds(10);  // 0: no back-off at all
    Duration max_unschedulable = Duration::Minutes(5);
    // How often the line above is looked at, from the first time that the queue was told.
    Duration flush_interval = Duration::Seconds(30);
    bool pop_from_backoff = true;  // with nothing active, take a pod before its back-off is over
  };

  // Answers for the plugins. Must not call the queue.
  class Judge {
   public:
    virtual ~Judge() = default;
    // Pods with the same number have the same plugins; never changes for a pod.
    virtual std::uint32_t ProfileOf(cluster::PodId pod) = 0;
    // nullopt: may become active. Otherwise the plugin that holds it back.
    virtual std::optional<std::uint8_t> Gate(cluster::PodId pod) = 0;
    // Plugins of the pod's profile that registered for this kind of event. Asked about one pod, the
    // answer holds for all of its profile.
    virtual PluginSet Interested(cluster::PodId pod, framework::EventKind kind) = 0;
    virtual bool MayHelp(cluster::PodId pod, std::uint8_t plugin,
                         const framework::ClusterEvent& event) = 0;
    // Asked when the pod may be taken, and when it is updated. nullopt: its own priority is all,
    // and was whenever this was asked about it.
    virtual std::optional<Seniority> SeniorityOf(cluster::PodId pod) {
      (void)pod;
      return std::nullopt;
    }
    // The pod goes before all others of its priority, and without a back-off as soon as something
    // happens that may help it. Where that changes, Reorder must be called.
    virtual bool GoesFirst(cluster::PodId pod) {
      (void)pod;
      return false;
    }
  };

  // `observer` hears of every pod that comes to a place; may be nobody.
  Queue(Options options, Judge& judge, Observer* observer = nullptr);
  ~Queue();

  // A pod to be scheduled. It must not be in the queue.
  void Add(cluster::PodId pod, std::int32_t priority, Time now);
  // The pod itself changed: `events` says how (kOwn... kinds). Does nothing if it is not known
  // here.
  void Update(cluster::PodId pod, std::int32_t priority,
              std::span<const framework::ClusterEvent> events, Time now);
  // The pod is gone or scheduled; its history goes too. Does nothing if it is not known here.
  void Remove(cluster::PodId pod);

  // The next pod to schedule, as of now; it is in flight until Done, Requeue or Remove.
  std::optional<cluster::PodId> Pop(Time now);
  // The decision stands: what happens from here on is no longer the queue's business, but the pod's
  // history is kept until Remove so that a failed binding continues it.
  void Done(cluster::PodId pod);
  // The attempt failed, in flight or after Done. Events that came while the pod was in flight count
  // as if they came now. After Done nobody kept them: something that helps may have happened, so
  // the pod waits for its back-off only.
  void Requeue(cluster::PodId pod, const FailedAttempt& attempt, Time now);

  // The gate of the pod may have opened, or closed, without an event that says so. Does nothing if
  // the pod does not wait.
  void AskGateAgain(cluster::PodId pod, Time now);
  // The pod is decided about together with another that was popped: in flight from here on. It must
  // wait.
  void Take(cluster::PodId pod, Time now);
  // What was decided about it, in flight or after Done, is taken back through no fault of its own:
  // it may be tried again as if nothing had been.
  void PutBack(cluster::PodId pod, Time now);
  // Something went wrong with what it waits for: it is to be tried again at once, whatever it waits
  // for. Does nothing if it is not known here.
  void Activate(cluster::PodId pod, Time now);

  // Whether the pod goes first has changed.
  void Reorder(cluster::PodId pod, Time now);

  // Something happened in the cluster.
  void OnEvent(const framework::ClusterEvent& event, Time now);

  // When Advance has something to do next; kNever if nothing waits for time to pass.
  [[nodiscard]] Time NextWake() const;
  void Advance(Time now);

  struct View {
    QueuePlace place = QueuePlace::kNone;
    std::int32_t priority = 0, effective = 0;
    bool starved = false;                   // has waited for so long that it counts for more
    std::uint32_t attempts = 0;             // how often it was popped
    std::uint32_t failed_attempts = 0;      // of those, found unschedulable
    std::uint32_t errors = 0;               // consecutive, of the other kind
    Time added{}, since{};                  // first seen; put into the queue for this attempt
    Time backoff_until{};                   // the moment from which it is over
    PluginSet rejected_by{}, pending_on{};  // by the last attempt that failed
    std::uint8_t gate = 0;                  // with kGated: the plugin
    friend bool operator==(const View&, const View&) = default;
  };
  [[nodiscard]] View Get(cluster::PodId pod) const;
  // Of a pod that was popped, until Remove.
  struct Attempt {
    std::uint32_t number = 0;  // how often it was popped
    Time ready, popped;        // first active; popped for this attempt
    bool flushed = false;      // tried again only because it had waited for too long
  };
  [[nodiscard]] Attempt LastAttempt(cluster::PodId pod) const;
  // Waits or is in flight.
  [[nodiscard]] bool Contains(cluster::PodId pod) const;
  [[nodiscard]] std::size_t Count(QueuePlace place) const;
  // Every pod in a place, in the order in which they would be taken (active, back-off) or by id.
  [[nodiscard]] std::vector<cluster::PodId> List(QueuePlace place) const;
  // By profile and plugin. A pod counts for every plugin that rejected it.
  [[nodiscard]] std::vector<RejectedPods> CountRejected() const;
  // Counts and orders recounted from scratch: the first difference, or nothing.
  [[nodiscard]] std::optional<std::string> Verify() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  enum class Reaction : std::uint8_t { kStay, kAfterBackoff, kAtOnce };
  struct Move {
    std::uint32_t record;
    Reaction reaction;
  };
  // Whom to ask about an event on behalf of those who wait for the same.
  struct Asked {
    bool moves_anyway = false;
    PluginSet rejected_by{}, pending_on{};
    [[nodiscard]] bool empty() const {
      return !moves_anyway && rejected_by.empty() && pending_on.empty();
    }
  };

  [[nodiscard]] Asked AskedBy(const WaitsFor& what, cluster::PodId member,
                              framework::EventKind kind);
  Reaction React(const Asked& asked, cluster::PodId pod, const framework::ClusterEvent& event);
  void Remember(InFlightPod& flight, const framework::ClusterEvent& event);
  void RefreshSeniority(std::uint32_t record, Time now);
  void LeaveWaiting(std::uint32_t record, Reaction reaction, framework::EventKind why, Time now);
  void TellArrived(std::uint32_t record, framework::EventKind why) const;
  [[nodiscard]] Time FlushTimeOfOldest() const;
  void See(Time now);

  const Options options_;
  Judge& judge_;
  Observer* const observer_;
  std::unique_ptr<PodPlaces> places_;
  std::optional<Time> first_seen_;
  std::vector<Move> moves_;  // of one event; kept for its capacity
};

}  // namespace knx::engine
