#include "engine/gang_extenders.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/counted.h"

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;
using framework::Extender;

namespace {

// Nodes and members may come while extenders are asked. After so many times the gang is planned
// with those that they know, and later ones have to wait for its next attempt.
constexpr std::size_t kMostTimes = 3;

}  // namespace

bool GangRound::Kind::Allows(NodeRow row) const {
  return std::binary_search(rows.begin(), rows.end(), row);
}

// ---- asking ----

bool GangExtenders::Ask(GangId gang, std::span<const PodId> members, Time now) {
  KNX_CHECK(!Waits(gang), "a gang has its turn while extenders are asked about it");
  GangRound* round = rounds_.Find(gang);
  if (round != nullptr && round->failure) return false;
  std::vector<GangRound::Kind> unknown = Unknown(members, round);
  if (!unknown.empty() && (round == nullptr || round->times < kMostTimes)) {
    if (round == nullptr) round = &rounds_.Begin(gang);
    ++round->times;
    std::erase_if(round->kinds, [&](const GangRound::Kind& known) {
      return std::any_of(unknown.begin(), unknown.end(),
                         [&](const GangRound::Kind& kind) { return kind.IsAlike(known); });
    });
    const std::size_t known = round->kinds.size();
    for (GangRound::Kind& kind : unknown) round->kinds.push_back(std::move(kind));
    for (std::size_t part = known; part < round->kinds.size(); ++part) AskNext(gang, part, now);
  }
  if (Waits(gang)) return true;
  if (round != nullptr) FindRows(*round);
  return false;
}

std::vector<GangRound::Kind> GangExtenders::Unknown(std::span<const PodId> members,
                                                    const GangRound* round) {
  std::vector<GangRound::Kind> kinds;
  for (const PodId member : members) {
    GangRound::Kind kind;
    kind.pod_class = state_.pod(member).pod_class;
    kind.relation = state_.RelationOf(member);
    const auto is_alike = [&](const GangRound::Kind& other) { return kind.IsAlike(other); };
    if (std::any_of(kinds.begin(), kinds.end(), is_alike)) continue;
    kind.uid = state_.pod(member).uid;
    kind.extenders = Interested(member);
    if (!kind.extenders.empty()) kind.asked = nodes_(member);
    kinds.push_back(std::move(kind));
  }
  // What was said of a pod that is gone may have been said of one unlike those that are there.
  std::erase_if(kinds, [&](const GangRound::Kind& kind) {
    if (kind.extenders.empty()) return true;
    return round != nullptr &&
           std::any_of(round->kinds.begin(), round->kinds.end(), [&](const auto& known) {
             return known.IsAlike(kind) && IsThere(known) &&
                    std::includes(known.asked.begin(), known.asked.end(), kind.asked.begin(),
                                  kind.asked.end());
           });
  });
  return kinds;
}

std::vector<std::size_t> GangExtenders::Interested(PodId member) const {
  std::vector<std::size_t> extenders;
  for (std::size_t i = 0; i < options_.extenders.size(); ++i) {
    const Extender& extender = options_.extenders[i];
    const bool says_where = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    if (says_where && framework::IsInterested(extender, state_.class_of(member).spec)) {
      extenders.push_back(i);
    }
  }
  return extenders;
}

bool GangExtenders::IsThere(const GangRound::Kind& kind) {
  const PodId pod = state_.pods().Find(kind.uid);
  return pod.valid() && state_.pod(pod).pod_class == kind.pod_class &&
         state_.RelationOf(pod) == kind.relation;
}

void GangExtenders::AskNext(GangId gang, std::size_t part, Time now) {
  GangRound::Kind& kind = rounds_.at(gang).kinds[part];
  if (kind.turn == 0) kind.left = kind.asked;
  while (!kind.left.empty() && kind.turn < kind.extenders.size()) {
    const std::size_t extender = kind.extenders[kind.turn++];
    if (options_.extenders[extender].filter_verb.empty()) continue;
    return Send(gang, part, extender, ExtenderVerb::kFilter, now);
  }
  kind.scoring = true;
  // With one node there is nothing to compare.
  if (kind.left.size() <= 1) return;
  for (const std::size_t extender : kind.extenders) {
    if (options_.extenders[extender].prioritize_verb.empty()) continue;
    Send(gang, part, extender, ExtenderVerb::kPrioritize, now);
  }
}

void GangExtenders::Send(GangId gang, std::size_t part, std::size_t extender, ExtenderVerb verb,
                         Time now) {
  const GangRound::Kind& kind = rounds_.at(gang).kinds[part];
  const cluster::Pod& pod = state_.pod(state_.pods().Find(kind.uid));
  AskExtender ask{.pod = {std::string(state_.words().Text(pod.namespace_)), pod.name, pod.uid},
                  .extender = extender,
                  .verb = verb,
                  .nodes = kind.left};
  // Whoever asks it meets its time-out, but may have to fetch what it is asked about before.
  const Duration patience = options_.extenders[extender].http_timeout + options_.max_wait;
  rounds_.Await(emit_(std::move(ask)), {gang, extender, now + patience, part});
}

// ---- answers ----

std::optional<GangId> GangExtenders::OnAnswer(const ExtenderAnswered& answered, Time now) {
  const auto asked = rounds_.Take(answered.action);
  if (!asked) return std::nullopt;
  GangRound::Kind& kind = rounds_.at(asked->who).kinds[asked->part];
  if (!IsThere(kind)) {
    // Others like it, if there are any, are asked about anew.
    kind.asked.clear();
    kind.left.clear();
  } else if (!kind.scoring) {
    TakeFiltered(*asked, answered.answer, now);
  } else if (!answered.answer.failure) {  // otherwise the others decide
    TakeScores(options_.extenders[asked->extender], answered.answer, kind.scores);
  }
  return asked->who;
}

void GangExtenders::TakeFiltered(const Rounds::Asked& asked, const ExtenderAnswer& answer,
                                 Time now) {
  GangRound& round = rounds_.at(asked.who);
  GangRound::Kind& kind = round.kinds[asked.part];
  const Extender& extender = options_.extenders[asked.extender];
  FilteredNodes filtered = ReadFiltered(extender, answer, kind.left);
  if (filtered.failure && !extender.ignorable) {
    round.failure = std::move(filtered.failure);
    return rounds_.Forget(round);
  }
  if (!filtered.failure) {
    TakeRefusals(answer, kind.verdicts);
    const std::size_t taken = kind.left.size() - filtered.left.size();
    if (taken > 0) kind.took_by.emplace_back(asked.extender, taken);
    kind.verdicts.took_nodes |= taken > 0;
    kind.left = std::move(filtered.left);
  }
  AskNext(asked.who, asked.part, now);
}

// ---- what they said ----

const std::string* GangExtenders::FailureFor(GangId gang) {
  const GangRound* const round = rounds_.Find(gang);
  return round != nullptr && round->failure ? &*round->failure : nullptr;
}

void GangExtenders::FindRows(GangRound& round) const {
  for (GangRound::Kind& kind : round.kinds) {
    kind.rows.clear();
    for (const std::string& name : kind.left) {
      const NodeRow row = state_.nodes().Find(name);
      if (row.valid() && state_.nodes().has_node(row)) kind.rows.push_back(row);
    }
    std::sort(kind.rows.begin(), kind.rows.end());
  }
}

const GangRound::Kind* GangExtenders::SaidAbout(GangId gang, PodId member) {
  const GangRound* const round = rounds_.empty() ? nullptr : rounds_.Find(gang);
  if (round == nullptr || !round->unanswered.empty()) return nullptr;
  GangRound::Kind kind;
  kind.pod_class = state_.pod(member).pod_class;
  kind.relation = state_.RelationOf(member);
  for (const GangRound::Kind& known : round->kinds) {
    if (known.IsAlike(kind)) return &known;
  }
  if (Interested(member).empty()) return nullptr;
  // They were asked often enough, and know nothing of this one.
  static const GangRound::Kind kNowhere;
  return &kNowhere;
}

std::string GangExtenders::WhoTook(const GangRound::Kind& kind) const {
  std::string text;
  for (const auto& [extender, nodes] : kind.took_by) {
    text += fmt::format(" Extender {:?} took {} away.", options_.extenders[extender].url_prefix,
                        FormatCount(nodes, "node", "nodes"));
  }
  return text;
}

}  // namespace knx::engine
