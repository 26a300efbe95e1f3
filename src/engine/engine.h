// The core: events and the time go in, actions come out.
// One owner drives it: Handle() for everything that happens, ScheduleOne() until it returns false,
// Advance() when NextWake() is due, TakeActions() after each. The same calls give the same actions,
// bit for bit. It has no thread, no clock, no randomness and does no I/O.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster/state.h"
#include "engine/actions.h"
#include "engine/engine_options.h"
#include "engine/events.h"
#include "engine/gang_inquiry.h"
#include "engine/inquiry.h"
#include "engine/queue.h"
#include "engine/reservation_book.h"
#include "engine/wait_inquiry.h"
#include "framework/profile.h"

namespace knx::engine {

class Core;

// Where a pod stands, for people and for tests.
// kPaused: what decides about it waits for an answer.
enum class PodStanding { kUnknown, kNotOurs, kWaiting, kPaused, kBinding, kBound };

class Engine {
 public:
  Engine(EngineOptions options, std::vector<framework::Profile> profiles);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void Handle(const Event& event, Time now);
  // Decides about one pod. False: there is none to decide about now.
  bool ScheduleOne(Time now);
  // The pod that the last ScheduleOne() was about; valid until the next event.
  [[nodiscard]] cluster::PodId decided() const;
  // Lets time pass: back-offs end, deadlines are met.
  void Advance(Time now);
  [[nodiscard]] Time NextWake() const;
  // When something comes by itself that can be seen, although nothing happens until then: a
  // reservation begins or ends, something is said of a gang, or a promise for which somebody is
  // held back moves. kNever: nothing does. Back-offs are the queue's.
  [[nodiscard]] Time NextChange() const;
  // What is to be done since the last call, in order.
  [[nodiscard]] std::vector<Action> TakeActions();

  [[nodiscard]] const cluster::State& state() const;
  [[nodiscard]] const Queue& queue() const;
  // Those it was made with, in their order.
  [[nodiscard]] const std::vector<framework::Profile>& profiles() const;
  // Pods for which others are being evicted.
  [[nodiscard]] std::size_t preemptions() const;
  [[nodiscard]] const ReservationBook& reservations() const;
  // The earliest that is promised to somebody who waits; kNever: none is.
  [[nodiscard]] Time NextPromisedStart() const;
  [[nodiscard]] PodStanding Standing(std::string_view uid) const;
  // Whether a binding that waits to be sent still should be: not when somebody else has meanwhile
  // bound the pod, or filled its node. One that is not sent is reported as failed.
  [[nodiscard]] bool IsWanted(ActionId binding) const;
  // Why the pod waits, as its condition says or should; empty if it does not wait or was never
  // tried.
  [[nodiscard]] std::string WhyWaiting(std::string_view uid) const;
  // What the plugins say about a waiting pod of ours; decides and changes nothing. nullopt: it is
  // not one.
  [[nodiscard]] std::optional<Inquiry> Inquire(std::string_view uid);
  // The same with what it waits for beside, and what would help it.
  [[nodiscard]] std::optional<PodInquiry> InquirePod(std::string_view uid);
  // Why the gang of a waiting pod of ours waits, and what would help it; decides and changes
  // nothing. nullopt: the pod is in none, or nobody of it could start.
  [[nodiscard]] std::optional<GangInquiry> InquireGang(std::string_view uid,
                                                       GangQuestion question = GangQuestion::kWhy);
  // Everything the core keeps counted, recounted: the state, the queue, and that every pod of ours
  // is bound, queued or waiting for a named reason. The first difference, or nothing.
  [[nodiscard]] std::optional<std::string> Verify() const;
  // The caches of every class compared with a full evaluation. For tests: costs as much as it
  // sounds.
  [[nodiscard]] std::optional<std::string> VerifyCaches();

  struct Bytes {
    cluster::State::Bytes state;
    std::size_t queue = 0, caches = 0;
    [[nodiscard]] std::size_t total() const { return state.total() + queue + caches; }
  };
  [[nodiscard]] Bytes bytes() const;

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace knx::engine
