// The way of a pod about which extenders are asked, up to its place, and the binding by one.
#include <fmt/format.h>

#include <algorithm>

#include "engine/core.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Extender;
using Phase = ExtenderRound::Phase;

namespace {

const std::string& VerbOf(const Extender& extender, ExtenderVerb verb) {
  if (verb == ExtenderVerb::kFilter) return extender.filter_verb;
  return verb == ExtenderVerb::kPrioritize ? extender.prioritize_verb : extender.preempt_verb;
}

// Whether some of the round's extenders have the verb.
bool AnyHas(const std::vector<Extender>& extenders, const ExtenderRound& round, ExtenderVerb verb) {
  return std::any_of(round.extenders.begin(), round.extenders.end(),
                     [&](std::size_t index) { return !VerbOf(extenders[index], verb).empty(); });
}

}  // namespace

// ---- which nodes ----

bool Core::StartRound(PodId id, Time now) {
  ExtenderRound round;
  for (std::size_t i = 0; i < options_.extenders.size(); ++i) {
    if (framework::IsInterested(options_.extenders[i], state_.class_of(id).spec)) {
      round.extenders.push_back(i);
    }
  }
  if (!AnyHas(options_.extenders, round, ExtenderVerb::kFilter) &&
      !AnyHas(options_.extenders, round, ExtenderVerb::kPrioritize) &&
      !AnyHas(options_.extenders, round, ExtenderVerb::kPreempt)) {
    return false;
  }
  round.verdicts.list_candidates = AnyHas(options_.extenders, round, ExtenderVerb::kPreempt);
  rounds_.Begin(id) = std::move(round);
  Screen(id, true, now);
  return true;
}

// What the extenders said is about a cluster that is no more.
void Core::Restart(PodId id, Time now) {
  rounds_.End(id);
  if (!GangOf(id).valid()) return Decide(id, now);
  // It has become a member of a gang meanwhile.
  queue_.PutBack(id, now);
  NoteMember(id, now);
}

void Core::Screen(PodId id, bool nominated_first, Time now) {
  ExtenderRound& round = rounds_.at(id);
  Placer::Screening screening = placer_.Screen(ProfileOf(id), id, nominated_first, round.verdicts);
  if (screening.rows.empty()) return RefuseRound(id, std::move(screening.refusal), now);
  round.phase = screening.nominated ? Phase::kNominated : Phase::kFilter;
  round.turn = 0;
  round.nodes.clear();
  for (const NodeRow row : screening.rows) round.nodes.push_back(state_.nodes().name(row));
  FilterNext(id, now);
}

void Core::FilterNext(PodId id, Time now) {
  ExtenderRound& round = rounds_.at(id);
  if (round.nodes.empty()) {
    if (round.phase == Phase::kNominated) return Screen(id, false, now);
    return RefuseRound(id, placer_.RefuseAll(ProfileOf(id), id, round.verdicts), now);
  }
  while (round.turn < round.extenders.size()) {
    const std::size_t extender = round.extenders[round.turn++];
    if (options_.extenders[extender].filter_verb.empty()) continue;
    return Ask(id, extender, ExtenderVerb::kFilter, now);
  }
  // With one node there is nothing to compare.
  if (round.nodes.size() == 1) return Choose(id, now);
  AskForScores(id, now);
}

void Core::OnFiltered(PodId id, const Extender& extender, const ExtenderAnswer& answer, Time now) {
  ExtenderRound& round = rounds_.at(id);
  FilteredNodes filtered = ReadFiltered(extender, answer, round.nodes);
  if (filtered.failure && round.phase == Phase::kNominated && !extender.ignorable) {
    // Not being told about one node is no reason not to ask about all.
    return Screen(id, false, now);
  }
  if (filtered.failure && !extender.ignorable) return FailRound(id, *filtered.failure, now);
  if (filtered.failure) return FilterNext(id, now);
  TakeRefusals(answer, round.verdicts);
  if (round.phase == Phase::kFilter && filtered.left.size() != round.nodes.size()) {
    round.verdicts.took_nodes = true;
  }
  round.nodes = std::move(filtered.left);
  FilterNext(id, now);
}

// ---- which is best ----

void Core::AskForScores(PodId id, Time now) {
  ExtenderRound& round = rounds_.at(id);
  round.phase = Phase::kPrioritize;
  for (const std::size_t extender : round.extenders) {
    if (options_.extenders[extender].prioritize_verb.empty()) continue;
    Ask(id, extender, ExtenderVerb::kPrioritize, now);
  }
  if (round.unanswered.empty()) Choose(id, now);
}

void Core::OnScored(PodId id, const Extender& extender, const ExtenderAnswer& answer, Time now) {
  ExtenderRound& round = rounds_.at(id);
  // Without an answer the others decide.
  if (!answer.failure) TakeScores(extender, answer, round.scores);
  if (round.unanswered.empty()) Choose(id, now);
}

void Core::Choose(PodId id, Time now) {
  const ExtenderRound& round = rounds_.at(id);
  const auto failed = failed_on_.find(id);
  const Placement placement =
      placer_.ChooseAmong(ProfileOf(id), id, RowsOf(round.nodes), round.scores,
                          failed == failed_on_.end() ? std::span<const NodeRow>() : failed->second);
  if (placement.attempt.error) return FailRound(id, placement.message, now);
  // Others took the room in the meantime: the same questions again, about what is left.
  if (!placement.node.valid()) return Restart(id, now);
  rounds_.End(id);
  StartFlight(id, placement.node, now);
}

std::vector<NodeRow> Core::RowsOf(const std::vector<std::string>& names) const {
  std::vector<NodeRow> rows;
  for (const std::string& name : names) {
    const NodeRow row = state_.nodes().Find(name);
    if (row.valid() && state_.nodes().has_node(row)) rows.push_back(row);
  }
  return rows;
}

// ---- none ----

void Core::FailRound(PodId id, const std::string& message, Time now) {
  rounds_.End(id);
  FailedAttempt attempt;
  attempt.error = true;
  Fail(id, attempt, message, NodeRow{}, now);
  // It may have become a member of a gang meanwhile.
  NoteMember(id, now);
}

void Core::RefuseRound(PodId id, Placement placement, Time now) {
  ExtenderRound& round = rounds_.at(id);
  if (round.verdicts.candidates.empty()) {
    rounds_.End(id);
    return Refuse(id, placement, now);
  }
  round.phase = Phase::kPreempt;
  round.turn = 0;
  round.placement = std::move(placement);
  std::sort(round.verdicts.candidates.begin(), round.verdicts.candidates.end(),
            [this](const auto& a, const auto& b) {
              return state_.nodes().rank(a.node) < state_.nodes().rank(b.node);
            });
  AskAboutVictims(id, now);
}

void Core::AskAboutVictims(PodId id, Time now) {
  ExtenderRound& round = rounds_.at(id);
  while (!round.verdicts.candidates.empty() && round.turn < round.extenders.size()) {
    const std::size_t extender = round.extenders[round.turn++];
    if (options_.extenders[extender].preempt_verb.empty()) continue;
    return Ask(id, extender, ExtenderVerb::kPreempt, now);
  }
  Evict(id, now);
}

std::optional<Result<std::vector<Preemptor::Candidate>>> Core::Believe(
    const ExtenderRound& round, const Extender& extender, const ExtenderAnswer& answer) const {
  using Candidates = std::vector<Preemptor::Candidate>;
  if (answer.failure) return Result<Candidates>(InvalidError(*answer.failure));
  Candidates left;
  for (const ExtenderAnswer::Victims& victims : answer.victims) {
    const NodeRow row = state_.nodes().Find(victims.node);
    const auto sent = std::find_if(round.sent.begin(), round.sent.end(),
                                   [&](const auto& known) { return known.node == victims.node; });
    if (!row.valid() || !state_.nodes().has_node(row)) {
      if (sent != round.sent.end()) return std::nullopt;
      return Result<Candidates>(
          InvalidError(fmt::format("nodeinfo not found for node name {:?}", victims.node)));
    }
    // The pod may fit there already: nobody has to go, and asking anew would bring the same answer.
    if (sent == round.sent.end()) {
      return Result<Candidates>(
          InvalidError(fmt::format("extender: {} names node {}, which it was not asked about",
                                   extender.url_prefix, victims.node)));
    }
    Preemptor::Candidate candidate{row, {}, 0};
    constexpr std::int64_t kMostViolations = 1'000'000;
    candidate.violations =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(victims.violations, 0, kMostViolations));
    for (const std::string& uid : victims.uids) {
      const PodId victim = state_.pods().Find(uid);
      if (victim.valid() && state_.pod(victim).node == row) {
        candidate.victims.push_back(victim);
        continue;
      }
      if (std::find(sent->uids.begin(), sent->uids.end(), uid) != sent->uids.end()) {
        return std::nullopt;
      }
      return Result<Candidates>(InvalidError(fmt::format(
          "extender: {} claims to preempt pod (UID: &{{{}}}) on node: {}, but the pod is not found "
          "on that node",
          extender.url_prefix, uid, victims.node)));
    }
    if (candidate.victims.empty() && extender.ignorable) continue;
    if (candidate.victims.empty()) {
      return Result<Candidates>(
          InvalidError(fmt::format("expected at least one victim pod on node {:?}", victims.node)));
    }
    left.push_back(std::move(candidate));
  }
  return Result<Candidates>(std::move(left));
}

void Core::OnVictims(PodId id, const Extender& extender, const ExtenderAnswer& answer, Time now) {
  ExtenderRound& round = rounds_.at(id);
  auto left = Believe(round, extender, answer);
  if (left && !left->ok() && extender.ignorable) {
    left = Believe(round, extender, {.victims = round.sent});
  }
  if (!left) return Restart(id, now);
  if (!left->ok()) {
    Placement placement = std::move(round.placement);
    placement.message += " preemption: " + left->error().message;
    rounds_.End(id);
    return Refuse(id, placement, now);
  }
  round.verdicts.candidates = *std::move(*left);
  AskAboutVictims(id, now);
}

// Everybody has agreed, and the victims are there.
void Core::Evict(PodId id, Time now) {
  ExtenderRound& round = rounds_.at(id);
  Placement placement = std::move(round.placement);
  const Preemptor::Candidate* best =
      placer_.BestCandidate(ProfileOf(id), round.verdicts.candidates);
  if (best == nullptr) {
    placement.message +=
        fmt::format(" {}preemption: no candidate node for preemption", placement.before_preemption);
  } else {
    const bool refused = round.verdicts.refused.contains(state_.nodes().name(best->node));
    if (!refused && placer_.Fits(ProfileOf(id), id, best->node)) return Restart(id, now);
    placement.nominated = best->node;
    placement.victims = best->victims;
  }
  rounds_.End(id);
  Refuse(id, placement, now);
}

// ---- questions and answers ----

void Core::Ask(PodId id, std::size_t extender, ExtenderVerb verb, Time now) {
  ExtenderRound& round = rounds_.at(id);
  AskExtender ask{.pod = RefTo(id), .extender = extender, .verb = verb, .nodes = {}};
  if (verb == ExtenderVerb::kPreempt) {
    round.sent.clear();
    for (const Preemptor::Candidate& candidate : round.verdicts.candidates) {
      AskExtender::Victims& victims = ask.victims.emplace_back();
      victims.node = state_.nodes().name(candidate.node);
      victims.violations = candidate.violations;
      ExtenderAnswer::Victims& sent =
          round.sent.emplace_back(ExtenderAnswer::Victims{victims.node, {}, victims.violations});
      for (const PodId victim : candidate.victims) {
        victims.pods.push_back(RefTo(victim));
        sent.uids.push_back(state_.pod(victim).uid);
      }
    }
  } else {
    ask.nodes = round.nodes;
  }
  // Whoever asks it meets its time-out, but may have to fetch what it is asked about before.
  const Duration patience = options_.extenders[extender].http_timeout + options_.max_wait;
  rounds_.Await(Emit(std::move(ask)), {id, extender, now + patience});
}

void Core::OnExtenderAnswer(const ExtenderAnswered& answered, Time now) {
  if (const auto gang = gang_extenders_.OnAnswer(answered, now)) {
    if (!gang_extenders_.Waits(*gang)) SettleGang(*gang, now);
    return;
  }
  const auto asked = rounds_.Take(answered.action);
  if (!asked) return;
  const PodId id = asked->who;
  if (state_.pod(id).terminating) {
    rounds_.End(id);
    queue_.Remove(id);
    return;
  }
  const Extender& extender = options_.extenders[asked->extender];
  switch (rounds_.at(id).phase) {
    case Phase::kNominated:
    case Phase::kFilter:
      return OnFiltered(id, extender, answered.answer, now);
    case Phase::kPrioritize:
      return OnScored(id, extender, answered.answer, now);
    case Phase::kPreempt:
      return OnVictims(id, extender, answered.answer, now);
  }
}

// ---- binding ----

std::optional<std::size_t> Core::BinderOf(PodId id) const {
  for (std::size_t i = 0; i < options_.extenders.size(); ++i) {
    const Extender& extender = options_.extenders[i];
    if (!extender.bind_verb.empty() &&
        framework::IsInterested(extender, state_.class_of(id).spec)) {
      return i;
    }
  }
  return std::nullopt;
}

bool Core::BindByExtender(PodId id, Time now) {
  Flight& flight = flights_.at(id);
  flight.binder = BinderOf(id);
  if (!flight.binder) return false;
  flight.action = Emit(
      engine::BindByExtender{RefTo(id), state_.nodes().name(state_.pod(id).node), *flight.binder});
  flight.deadline = now + options_.max_wait;
  awaited_.emplace(flight.action, id);
  answer_deadlines_.emplace_back(flight.deadline, flight.action);
  return true;
}

}  // namespace knx::engine
