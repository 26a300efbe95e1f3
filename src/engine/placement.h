// Where should this pod go? All nodes are considered, always; equal ones are taken in the order of
// their names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/class_caches.h"
#include "engine/domain_contest.h"
#include "engine/engine_options.h"
#include "engine/kind_room.h"
#include "engine/preemption.h"
#include "engine/queue.h"
#include "engine/wait_inquiry.h"
#include "framework/profile.h"

namespace knx::engine {

struct Placement {
  cluster::NodeRow node;                // invalid: nowhere, and the rest says why
  cluster::NodeRow nominated;           // room is being made there
  std::vector<cluster::PodId> victims;  // by evicting these, the most important first
  std::vector<cluster::PodId> along;    // and these elsewhere, whose gang is broken thereby
  std::uint8_t preempted_by = 0;        // the plugin that wants it so
  bool keep_nomination = false;
  bool tried_preemption = false;
  std::string
      before_preemption;  // what plugins said that were to make room before it, with a comma
  FailedAttempt attempt;
  std::string message;
};

// What extenders said about the nodes for a pod.
struct ExtenderVerdicts {
  struct Refusal {
    bool unresolvable = false;
    std::string text;
  };
  std::map<std::string, Refusal> refused;  // by name; also of nodes that are not there
  bool took_nodes = false;                 // some that the plugins accept are not left
  // Extenders have a say in who is evicted, so that it is listed who could be, and not decided.
  bool list_candidates = false;
  std::vector<Preemptor::Candidate> candidates;
};

// Nodes of one topology domain, where all pods of a plan have to be.
struct Confines {
  Symbol key, value;                   // of the label that they have in common
  std::vector<cluster::NodeRow> rows;  // ascending
  [[nodiscard]] bool Contain(cluster::NodeRow row) const {
    return std::binary_search(rows.begin(), rows.end(), row);
  }
};

class Placer {
 public:
  Placer(cluster::State& state, const EngineOptions& options)
      : state_(state),
        parallel_for_(options.parallel_for),
        caches_(state, options.cache_bytes, options.cache_bytes_per_node),
        preemptor_(state,
                   [this](PreparedClass& prepared, cluster::PodId pod, cluster::NodeRow row) {
                     return JudgeWithNominated(prepared, pod, row);
                   }) {}
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  // Of equally good nodes the first by name is taken; those in `failed`, where the pod had a place
  // before and could not be bound, come after all others, the one that failed last at the end.
  // kube-scheduler takes any by chance, and so does not try the same one for ever either.
  Placement Place(const framework::Profile& profile, cluster::PodId pod,
                  std::span<const cluster::NodeRow> failed = {});

  // The same for a pod of a plan that is being tried: nobody is evicted for it.
  Placement PlaceInPlan(const framework::Profile& profile, cluster::PodId pod,
                        std::span<const cluster::NodeRow> failed);

  // ---- placement_confined.cc: for gangs that must be in one topology domain ----
  // While one of these is there, nothing is looked for in plans but on these nodes.
  class Confinement {
   public:
    Confinement(Placer& placer, const Confines& confines) : placer_(placer) {
      placer_.confines_ = &confines;
    }
    ~Confinement() { placer_.confines_ = nullptr; }
    Confinement(const Confinement&) = delete;
    Confinement& operator=(const Confinement&) = delete;

   private:
    Placer& placer_;
  };
  // While one of these is there, these nodes (ascending) are not used in plans.
  class LeavingOut {
   public:
    LeavingOut(Placer& placer, std::span<const cluster::NodeRow> rows) : placer_(placer) {
      placer_.left_out_ = rows;
    }
    ~LeavingOut() { placer_.left_out_ = {}; }
    LeavingOut(const LeavingOut&) = delete;
    LeavingOut& operator=(const LeavingOut&) = delete;

   private:
    Placer& placer_;
  };
  // While one of these is there, plans of others may use all nodes, whatever that of one may.
  class Unconfined {
   public:
    explicit Unconfined(Placer& placer)
        : placer_(placer), confines_(std::exchange(placer.confines_, nullptr)) {}
    ~Unconfined() { placer_.confines_ = confines_; }
    Unconfined(const Unconfined&) = delete;
    Unconfined& operator=(const Unconfined&) = delete;

   private:
    Placer& placer_;
    const Confines* confines_;
  };
  // What plans may use at present.
  [[nodiscard]] bool MayUse(cluster::NodeRow row) const {
    return (confines_ == nullptr || confines_->Contain(row)) &&
           !std::binary_search(left_out_.begin(), left_out_.end(), row);
  }

  // ---- placement_extended.cc: for pods about which extenders are asked ----
  struct Screening {
    std::vector<cluster::NodeRow> rows;  // that fit, by name; none: `refusal` says why
    bool nominated = false;              // it is the nominated node, which comes before all others
    Placement refusal;
  };
  Screening Screen(const framework::Profile& profile, cluster::PodId pod, bool nominated_first,
                   ExtenderVerdicts& verdicts);
  // The best of `rows` that still fits, with what extenders give it added (by name). No node and no
  // error: none fits any more.
  Placement ChooseAmong(const framework::Profile& profile, cluster::PodId pod,
                        std::vector<cluster::NodeRow> rows,
                        const std::map<std::string, std::int64_t>& scores,
                        std::span<const cluster::NodeRow> failed);
  // Nothing is left: why, and whether room can be made.
  Placement RefuseAll(const framework::Profile& profile, cluster::PodId pod,
                      ExtenderVerdicts& verdicts);
  // The same for a pod of a plan that is being tried: nobody is evicted for it.
  Placement RefuseInPlan(const framework::Profile& profile, cluster::PodId pod,
                         ExtenderVerdicts& verdicts);
  // Room for several pods like this one at once.
  KindRoom RoomOf(const framework::Profile& profile, cluster::PodId pod, bool alone);
  // Whether the plugins accept a node as it is now.
  bool Fits(const framework::Profile& profile, cluster::PodId pod, cluster::NodeRow row);
  // The same whoever is nominated there.
  bool FitsAlone(const framework::Profile& profile, cluster::PodId pod, cluster::NodeRow row);
  // The candidate to be preferred; none if there are none.
  [[nodiscard]] const Preemptor::Candidate* BestCandidate(
      const framework::Profile& profile, std::span<const Preemptor::Candidate> candidates) const {
    return preemptor_.Best(candidates, profile.gang_preemption.has_value());
  }

  // Members of gangs that must not be evicted, by profiles that mind gangs.
  void SetSpared(Preemptor::Spared spared) { preemptor_.SetSpared(std::move(spared)); }
  void SetExpectedBack(Preemptor::ExpectedBack expected) {
    preemptor_.SetExpectedBack(std::move(expected));
  }
  void SetGivesWay(Preemptor::GivesWay gives_way) { preemptor_.SetGivesWay(std::move(gives_way)); }
  void SetBorrows(Preemptor::Borrows borrows) { preemptor_.SetBorrows(std::move(borrows)); }

  // The same decision, with everything that was said on the way.
  Inquiry Inquire(const framework::Profile& profile, cluster::PodId pod);
  // What keeps it from nodes that have what it asks for, and how much less it would have to ask for
  // on others. Nodes with room that others were promised are left out, and so is `without`,
  // ascending.
  void ListObstacles(const framework::Profile& profile, cluster::PodId pod,
                     std::span<const cluster::NodeRow> without, PodInquiry& inquiry);

  [[nodiscard]] std::size_t bytes() const { return caches_.bytes() + preemptor_.bytes(); }
  // Compares what is remembered about a class with asking every plugin about every node: the first
  // difference.
  [[nodiscard]] std::optional<std::string> VerifyClass(const framework::Profile& profile,
                                                       const ClassCaches::Key& key);
  [[nodiscard]] std::vector<ClassCaches::Key> CachedClasses() const { return caches_.Cached(); }

 private:
  // Rows and what was found out about them.
  struct Judged {
    std::vector<cluster::NodeRow> rows;
    std::vector<framework::Verdict> verdicts;
  };
  using ReasonCounts = std::map<std::string, std::uint64_t>;

  Placement Choose(const framework::Profile& profile, cluster::PodId pod);
  Placement PlaceRemembered(const framework::Profile& profile, ClassCache& cache,
                            cluster::PodId pod);
  Placement PlaceInDomains(const framework::Profile& profile, ClassCache& cache,
                           cluster::PodId pod);
  Placement PlaceAmong(const framework::Profile& profile, PreparedClass& prepared,
                       cluster::PodId pod);
  // What the plugins say about `judged.rows`, nominated pods considered; gives those that fit.
  std::vector<cluster::NodeRow> JudgeRows(PreparedClass& prepared, cluster::PodId pod,
                                          Judged& judged);
  std::vector<cluster::NodeRow> JudgeAll(PreparedClass& prepared, cluster::PodId pod,
                                         Judged& judged);
  template <class Work>
  void WithPrepared(const framework::Profile& profile, cluster::PodId pod, Work work);
  // ---- placement_confined.cc ----
  Placement PlaceConfined(const framework::Profile& profile, cluster::PodId pod);
  // By what is remembered of the class; the totals are those that the nodes have among all.
  Placement ChooseConfined(const ClassCache& cache, cluster::PodId pod, PreparedClass& prepared);
  Placement ChooseConfined(cluster::PodId pod, PreparedClass& prepared);
  [[nodiscard]] Placement RefuseConfined(const PreparedClass& prepared, const Judged& judged) const;
  // Takes over what extenders said, and counts their reasons. Gives how many nodes nobody spoke
  // about.
  std::size_t TakeOver(const framework::Profile& profile, const ExtenderVerdicts& verdicts,
                       Judged& judged, ReasonCounts& reasons) const;
  // How late the row comes among equals: 0 unless the pod failed there.
  [[nodiscard]] std::size_t LatenessOf(cluster::NodeRow row) const;
  // The best of what is remembered.
  cluster::NodeRow BestOf(ClassCache& cache);
  [[nodiscard]] bool AsksLeftOutNode(const PreparedClass& prepared, cluster::PodId pod) const;
  bool FitsNominatedNode(PreparedClass& prepared, cluster::PodId pod);
  framework::Verdict JudgeAlone(PreparedClass& prepared, cluster::NodeRow row);
  framework::Verdict JudgeWithNominated(PreparedClass& prepared, cluster::PodId pod,
                                        cluster::NodeRow row);
  [[nodiscard]] bool IsRival(cluster::PodId other, cluster::PodId pod) const;
  [[nodiscard]] bool HasRivals(cluster::PodId pod, cluster::NodeRow row) const;
  cluster::NodeRow BestOf(const PreparedClass& prepared,
                          std::span<const cluster::NodeRow> feasible) const;
  cluster::NodeRow BestBy(std::span<const std::int32_t> totals,
                          std::span<const cluster::NodeRow> feasible) const;
  // ---- placement_inquiry.cc ----
  void ListNodes(const framework::Profile& profile, PreparedClass& prepared, cluster::PodId pod,
                 Judged& judged, Inquiry& inquiry);
  void ListPreemption(const framework::Profile& profile, PreparedClass& prepared,
                      cluster::PodId pod, const Judged& judged, Inquiry& inquiry);
  [[nodiscard]] std::optional<PodInquiry::Less> LessFor(
      cluster::NodeRow row, std::span<const cluster::ResourceAmount> takes) const;

  static Placement Failed(const framework::Outcome& outcome);
  Placement Rejected(const PreparedClass& prepared) const;
  Placement Refuse(const framework::Profile& profile, PreparedClass& prepared, cluster::PodId pod,
                   Judged& judged, ExtenderVerdicts* extended = nullptr);
  static void CountAll(const PreparedClass& prepared, const Judged& judged, ReasonCounts& reasons,
                       FailedAttempt& attempt);
  static void Count(const PreparedClass& prepared, const framework::Verdict& verdict,
                    std::uint64_t nodes, ReasonCounts& reasons, FailedAttempt& attempt);
  [[nodiscard]] std::string FailureText(const ReasonCounts& reasons) const;
  void TryPostFilter(const framework::Profile& profile, PreparedClass& prepared, cluster::PodId pod,
                     const Judged& judged, Placement& placement,
                     ExtenderVerdicts* extended = nullptr);
  framework::Outcome Preempt(const Preemptor::Question& question, Placement& placement,
                             ExtenderVerdicts* extended);

  cluster::State& state_;
  ParallelFor parallel_for_;
  std::span<const cluster::NodeRow> failed_;  // of the pod that is being placed
  bool may_evict_ = true;                     // for it
  const Confines* confines_ = nullptr;        // of the plan that is being made
  std::span<const cluster::NodeRow> left_out_;
  ClassCaches caches_;
  Preemptor preemptor_;
  PreparedClass::Batch batch_;
  DomainContest contest_;
};

// The scores of rows that all fit, added up over the plugins as kube-scheduler does.
std::vector<std::int32_t> TotalScores(const PreparedClass& prepared,
                                      std::span<const cluster::NodeRow> rows);

}  // namespace knx::engine
