// Takes part in the election of a leader through a Lease on the API server, over a connection of
// its own, so that renewals never wait behind other calls. lease_election.h has the rules, and why
// no two leaders ever write.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"
#include "client/lease_election.h"
#include "net/event_loop.h"

namespace knx::client {

// No two processes get the same: the name of the machine and a random uuid.
std::string LeaseIdentity();

class LeaderLease {
 public:
  struct Options {
    ApiClient::Options reach;  // what concerns writes is not taken from it
    std::string namespace_, name;
    LeaseElection::Options election;
    // What has passed, also while the machine slept, and which nobody can set.
    std::function<Time()> now;
    std::function<Time()> wall;  // the clock on the wall, for people
  };
  struct Callbacks {
    std::function<void()> leading;  // once
    // Once, if we led. Nothing may be written from now on.
    std::function<void(std::string_view why)> lost;
    // Another replica leads; empty: nobody does.
    std::function<void(std::string_view holder)> seen;
    // Told once for as long as it is the same, and no call of that kind has gone well.
    std::function<void(const Error&)> trouble;
  };
  LeaderLease(net::EventLoop& loop, Options options, Callbacks callbacks);
  ~LeaderLease();
  LeaderLease(const LeaderLease&) = delete;
  LeaderLease& operator=(const LeaderLease&) = delete;

  void Start() { Step(); }
  // Asked before anything is sent. Looks at the clock, so that a process that was stopped for a
  // while knows better than its timers.
  [[nodiscard]] bool MayWrite();
  // How long what is written now may take, in whole seconds.
  [[nodiscard]] Duration TimeForWrites() const;
  [[nodiscard]] bool leading() const { return election_.leading(); }
  [[nodiscard]] const std::string& identity() const { return options_.election.identity; }
  // How long ago our hold on the lease was confirmed; zero where we do not lead.
  [[nodiscard]] Duration SinceConfirmed() const;
  // New connections go there.
  void Replace(const net::Endpoint& endpoint);
  // Leads no more; `done` is called when the server knows, or cannot be told.
  void Release(std::function<void()> done);

 private:
  void Step();
  void Ask(const LeaseElection::Request& request);
  void OnAnswer(std::uint64_t number, const std::string& method,
                const Result<StoredLease>& answer);
  void GiveUp(std::uint64_t number, const std::string& method);
  void Report();
  void Complain(const std::string& method, const Result<StoredLease>& answer);
  [[nodiscard]] std::optional<Error> TroubleOf(const std::string& method,
                                               const Result<StoredLease>& answer) const;
  void Connect();

  net::EventLoop& loop_;
  Options options_;
  Callbacks callbacks_;
  LeaseElection election_;
  std::unique_ptr<ApiClient> api_;
  std::uint64_t asked_ = 0;     // how many questions so far
  std::uint64_t answered_ = 0;  // the last one that was
  net::EventLoop::TimerId wake_, give_up_;
  bool was_leading_ = false, told_lost_ = false, step_posted_ = false;
  std::string seen_holder_;
  // By the method of the call: what writes are refused for is no news because looking goes well.
  std::map<std::string, std::string> last_troubles_;
  int last_status_ = 0;  // of an attempt to have the question answered that was asked last
  std::function<void()> released_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
