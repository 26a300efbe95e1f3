// Preemption by a single pod that minds gangs: who is spared, what breaks, and who else would do.
#include <algorithm>
#include <optional>

#include "engine/broken_gangs.h"
#include "engine/importance.h"
#include "engine/preemption.h"
#include "engine/victim_choice.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// In the order of their first members here.
std::vector<cluster::GangId> GangsOf(const cluster::State& state, std::span<const PodId> pods) {
  std::vector<cluster::GangId> gangs;
  for (const PodId pod : pods) {
    const cluster::GangId gang = TiedTo(state, pod);
    const bool is_new = std::find(gangs.begin(), gangs.end(), gang) == gangs.end();
    if (gang.valid() && is_new) gangs.push_back(gang);
  }
  return gangs;
}

}  // namespace

bool Preemptor::IsSpared(const Question& question, PodId id) const {
  const std::int32_t priority = state_.pod(question.pod).priority;
  const auto stays = [&](PodId member) {
    return IsToStay(state_, member) || (spared_ && priority < kSystemCritical && spared_(member));
  };
  if (stays(id)) return true;
  const cluster::GangId gang = state_.gang_of(id);
  if (!gang.valid() || !MustGoWhole(state_.gangs().Get(gang))) return false;
  const std::vector<PodId>& members = state_.gangs().Get(gang).members;
  return std::any_of(members.begin(), members.end(), [&](PodId member) {
    const cluster::Pod& pod = state_.pod(member);
    const bool there = pod.node.valid() && !pod.leaves();
    return there && (pod.priority >= priority || stays(member));
  });
}

void Preemptor::AddHarm(std::span<const Victim> victims, Finding& finding) const {
  std::vector<PodId> members;
  for (const Victim& victim : victims) {
    finding.works |= !Fills(victim.id);
    finding.tier = std::max(finding.tier, state_.profile_of(victim.id).tier);
    if (state_.gang_of(victim.id).valid()) members.push_back(victim.id);
  }
  if (members.empty()) return;
  finding.passing = true;
  finding.gangs_broken = static_cast<std::uint32_t>(GangsBrokenBy(state_, members).size());
}

// Within a node kube-scheduler goes by importance alone, and so does what was found first.
void Preemptor::BreakFewer(const Question& question, NodeRow row, std::span<const Victim> may_go,
                           Finding& finding) {
  constexpr std::size_t kAttempts = 32;  // each costs as much as looking at the node once more
  const auto ids = [](std::span<const Victim> pods) {
    VictimChoice::Pods out;
    for (const Victim& victim : pods) out.push_back(victim.id);
    return out;
  };
  const std::vector<Victim> before = victims_;
  Memory forgotten;
  const auto attempt = [&](const VictimChoice::PodSet& staying) {
    victims_.assign(may_go.begin(), may_go.end());
    std::erase_if(victims_, [&](const Victim& victim) { return staying.contains(victim.id); });
    if (victims_.empty()) return std::optional<VictimChoice::Pods>();
    const Finding found = TryWithoutThem(question, forgotten, row);
    return found.kind == Finding::Kind::kCandidate ? std::optional(ids(victims_)) : std::nullopt;
  };
  VictimChoice::Pods least_first = ids(may_go);
  std::sort(least_first.begin(), least_first.end(),
            [&](PodId a, PodId b) { return Stays(question, b, a); });
  VictimChoice choice(state_, least_first, attempt, kAttempts);
  const std::optional<VictimChoice::Pods> gone =
      choice.Find(GangsOf(state_, least_first), GangsBrokenBy(state_, ids(before)));
  if (gone) {
    victims_.clear();
    for (const PodId pod : *gone) victims_.push_back({pod});
    MarkViolations();
    Finding fewer = Summarize(victims_);
    AddHarm(victims_, fewer);
    fewer.passing = true;  // it depends on what the gangs have elsewhere, whoever goes
    if (Better(fewer, row, finding, row)) {
      finding = fewer;
      return;
    }
  }
  victims_ = before;
}

}  // namespace knx::engine
