// A place that did not work out, a pod that fits nowhere: what is given back, and what is said.
#include <algorithm>
#include <utility>

#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::NodeRow;
using cluster::PodId;

void Core::NoteFailure(PodId id, NodeRow row) {
  constexpr std::size_t kRemembered = 64;
  std::vector<NodeRow>& rows = failed_on_[id];
  std::erase(rows, row);
  if (rows.size() == kRemembered) rows.erase(rows.begin());
  rows.push_back(row);
}

std::span<const NodeRow> Core::FailedOn(PodId id) const {
  if (failed_on_.empty()) return {};
  const auto failed = failed_on_.find(id);
  return failed == failed_on_.end() ? std::span<const NodeRow>() : failed->second;
}

void Core::GiveBackRoom(PodId id, Time now) {
  Unreserve(id, state_.pod(id).node, now);
  EndFlight(id);
  framework::ClusterEvent event;
  event.kind = framework::EventKind::kAssignedPodDelete;
  event.pod = id;
  event.pod_now = event.pod_before = InEvent(id);
  state_.Displace(id);
  NoteUse(id, now);
  Tell(event, now);
}

void Core::FailOnNode(PodId id, const FailedAttempt& attempt, const std::string& message,
                      Time now) {
  const std::uint64_t departure = flights_.at(id).departure;
  const NodeRow row = state_.pod(id).node;
  NoteFailure(id, row);
  GiveBackRoom(id, now);
  const cluster::GangId gang = GangOf(id);
  FailedAttempt failed = attempt;
  NodeRow kept;
  if (gang.valid()) {
    WaitingGang& waiting = gangs_.Open(gang, now);
    const bool ready = !state_.pod(id).terminating;
    GangBook::SetReady(waiting, id, ready);
    // The gang waits for the back-off of the member that failed, whoever stood for it before.
    const PodId stood = ready ? std::exchange(waiting.stands, id) : id;
    if (stood.valid() && stood != id) queue_.AskGateAgain(stood, now);
    ready ? waiting.blocked.Set(id, attempt) : waiting.blocked.Forget(id);
    if (departure != 0) failed.failures = ++waiting.failures;
    // Others of it are bound or about to be: who comes in between would leave it without the rest.
    const Duration grace = GangArgsOf(state_.gangs().Get(gang)).grace;
    const bool could_stay = departure == 0 && ready && state_.nodes().has_node(row);
    if (could_stay && GangBook::KeepsPlaces(waiting, grace, now)) kept = row;
  }
  Fail(id, failed, message, kept, now);
  if (departure != 0) CancelDeparture(departure, now);
  if (backfill_ != nullptr) backfill_->GiveBack(id, gang, now);
  if (state_.pod(id).gang != nullptr) SettleGang(state_.gang_of(id), now);
}

void Core::Fail(PodId id, const FailedAttempt& attempt, const std::string& message,
                std::optional<NodeRow> nominate, Time now) {
  queue_.Requeue(id, attempt, now);
  TellAttempt(id, attempt.error ? AttemptResult::kError : AttemptResult::kUnschedulable, message);
  EmitEvent(id, true, names::kEventFailedScheduling, names::kActionScheduling, message);

  const std::string_view reason =
      attempt.error ? names::kReasonSchedulerError : names::kReasonUnschedulable;
  WriteCondition(id, reason, message, nominate, now);
  if (state_.pod(id).gang != nullptr) NoteGroupRefused(id, reason, message, now);
}

void Core::ReportIfNew(PodId id, std::string_view reason, const std::string& message, Time now,
                       std::optional<NodeRow> nominate) {
  const auto written = conditions_.find(id);
  const bool known = written != conditions_.end() && written->second.Says(reason, message);
  if (!known) {
    EmitEvent(id, true, names::kEventFailedScheduling, names::kActionScheduling, message);
  }
  if (!known || nominate) WriteCondition(id, reason, message, nominate, now);
}

void Core::WriteCondition(PodId id, std::string_view reason, const std::string& message,
                          std::optional<NodeRow> nominate, Time now) {
  const auto [written, fresh] = conditions_.try_emplace(id);
  const bool changed = fresh || !written->second.Says(reason, message);
  std::optional<std::string> nominated_node =
      Renominate(id, nominate.value_or(state_.pod(id).nominated), now);
  if (!changed && !nominated_node) return;
  PatchPodStatus patch{RefTo(id),
                       "False",
                       std::string(reason),
                       message,
                       state_.pod(id).generation,
                       std::move(nominated_node)};
  const ActionId action = Emit(std::move(patch));
  patches_.emplace(action, id);
  answer_deadlines_.emplace_back(now + options_.max_wait, action);
  written->second = {std::string(reason), message, action};
}

std::optional<std::string> Core::Renominate(PodId id, NodeRow row, Time now) {
  const NodeRow before = state_.pod(id).nominated;
  std::string name = row.valid() ? state_.nodes().name(row) : "";
  const std::unique_ptr<std::string>& told = state_.pod(id).told_nomination;
  const bool written = told == nullptr ? name.empty() : *told == name;
  if (row != before) {
    state_.Nominate(id, row);
    if (before.valid()) TellNominationGone(id, before, now);
  } else if (written || conditions_.at(id).patch != 0) {
    return std::nullopt;
  }
  return name;
}

void Core::TellAttempt(PodId id, AttemptResult result, std::string_view message) const {
  if (options_.observer == nullptr) return;
  const Queue::Attempt attempt = queue_.LastAttempt(id);
  options_.observer->OnAttempt(state_, {.pod = id,
                                        .result = result,
                                        .number = attempt.number,
                                        .ready = attempt.ready,
                                        .began = attempt.popped,
                                        .flushed = attempt.flushed,
                                        .message = message});
}

}  // namespace knx::engine
