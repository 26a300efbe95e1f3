#include "engine/preemption.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/importance.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;
using framework::Code;
using framework::Verdict;

namespace {

constexpr std::int64_t kUnknownPriority = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

// The same on every machine and in every run, unlike the hashes of hash maps.
std::uint64_t StableHash(std::string_view text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
  }
  return hash;
}

std::size_t WantedCandidates(const framework::PreemptionArgs& args, std::size_t nodes) {
  const std::size_t share = nodes * static_cast<std::size_t>(args.min_candidates_percent) / 100;
  return std::min(nodes, std::max(share, static_cast<std::size_t>(args.min_candidates)));
}

}  // namespace

Preemptor::Answer Preemptor::Find(const Question& question, std::vector<Candidate>* all) {
  Answer answer;
  answer.not_eligible = WhyNotEligible(question);
  if (!answer.not_eligible.empty()) return answer;

  ListPotentialNodes(question.rejections);
  if (potential_.empty()) {
    answer.reasons = CountReasons({});
    return answer;
  }
  UpdateLowestPriorities();
  Memory& memory = MemoryFor(question);
  const std::size_t wanted = WantedCandidates(question.args, potential_.size());
  const std::size_t offset = StableHash(state_.pod(question.pod).uid) % potential_.size();
  std::size_t harmless = 0;
  std::size_t found = 0;
  NodeRow best;
  for (std::size_t i = 0; i < potential_.size(); ++i) {
    const NodeRow row = potential_[(offset + i) % potential_.size()];
    const Finding& finding = Examine(question, memory, row);
    if (finding.kind != Finding::Kind::kCandidate) continue;
    if (all != nullptr) {
      Candidate& candidate = all->emplace_back(Candidate{row, {}, finding.violations});
      TryNode(question, memory, row, &candidate.victims);
    }
    if (!best.valid() || Better(finding, row, memory.findings[best.index], best)) best = row;
    ++found;
    if (finding.violations == 0) ++harmless;
    if (harmless > 0 && found >= wanted) break;
  }
  if (best.valid()) {
    answer.node = best;
    TryNode(question, memory, best, &answer.victims);
  } else {
    answer.reasons = CountReasons(memory);
  }
  // Where it is nominated itself, what was found holds for no other pod.
  const NodeRow own = state_.pod(question.pod).nominated;
  if (own.valid()) memory.findings[own.index] = {};
  memory.changes.Skip(state_);
  lowest_changes_.Skip(state_);
  return answer;
}

std::vector<Preemptor::Candidate> Preemptor::ListCandidates(const Question& question) {
  std::vector<Candidate> candidates;
  if (!WhyNotEligible(question).empty()) return candidates;
  ListPotentialNodes(question.rejections);
  UpdateLowestPriorities();
  Memory forgotten;
  for (const NodeRow row : potential_) {
    Candidate candidate{row, {}, 0};
    const Finding finding = TryNode(question, forgotten, row, &candidate.victims);
    if (finding.kind != Finding::Kind::kCandidate) continue;
    candidate.violations = finding.violations;
    candidates.push_back(std::move(candidate));
  }
  lowest_changes_.Skip(state_);
  return candidates;
}

std::map<std::string, std::uint64_t> Preemptor::CountReasons(const Memory& memory) const {
  std::map<std::string, std::uint64_t> out;
  std::vector<std::uint64_t> unfit(memory.reasons.size(), 0);
  std::uint64_t without_victims = 0;
  for (const NodeRow row : potential_) {
    const Finding& finding = memory.findings[row.index];
    if (finding.kind == Finding::Kind::kUnfit) {
      ++unfit[finding.reasons];
    } else {
      ++without_victims;
    }
  }
  for (std::size_t i = 0; i < unfit.size(); ++i) {
    if (unfit[i] == 0) continue;
    for (const std::string& reason : memory.reasons[i]) out[reason] += unfit[i];
  }
  if (without_victims > 0) out["No preemption victims found for incoming pod"] = without_victims;
  const std::uint64_t others = state_.nodes().node_count() - potential_.size();
  if (others > 0) out["Preemption is not helpful for scheduling"] = others;
  return out;
}

// ---- whether and where ----

std::string Preemptor::WhyNotEligible(const Question& question) const {
  if (state_.class_of(question.pod).spec.preemption_policy == k8s::PreemptionPolicy::kNever) {
    return "not eligible due to preemptionPolicy=Never.";
  }
  const cluster::Pod& pod = state_.pod(question.pod);
  if (!pod.nominated.valid()) return {};
  // A node on which it can never run is not worth waiting for.
  const framework::NodeRows rows = question.rejections.nodes;
  const std::span<const Verdict> verdicts = question.rejections.verdicts;
  const auto at = std::find(rows.begin(), rows.end(), pod.nominated);
  if (at == rows.end()) return {};
  if (verdicts[static_cast<std::size_t>(at - rows.begin())].code == Code::kUnresolvable) return {};
  for (const PodId other : state_.nodes().pods(pod.nominated)) {
    const bool preempted = state_.pod(other).priority < pod.priority && state_.pod(other).preempted;
    if (preempted || IsLeaving(question, other)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return {};
}

// In the order of their names, so that where the search begins does not depend on who came first.
void Preemptor::ListPotentialNodes(const framework::Rejections& rejections) {
  potential_.clear();
  const auto may_help = [](const Verdict& verdict) { return verdict.code == Code::kUnschedulable; };
  if (std::none_of(rejections.verdicts.begin(), rejections.verdicts.end(), may_help)) return;
  is_potential_.assign(state_.nodes().row_count(), 0);
  for (std::size_t i = 0; i < rejections.nodes.size(); ++i) {
    if (may_help(rejections.verdicts[i])) is_potential_[rejections.nodes[i].index] = 1;
  }
  for (const NodeRow row : state_.nodes().by_name()) {
    if (is_potential_[row.index] != 0) potential_.push_back(row);
  }
}

// ---- what is remembered ----

Preemptor::Memory& Preemptor::MemoryFor(const Question& question) {
  if (question.prepared.mark() == 0) question.prepared.set_mark(++marks_);
  const std::uint64_t mark = question.prepared.mark();
  const std::int32_t priority = state_.pod(question.pod).priority;
  const std::uint64_t budgets = state_.bystanders().budgets().generation;
  // A namespace may say of its pods that they stay.
  const std::uint64_t profiles = state_.namespace_profile_changes();
  Memory* memory = nullptr;
  if (question.prepared.has_domains() || question.prepared.asks_anew()) {
    memory = &scratch_;
  } else {
    for (Memory& known : memories_) {
      if (known.class_mark == mark && known.priority == priority) memory = &known;
    }
    if (memory == nullptr && memories_.size() < kMemories) memory = &memories_.emplace_back();
    if (memory == nullptr) {
      memory = &*std::min_element(memories_.begin(), memories_.end(),
                                  [](const auto& a, auto& b) { return a.last_use < b.last_use; });
    }
  }
  const bool starts_over = memory == &scratch_ || memory->class_mark != mark ||
                           memory->priority != priority || memory->budgets_seen != budgets ||
                           memory->profiles_seen != profiles;
  memory->class_mark = mark;
  memory->priority = priority;
  memory->budgets_seen = budgets;
  memory->profiles_seen = profiles;
  memory->last_use = ++uses_;
  if (starts_over) {
    memory->findings.clear();
    memory->reasons.clear();
    memory->changes.Skip(state_);
  }
  memory->findings.resize(state_.nodes().row_count());
  memory->changes.Read(
      state_, [&](NodeRow row) { memory->findings[row.index] = {}; },
      [&] { std::fill(memory->findings.begin(), memory->findings.end(), Finding{}); });
  return *memory;
}

void Preemptor::UpdateLowestPriorities() {
  lowest_.resize(state_.nodes().row_count(), kUnknownPriority);
  lowest_changes_.Read(
      state_, [&](NodeRow row) { lowest_[row.index] = kUnknownPriority; },
      [&] { std::fill(lowest_.begin(), lowest_.end(), kUnknownPriority); });
}

std::int64_t Preemptor::LowestPriority(NodeRow row) {
  std::int64_t& lowest = lowest_[row.index];
  if (lowest == kUnknownPriority) {
    lowest = kNobody;
    for (const PodId id : state_.nodes().pods(row)) {
      lowest = std::min(lowest, std::int64_t{state_.pod(id).priority});
    }
  }
  return lowest;
}

const Preemptor::Finding& Preemptor::Examine(const Question& question, Memory& memory,
                                             NodeRow row) {
  Finding& known = memory.findings[row.index];
  if (known.kind == Finding::Kind::kUnknown || known.passing ||
      state_.pod(question.pod).nominated == row) {
    known = TryNode(question, memory, row, nullptr);
  }
  return known;
}

// ---- on one node ----

Preemptor::Finding Preemptor::TryNode(const Question& question, Memory& memory, NodeRow row,
                                      std::vector<PodId>* victims) {
  Finding finding;
  const std::int32_t priority = state_.pod(question.pod).priority;
  const bool none_less = LowestPriority(row) >= priority;
  if (none_less && !question.counts_leaving) return NoVictims();
  const bool spared = ListVictims(question, row);
  if (victims_.empty() && leaving_.empty()) {
    finding = NoVictims();
    finding.passing = spared;
    return finding;
  }
  std::vector<Victim> may_go;
  if (question.minds_gangs) may_go = victims_;
  finding = TryWithoutThem(question, memory, row);
  const bool is_candidate = finding.kind == Finding::Kind::kCandidate;
  if (is_candidate && question.minds_gangs) {
    AddHarm(victims_, finding);
    if (finding.gangs_broken > 0) BreakFewer(question, row, may_go, finding);
  }
  if (is_candidate && victims != nullptr) {
    for (const Victim& victim : victims_) victims->push_back(victim.id);
  }
  // For how long nothing that happens on the node tells.
  finding.passing |= spared || !leaving_.empty();
  return finding;
}

Preemptor::Finding Preemptor::TryWithoutThem(const Question& question, Memory& memory,
                                             NodeRow row) {
  Finding finding;
  question.prepared.Refresh();
  const auto mark = state_.Mark();
  for (const PodId gone : leaving_) Remove(question, gone, row);
  for (const Victim& victim : victims_) Remove(question, victim.id, row);
  const Verdict verdict = judge_(question.prepared, question.pod, row);
  if (verdict.code == Code::kSuccess) {
    Reprieve(question, row);
    finding = Summarize(victims_);
    if (victims_.empty() && leaving_.empty()) {
      finding = Unfit(memory, {fmt::format("expected at least one victim pod on node \"{}\"",
                                           state_.nodes().name(row))});
    }
  } else {
    std::vector<std::string> reasons;
    if (const framework::NodeFilter* filter = question.prepared.FilterOf(verdict.plugin)) {
      filter->Explain(verdict, reasons);
    }
    finding = Unfit(memory, std::move(reasons));
  }
  // Who is still gone comes back with the rollback; only the filters have to be told.
  for (const Victim& victim : victims_) question.prepared.PodAdded(victim.id, row);
  for (const PodId gone : leaving_) question.prepared.PodAdded(gone, row);
  state_.Rollback(mark);
  return finding;
}

bool Preemptor::ListVictims(const Question& question, NodeRow row) {
  const std::int32_t priority = state_.pod(question.pod).priority;
  bool spared = false;
  victims_.clear();
  leaving_.clear();
  for (const PodId id : state_.nodes().pods(row)) {
    if (IsLeaving(question, id)) {
      leaving_.push_back(id);
    } else if (state_.pod(id).priority >= priority) {
      continue;
    } else if ((expected_back_ && expected_back_(id, question.pod)) ||
               (question.minds_gangs && IsSpared(question, id))) {
      spared = true;
    } else {
      victims_.push_back({id});
    }
  }
  return spared;
}

bool Preemptor::IsLeaving(const Question& question, PodId id) const {
  return question.counts_leaving && state_.pod(id).evicted && gives_way_(question.pod, id);
}

Preemptor::Finding Preemptor::NoVictims() {
  Finding finding;
  finding.kind = Finding::Kind::kNoVictims;
  return finding;
}

Preemptor::Finding Preemptor::Unfit(Memory& memory, std::vector<std::string> reasons) {
  Finding finding;
  finding.kind = Finding::Kind::kUnfit;
  const auto known = std::find(memory.reasons.begin(), memory.reasons.end(), reasons);
  finding.reasons = static_cast<std::uint32_t>(known - memory.reasons.begin());
  if (known == memory.reasons.end()) memory.reasons.push_back(std::move(reasons));
  return finding;
}

void Preemptor::Reprieve(const Question& question, NodeRow row) {
  std::sort(victims_.begin(), victims_.end(),
            [&](const Victim& a, const Victim& b) { return Stays(question, a.id, b.id); });
  MarkViolations();
  std::stable_partition(victims_.begin(), victims_.end(),
                        [](const Victim& victim) { return victim.violates; });
  std::erase_if(victims_, [&](const Victim& victim) {
    PutBack(question, victim.id, row);
    if (judge_(question.prepared, question.pod, row).code == Code::kSuccess) return true;
    Remove(question, victim.id, row);
    return false;
  });
  std::sort(victims_.begin(), victims_.end(),
            [this](const Victim& a, const Victim& b) { return MoreImportant(state_, a.id, b.id); });
}

bool Preemptor::Fills(PodId id) const {
  return FillsGaps(state_, id) || (borrows_ && borrows_(id));
}

bool Preemptor::Stays(const Question& question, PodId a, PodId b) const {
  if (!question.minds_gangs || state_.pod(a).priority != state_.pod(b).priority) {
    return MoreImportant(state_, a, b);
  }
  if (Fills(a) != Fills(b)) return Fills(b);
  const cluster::Tier tier_a = state_.profile_of(a).tier, tier_b = state_.profile_of(b).tier;
  return tier_a != tier_b ? tier_a > tier_b : MoreImportant(state_, a, b);
}

void Preemptor::Remove(const Question& question, PodId victim, NodeRow row) {
  state_.Displace(victim);
  question.prepared.PodRemoved(victim, row);
}

void Preemptor::PutBack(const Question& question, PodId victim, NodeRow row) {
  state_.Assume(victim, row);
  question.prepared.PodAdded(victim, row);
}

// Budgets are used up by the most important pods first.
void Preemptor::MarkViolations() {
  BudgetUse budgets(state_);
  for (Victim& victim : victims_) victim.violates = budgets.Violates(victim.id);
}

// ---- comparing ----

const Preemptor::Candidate* Preemptor::Best(std::span<const Candidate> candidates,
                                            bool minds_gangs) const {
  const Candidate* best = nullptr;
  Finding best_finding;
  std::vector<Victim> victims;
  for (const Candidate& candidate : candidates) {
    victims.clear();
    for (const PodId id : candidate.victims) victims.push_back({id});
    Finding finding = Summarize(victims);
    finding.violations = candidate.violations;
    if (minds_gangs) AddHarm(victims, finding);
    if (best != nullptr && !Better(finding, candidate.node, best_finding, best->node)) continue;
    best = &candidate;
    best_finding = finding;
  }
  return best;
}

Preemptor::Finding Preemptor::Summarize(std::span<const Victim> victims) const {
  Finding finding;
  finding.kind = Finding::Kind::kCandidate;
  finding.earliest_start = kNever;
  finding.victims = static_cast<std::uint32_t>(victims.size());
  finding.highest_priority = victims.empty() ? std::numeric_limits<std::int32_t>::min()
                                             : state_.pod(victims.front().id).priority;
  // Shifted, so that two pods of negative priority never count as less than one of them.
  constexpr std::int64_t kShift = std::int64_t{1} << 31;
  for (const Victim& victim : victims) {
    const cluster::Pod& pod = state_.pod(victim.id);
    if (victim.violates) ++finding.violations;
    finding.priority_sum += pod.priority + kShift;
    if (pod.priority != finding.highest_priority) continue;
    finding.earliest_start = std::min(finding.earliest_start, StartOf(pod));
  }
  return finding;
}

bool Preemptor::Better(const Finding& a, NodeRow row_a, const Finding& b, NodeRow row_b) const {
  if (a.violations != b.violations) return a.violations < b.violations;
  if (a.gangs_broken != b.gangs_broken) return a.gangs_broken < b.gangs_broken;
  if (a.highest_priority != b.highest_priority) return a.highest_priority < b.highest_priority;
  if (a.works != b.works) return b.works;
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.priority_sum != b.priority_sum) return a.priority_sum < b.priority_sum;
  if (a.victims != b.victims) return a.victims < b.victims;
  if (a.earliest_start != b.earliest_start) return a.earliest_start > b.earliest_start;
  return state_.nodes().rank(row_a) < state_.nodes().rank(row_b);
}

std::size_t Preemptor::bytes() const {
  std::size_t total = lowest_.capacity() * sizeof(std::int64_t) + is_potential_.capacity() +
                      potential_.capacity() * sizeof(NodeRow) +
                      scratch_.findings.capacity() * sizeof(Finding);
  for (const Memory& memory : memories_) total += memory.findings.capacity() * sizeof(Finding);
  return total;
}

}  // namespace knx::engine
