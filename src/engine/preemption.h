// Which pods have to go so that a pod fits that fits nowhere, and on which node: exactly
// kube-scheduler's DefaultPreemption, unless the question minds gangs. The plan is tried on the
// state itself, between a mark and a rollback, and is carried out by whoever asked.
//
// What was found out about a node is remembered for the pods of a class and a priority, and found
// out again only when something changed there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "engine/prepared_class.h"
#include "framework/plugin.h"

namespace knx::engine {

// Rows that changed since the last time somebody looked.
class RowChanges {
 public:
  // Calls changed(row) for each, or all_changed() if there is no telling which.
  template <class Changed, class AllChanged>
  void Read(const cluster::State& state, Changed changed, AllChanged all_changed) {
    for (const auto& [log, seen] : {std::pair(&state.usage_changes(), &usage_seen_),
                                    std::pair(&state.fact_changes(), &facts_seen_)}) {
      if (!log->Reaches(*seen)) {
        all_changed();
      } else if (log->end() != *seen) {
        rows_.clear();
        log->ChangedSince(*seen, rows_);
        for (const cluster::NodeRow row : rows_) changed(row);
      }
    }
    Skip(state);
  }
  // What happened since was a plan that was taken back.
  void Skip(const cluster::State& state) {
    usage_seen_ = state.usage_changes().end();
    facts_seen_ = state.fact_changes().end();
  }

 private:
  std::uint64_t usage_seen_ = 0, facts_seen_ = 0;
  std::vector<cluster::NodeRow> rows_;
};

class Preemptor {
 public:
  // Whether the pod fits on a node as the state is now, pods nominated to that node considered.
  using Judge = std::function<framework::Verdict(PreparedClass&, cluster::PodId, cluster::NodeRow)>;

  // Whether a member of a gang is spared by who minds gangs, unless for what keeps the cluster
  // going.
  using Spared = std::function<bool(cluster::PodId)>;

  Preemptor(cluster::State& state, Judge judge) : state_(state), judge_(std::move(judge)) {}
  // Otherwise nobody is.
  void SetSpared(Spared spared) { spared_ = std::move(spared); }
  // Whether the end of a pod is of no use to another, because its room is kept for it.
  using ExpectedBack = std::function<bool(cluster::PodId pod, cluster::PodId other)>;
  void SetExpectedBack(ExpectedBack expected) { expected_back_ = std::move(expected); }
  // Whether a pod that is evicted for another will go soon enough for the first to wait for it.
  using GivesWay = std::function<bool(cluster::PodId comer, cluster::PodId evicted)>;
  void SetGivesWay(GivesWay gives_way) { gives_way_ = std::move(gives_way); }

  // Whether a pod was let pass others, and goes before others of its priority as if it said so.
  using Borrows = std::function<bool(cluster::PodId)>;
  void SetBorrows(Borrows borrows) { borrows_ = std::move(borrows); }

  struct Question {
    cluster::PodId pod;
    PreparedClass& prepared;  // its class
    framework::Rejections rejections;
    framework::PreemptionArgs args;
    // Of nodes that are alike in budgets, where the fewest gangs break; among equally important
    // pods those go first that fill gaps, and those of lower tiers; and some are spared, who say
    // that they stay among them.
    bool minds_gangs = false;
    // Who leaves for others counts as gone. Then there may be a node without any victims.
    bool counts_leaving = false;
  };
  struct Answer {
    cluster::NodeRow node;                // invalid: nowhere, and the rest says why
    std::vector<cluster::PodId> victims;  // the most important first
    std::string not_eligible;             // the pod may not make room; its nomination stays
    std::map<std::string, std::uint64_t> reasons;  // why no node, and how many
  };
  struct Candidate {
    cluster::NodeRow node;
    std::vector<cluster::PodId> victims;
    std::int32_t violations = 0;
  };
  // Ranks must be fresh. The state is as before when it returns. `all`: gets every node that was
  // compared with the best.
  Answer Find(const Question& question, std::vector<Candidate>* all = nullptr);
  // The one that Find would prefer; none if there are none.
  [[nodiscard]] const Candidate* Best(std::span<const Candidate> candidates,
                                      bool minds_gangs) const;
  // Every node on which room could be made, by name. Nothing is remembered.
  std::vector<Candidate> ListCandidates(const Question& question);

  [[nodiscard]] std::size_t bytes() const;

 private:
  // What would have to happen on one node, as far as nodes are compared by it.
  struct Finding {
    enum class Kind : std::uint8_t {
      kUnknown,
      kNoVictims,  // nobody less important is there
      kUnfit,      // the pod would not fit without them either
      kCandidate,
    };
    Kind kind = Kind::kUnknown;
    std::uint32_t reasons = 0;  // with kUnfit: position in Memory::reasons
    std::int32_t violations = 0, highest_priority = 0;
    std::uint32_t gangs_broken = 0;
    bool works = false;  // somebody goes who does not fill gaps
    cluster::Tier tier = {};
    bool passing = false;  // changes with what happens elsewhere: to gangs, to who leaves
    std::int64_t priority_sum = 0;
    std::uint32_t victims = 0;
    Time earliest_start;  // of the victims with the highest priority
  };
  // What is known about nodes for pods of one class and priority.
  struct Memory {
    std::uint64_t class_mark = 0;  // of what the class was prepared to
    std::int32_t priority = 0;
    std::uint64_t budgets_seen = 0, profiles_seen = 0, last_use = 0;
    RowChanges changes;
    std::vector<Finding> findings;                  // by row
    std::vector<std::vector<std::string>> reasons;  // every list once
  };
  struct Victim {
    cluster::PodId id;
    bool violates = false;  // a disruption budget
  };
  static constexpr std::size_t kMemories = 4;

  [[nodiscard]] std::string WhyNotEligible(const Question& question) const;
  void ListPotentialNodes(const framework::Rejections& rejections);
  [[nodiscard]] std::map<std::string, std::uint64_t> CountReasons(const Memory& memory) const;
  Memory& MemoryFor(const Question& question);
  void UpdateLowestPriorities();
  [[nodiscard]] std::int64_t LowestPriority(cluster::NodeRow row);
  const Finding& Examine(const Question& question, Memory& memory, cluster::NodeRow row);
  Finding TryNode(const Question& question, Memory& memory, cluster::NodeRow row,
                  std::vector<cluster::PodId>* victims);
  // With those in victims_ and leaving_ gone. Leaves in victims_ those who may not come back.
  Finding TryWithoutThem(const Question& question, Memory& memory, cluster::NodeRow row);
  // Takes others of those that may go if fewer gangs break by that.
  void BreakFewer(const Question& question, cluster::NodeRow row, std::span<const Victim> may_go,
                  Finding& finding);
  // Into victims_: everybody less important there, and into leaving_ who leaves. True: somebody was
  // spared.
  bool ListVictims(const Question& question, cluster::NodeRow row);
  [[nodiscard]] bool IsLeaving(const Question& question, cluster::PodId id) const;
  [[nodiscard]] bool IsSpared(const Question& question, cluster::PodId id) const;
  static Finding NoVictims();
  static Finding Unfit(Memory& memory, std::vector<std::string> reasons);
  // With everybody less important gone: puts back who may stay and lists who may not.
  void Reprieve(const Question& question, cluster::NodeRow row);
  void Remove(const Question& question, cluster::PodId victim, cluster::NodeRow row);
  void PutBack(const Question& question, cluster::PodId victim, cluster::NodeRow row);
  void MarkViolations();
  [[nodiscard]] Finding Summarize(std::span<const Victim> victims) const;
  // What only those consider who mind gangs. With all victims in their places.
  void AddHarm(std::span<const Victim> victims, Finding& finding) const;
  [[nodiscard]] bool Fills(cluster::PodId id) const;
  // Whether one had better stay than the other.
  [[nodiscard]] bool Stays(const Question& question, cluster::PodId a, cluster::PodId b) const;
  [[nodiscard]] bool Better(const Finding& a, cluster::NodeRow row_a, const Finding& b,
                            cluster::NodeRow row_b) const;

  cluster::State& state_;
  Judge judge_;
  Spared spared_;
  ExpectedBack expected_back_;
  GivesWay gives_way_;
  Borrows borrows_;
  std::vector<Memory> memories_;
  Memory scratch_;  // for classes about which nothing can be remembered
  std::uint64_t uses_ = 0, marks_ = 0;
  RowChanges lowest_changes_;
  std::vector<std::int64_t> lowest_;  // by row: the lowest priority there; kUnknownPriority

  // Of one search; kept for their capacity.
  std::vector<std::uint8_t> is_potential_;  // by row
  std::vector<cluster::NodeRow> potential_;
  std::vector<Victim> victims_;
  std::vector<cluster::PodId> leaving_;
};

}  // namespace knx::engine
