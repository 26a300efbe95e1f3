#include "engine/blocked_kinds.h"

#include <algorithm>

namespace knx::engine {

using cluster::PodId;

BlockedKinds::Kind* BlockedKinds::Find(const cluster::State& state, PodId pod) {
  const cluster::Pod& record = state.pod(pod);
  const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    const cluster::Pod& other = state.pod(kind.pod);
    return other.pod_class == record.pod_class && other.kin == record.kin;
  });
  return known == kinds_.end() ? nullptr : &*known;
}

void BlockedKinds::Add(const cluster::State& state, PodId pod, const FailedAttempt& attempt) {
  if (Kind* const known = Find(state, pod)) {
    known->rejected_by = known->rejected_by | attempt.rejected_by;
    known->pending_on = known->pending_on | attempt.pending_on;
  } else if (kinds_.size() < kMost) {
    kinds_.push_back({pod, attempt.rejected_by, attempt.pending_on});
  } else {
    more_ = true;
  }
}

void BlockedKinds::Add(const cluster::State& state, const BlockedKinds& others) {
  for (const Kind& kind : others.kinds_) {
    Add(state, kind.pod, {.rejected_by = kind.rejected_by, .pending_on = kind.pending_on});
  }
  more_ = more_ || others.more_;
}

void BlockedKinds::AddThoseInTheWay(const cluster::State& state, std::span<const PodId> members) {
  if (kinds_.empty()) return;
  FailedAttempt any;
  for (const Kind& kind : kinds_) {
    any.rejected_by = any.rejected_by | kind.rejected_by;
    any.pending_on = any.pending_on | kind.pending_on;
  }
  for (const PodId member : members) {
    if (Find(state, member) == nullptr) Add(state, member, any);
  }
}

void BlockedKinds::Set(PodId pod, const FailedAttempt& attempt) {
  kinds_ = {{pod, attempt.rejected_by, attempt.pending_on}};
  more_ = false;
}

void BlockedKinds::Forget(PodId pod) {
  for (Kind& kind : kinds_) {
    if (kind.pod == pod) kind.pod = {};
  }
}

void BlockedKinds::WidenTo(const cluster::State& state, PodId stands,
                           FailedAttempt& attempt) const {
  const std::string& profile = state.class_of(stands).spec.scheduler_name;
  const auto says_who = [&](const Kind& kind) {
    return !(kind.rejected_by | kind.pending_on).empty() &&
           state.class_of(kind.pod).spec.scheduler_name == profile;
  };
  const bool all_do = !more_ && std::all_of(kinds_.begin(), kinds_.end(), says_who);
  if (!all_do) attempt.rejected_by = attempt.pending_on = {};
  for (std::size_t i = 0; all_do && i < kinds_.size(); ++i) {
    attempt.rejected_by = attempt.rejected_by | kinds_[i].rejected_by;
    attempt.pending_on = attempt.pending_on | kinds_[i].pending_on;
  }
}

}  // namespace knx::engine
