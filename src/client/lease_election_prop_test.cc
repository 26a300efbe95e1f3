#include <gtest/gtest.h>
// The order matters: rapidcheck's header wants gtest's.
#include <rapidcheck/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "client/lease_election.h"
#include "client/testing/fake_lease.h"

namespace knx::client {
namespace {

// Replicas on one server, all of it driven by one seed: messages are late or lost in either
// direction, processes stop and go on, clocks on walls are anywhere, leaders leave and are killed.
class ManyReplicas {
 public:
  explicit ManyReplicas(std::uint32_t seed) : chance_(seed) {
    for (int i = 0; i < 3; ++i) Replace(i);
  }

  void Step() {
    now_ = now_ + Duration::Milliseconds(50);
    for (auto message = wire_.begin(); message != wire_.end() && message->first <= now_;
         message = wire_.erase(message)) {
      Deliver(message->second);
    }
    for (int i = 0; i < 3; ++i) Drive(i);
  }
  [[nodiscard]] int writers() const {
    int count = 0;
    for (const Replica& replica : replicas_) count += replica.election.MayWrite(now_) ? 1 : 0;
    return count;
  }
  int led = 0;

 private:
  struct Replica {
    LeaseElection election{{}};
    int number = 0;
    Time stopped_until;
    Duration wall_is_off;
    bool led = false;
    std::vector<Result<StoredLease>> inbox;  // while it is stopped
  };
  struct Message {
    int to = 0, number = 0;                         // which replica, and which process there
    std::optional<LeaseElection::Request> request;  // else an answer
    Result<StoredLease> answer = StoredLease{};
  };

  bool Luck(int percent) { return static_cast<int>(chance_() % 100) < percent; }
  Duration Delay() {
    return Duration::Milliseconds(static_cast<std::int64_t>(chance_() % (Luck(5) ? 12'000 : 200)));
  }

  void Replace(int i) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    replica = {};
    replica.number = ++made_;
    replica.wall_is_off = Duration::Seconds(static_cast<std::int64_t>(chance_() % 7200) - 3600);
    replica.election =
        LeaseElection({.identity = std::to_string(replica.number), .seed = chance_()});
  }

  void Deliver(const Message& message) {
    if (message.request) {
      const auto answer = server_.Serve(*message.request);
      wire_.emplace(now_ + Delay(),
                    Message{message.to, message.number, std::nullopt,
                            Luck(5) ? Error{ErrorKind::kUnavailable, "lost", {}} : answer});
      return;
    }
    Replica& replica = replicas_[static_cast<std::size_t>(message.to)];
    if (replica.number != message.number) return;
    replica.inbox.push_back(message.answer);
  }

  void Drive(int i) {
    Replica& replica = replicas_[static_cast<std::size_t>(i)];
    if (now_ < replica.stopped_until) return;
    if (chance_() % 2000 == 0) {
      replica.stopped_until = now_ + Duration::Seconds(static_cast<std::int64_t>(chance_() % 40));
      return;
    }
    if (chance_() % 4000 == 0) return Replace(i);
    if (chance_() % 4000 == 0) replica.election.Release();
    for (const auto& answer : std::exchange(replica.inbox, {})) {
      replica.election.OnAnswer(answer, now_);
    }
    if (replica.election.leading() && !std::exchange(replica.led, true)) ++led;
    if (auto request = replica.election.Next(now_, now_ + replica.wall_is_off)) {
      wire_.emplace(now_ + Delay(), Message{i, replica.number, std::move(request)});
    }
    if (replica.election.over()) Replace(i);
  }

  std::mt19937 chance_;
  Time now_ = Time{} + Duration::Seconds(1);
  testing::FakeLease server_;
  std::multimap<Time, Message> wire_;
  std::vector<Replica> replicas_ = std::vector<Replica>(3);
  int made_ = 0;
};

RC_GTEST_PROP(LeaseElectionProperty, AtNoTimeTwoMayWrite, (std::uint32_t seed)) {
  ManyReplicas many(seed);
  for (int i = 0; i < 20'000; ++i) {
    many.Step();
    RC_ASSERT(many.writers() <= 1);
  }
  RC_ASSERT(many.led > 2);
}

}  // namespace
}  // namespace knx::client
