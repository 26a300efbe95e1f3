// Who of several replicas may write, decided by a Lease as client-go does it, so that
// kube-scheduler and ours can stand in for each other. Only the rules: the time and the server's
// answers go in, what to ask the server comes out. leader_lease.h does the asking.
//
// Never two leaders writing. The argument, with all times by the clock of the process that measures
// them (which counts what passed, also while the machine slept, and which nobody can set):
// 1. A leader counts from T, when it *sent* the last renewal that the server confirmed, and may
//    write until T + renewDeadline. The server took the renewal at T or later.
// 2. Others see the renewed record at T or later, and wait for leaseDuration, which is longer, from
//    when they saw it. They compare it with what they saw before; the times in it mean nothing.
// 3. MayWrite() is asked right before bytes are handed to the system (net::Endpoint::may_send), so
//    a process that was stopped finds out before it sends anything. What waits inside of us never
//    leaves, and the connections are reset, which drops what the system still holds and makes the
//    server give up what it has not done.
// 4. What the server has by then ends before T + leaseDuration, because every write says how long
//    it may take, counted from when it is given to the connection (TimeForWrites()). That is at
//    least leaseDuration - renewDeadline, and mostly much more: a webhook that hangs and may be
//    left out has its time to do so.
// So what a leader wrote is done when another may begin. What this leaves is the time that bytes
// need to the server, which is counted from when it has them. Where they are on their way for so
// long that another leads meanwhile, the API server still refuses to bind a pod twice. A new leader
// looks at everything again before it decides (live::Scheduler::Lead), so it knows what the old one
// did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace knx::client {

struct LeaseRecord {
  std::string holder;  // empty: nobody
  std::int64_t duration_seconds = 0;
  Time acquired, renewed;  // by the clock on the holder's wall: for people
  std::int64_t transitions = 0;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// As the server has it.
struct StoredLease {
  LeaseRecord record;
  // What has to be sent along to change exactly this version of it, and nothing else about it.
  std::string metadata;
};

class LeaseElection {
 public:
  struct Options {
    std::string identity;  // no two processes have the same
    Duration lease_duration = Duration::Seconds(15);
    Duration renew_deadline = Duration::Seconds(10);  // less than lease_duration
    Duration retry_period = Duration::Seconds(2);     // from one renewal to the next
    std::uint64_t seed = 1;                           // of the chance in pauses
  };
  explicit LeaseElection(Options options)
      : options_(std::move(options)), chance_(options_.seed | 1) {}

  struct Request {
    enum class Kind { kGet, kCreate, kUpdate } kind = Kind::kGet;
    LeaseRecord record;    // to be written
    std::string metadata;  // of what is updated
  };
  // What the server is to be asked now. Nothing more until it was answered.
  std::optional<Request> Next(Time now, Time wall);
  // What the server has now, or why it refused: kNotFound and kConflict are told from the rest.
  void OnAnswer(const Result<StoredLease>& answer, Time now);
  // When Next() is to be called at the latest.
  [[nodiscard]] Time NextWake() const;

  // Once true, becomes false for good: by losing the lease, or by Release().
  [[nodiscard]] bool leading() const { return state_ == State::kLeading; }
  [[nodiscard]] bool MayWrite(Time now) const { return leading() && now < deadline_; }
  // Why the lease was lost; nothing: it was not.
  [[nodiscard]] const std::optional<std::string>& lost() const { return lost_; }
  // Who holds it, as far as we know; empty: nobody.
  [[nodiscard]] const std::string& holder() const { return seen_.record.holder; }
  // How long what is written now may take, so that it ends before another may lead.
  [[nodiscard]] Duration TimeForWrites(Time now) const {
    return confirmed() + options_.lease_duration - now;
  }
  // Writes in a row that were refused because somebody had changed the lease, while nobody else was
  // seen to hold it. One may be a renewal of ours that was taken though we did not hear of it.
  [[nodiscard]] int refusals() const { return refusals_; }
  // When our hold on it was last confirmed, counted from when we asked for it.
  [[nodiscard]] Time confirmed() const { return deadline_ - options_.renew_deadline; }

  // Leads no more, and gives the lease to whoever asks next. For when all that was sent has been
  // answered.
  void Release();
  // Nothing is left to be done.
  [[nodiscard]] bool over() const { return state_ == State::kOver; }

 private:
  enum class State { kWaiting, kLeading, kReleasing, kOver };
  enum class Ask { kNothing, kRenewal, kLook, kNew, kTake };

  [[nodiscard]] bool Expired(Time now) const;
  [[nodiscard]] LeaseRecord Ours(Time wall) const;
  void See(const StoredLease& lease, Time now);
  void OnLook(const Result<StoredLease>& answer, Time now);
  void OnWritten(const Result<StoredLease>& answer, Time now);
  void RenewInTime(Time now);
  void TryLater(Time now);
  void LookAgain(Time now);
  void LoseIfTooLate(Time now);
  void Lose(std::string why);
  std::uint64_t Chance();

  Options options_;
  State state_ = State::kWaiting;
  Ask next_ = Ask::kLook;      // what comes next, at `next_at_`
  Ask asked_ = Ask::kNothing;  // what is not answered yet
  Time next_at_{}, asked_at_{};
  Time deadline_{};
  StoredLease seen_;
  Time seen_at_{};
  bool seen_any_ = false;
  std::optional<std::string> lost_;
  int refusals_ = 0;
  std::string last_failure_;  // since the last write that went well
  std::uint64_t chance_;
};

}  // namespace knx::client
