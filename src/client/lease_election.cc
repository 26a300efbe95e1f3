#include "client/lease_election.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace knx::client {
namespace {

constexpr std::int64_t kNanosecondsInSecond = 1'000'000'000;

// Whole seconds are all that a Lease holds; rounded up, because others may take over after them.
std::int64_t WholeSeconds(Duration duration) {
  return std::max<std::int64_t>(1, (duration.ns + kNanosecondsInSecond - 1) / kNanosecondsInSecond);
}

}  // namespace

// ---- what is seen ----

bool LeaseElection::Expired(Time now) const {
  // 32 bits in the API, and whatever a server says here.
  const std::int64_t seconds = std::clamp<std::int64_t>(seen_.record.duration_seconds, 0,
                                                        std::numeric_limits<std::int32_t>::max());
  return now - seen_at_ >= Duration::Seconds(seconds);
}

void LeaseElection::See(const StoredLease& lease, Time now) {
  if (!seen_any_ || lease.record != seen_.record) seen_at_ = now;
  seen_any_ = true;
  seen_ = lease;
}

// ---- what is asked ----

LeaseRecord LeaseElection::Ours(Time wall) const {
  LeaseRecord record{options_.identity, WholeSeconds(options_.lease_duration), wall, wall,
                     seen_.record.transitions};
  if (seen_.record.holder == options_.identity) {
    record.acquired = seen_.record.acquired;
  } else if (seen_any_ && record.transitions < std::numeric_limits<std::int32_t>::max()) {
    ++record.transitions;
  }
  return record;
}

std::optional<LeaseElection::Request> LeaseElection::Next(Time now, Time wall) {
  LoseIfTooLate(now);
  if (over() || asked_ != Ask::kNothing || now < next_at_) return std::nullopt;
  asked_ = std::exchange(next_, Ask::kNothing);
  asked_at_ = now;
  if (asked_ == Ask::kLook) return Request{};
  if (asked_ == Ask::kNew) return Request{Request::Kind::kCreate, Ours(wall), {}};
  if (state_ == State::kReleasing) {
    // As client-go leaves it: nobody's, and soon forgotten.
    return Request{Request::Kind::kUpdate,
                   {.holder = {},
                    .duration_seconds = 1,
                    .acquired = wall,
                    .renewed = wall,
                    .transitions = seen_.record.transitions},
                   seen_.metadata};
  }
  return Request{Request::Kind::kUpdate, Ours(wall), seen_.metadata};
}

Time LeaseElection::NextWake() const {
  if (over()) return kNever;
  const Time next = asked_ == Ask::kNothing ? next_at_ : kNever;
  return leading() ? std::min(next, deadline_) : next;
}

// ---- what is answered ----

void LeaseElection::OnAnswer(const Result<StoredLease>& answer, Time now) {
  LoseIfTooLate(now);
  if (over() || asked_ == Ask::kNothing) return;
  const Ask was = std::exchange(asked_, Ask::kNothing);
  next_at_ = now;
  // To look at it helps nobody who cannot write it.
  if (!answer.ok()) {
    last_failure_ = answer.error().message;
  } else if (was != Ask::kLook) {
    last_failure_.clear();
  }
  if (state_ == State::kReleasing) {
    // What was on its way when we were asked to release may have made the lease ours.
    if (next_ == Ask::kLook) return;
    if (was != Ask::kLook || !answer.ok() || answer->record.holder != options_.identity) {
      state_ = State::kOver;
      return;
    }
    See(*answer, now);
    next_ = Ask::kTake;
    return;
  }
  was == Ask::kLook ? OnLook(answer, now) : OnWritten(answer, now);
}

void LeaseElection::OnLook(const Result<StoredLease>& answer, Time now) {
  if (!answer.ok()) {
    if (answer.error().kind != ErrorKind::kNotFound) return TryLater(now);
    next_ = Ask::kNew;
    return;
  }
  See(*answer, now);
  const std::string& holder = seen_.record.holder;
  const bool of_another = !holder.empty() && holder != options_.identity;
  if (leading() && of_another) return Lose(fmt::format("{} holds the lease", holder));
  if (of_another && !Expired(now)) {
    refusals_ = 0;
    return TryLater(now);
  }
  next_ = Ask::kTake;
}

void LeaseElection::OnWritten(const Result<StoredLease>& answer, Time now) {
  if (!answer.ok()) {
    const ErrorKind kind = answer.error().kind;
    // Somebody changed it, or one of our own renewals was taken though we did not hear of it.
    const bool changed = kind == ErrorKind::kConflict || kind == ErrorKind::kNotFound;
    if (changed) ++refusals_;
    return leading() && changed ? LookAgain(now) : TryLater(now);
  }
  See(*answer, now);
  // What stands between us and the server, or in it, may say yes and store something else.
  if (const std::string& holder = seen_.record.holder; holder != options_.identity) {
    if (!leading()) return TryLater(now);
    return Lose(holder.empty() ? "the server has stored that nobody holds the lease"
                               : fmt::format("{} holds the lease", holder));
  }
  refusals_ = 0;
  const Time until = asked_at_ + options_.renew_deadline;
  // Confirmed so late that it is worth nothing; the next renewal may be worth something.
  if (now >= until) return TryLater(now);
  deadline_ = until;
  state_ = State::kLeading;
  RenewInTime(now);
}

// From question to question, so that a slow server does not make renewals rarer than they are meant
// to be: the deadline counts from the questions, too.
void LeaseElection::RenewInTime(Time now) {
  next_ = Ask::kRenewal;
  next_at_ = std::max(now, asked_at_ + options_.retry_period);
}

void LeaseElection::TryLater(Time now) {
  if (leading()) return RenewInTime(now);
  next_ = Ask::kLook;
  // No two of those that wait should come at the same time.
  constexpr std::int64_t kParts = 1000, kMostParts = 1200;
  const auto extra = static_cast<std::int64_t>(Chance() % kMostParts);
  next_at_ = now + options_.retry_period + Duration{options_.retry_period.ns / kParts * extra};
}

// At once the first time; where that did not help, somebody has to think of something else first.
void LeaseElection::LookAgain(Time now) {
  next_ = Ask::kLook;
  if (refusals_ > 1) next_at_ = now + options_.retry_period;
}

// xorshift: good enough to keep replicas apart.
std::uint64_t LeaseElection::Chance() {
  chance_ ^= chance_ << 13U;
  chance_ ^= chance_ >> 7U;
  chance_ ^= chance_ << 17U;
  return chance_;
}

// ---- the end ----

void LeaseElection::LoseIfTooLate(Time now) {
  if (!leading() || now < deadline_) return;
  Lose(fmt::format("it could not be renewed within {}{}{}", FormatDuration(options_.renew_deadline),
                   last_failure_.empty() ? "" : ": ", last_failure_));
}

void LeaseElection::Lose(std::string why) {
  lost_ = std::move(why);
  state_ = State::kOver;
}

void LeaseElection::Release() {
  if (over() || state_ == State::kReleasing) return;
  const bool may_be_ours = leading() || asked_ == Ask::kNew || asked_ == Ask::kTake;
  state_ = may_be_ours ? State::kReleasing : State::kOver;
  next_ = Ask::kLook;
  next_at_ = {};
}

}  // namespace knx::client
