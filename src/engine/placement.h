// Where should this pod go? All nodes are considered, always; equal ones are taken in the order of
// their names.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "engine/class_caches.h"
#include "engine/domain_contest.h"
#include "engine/engine_options.h"
#include "engine/inquiry.h"
#include "engine/preemption.h"
#include "engine/queue.h"
#include "framework/profile.h"

namespace knx::engine {

struct Placement {
  cluster::NodeRow node;                // invalid: nowhere, and the rest says why
  cluster::NodeRow nominated;           // room is being made there
  std::vector<cluster::PodId> victims;  // by evicting these, the most important first
  std::uint8_t preempted_by = 0;        // the plugin that wants it so
  bool keep_nomination = false;
  bool tried_preemption = false;
  FailedAttempt attempt;
  std::string message;
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

  // The same decision, with everything that was said on the way.
  Inquiry Inquire(const framework::Profile& profile, cluster::PodId pod);

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
  // How late the row comes among equals: 0 unless the pod failed there.
  [[nodiscard]] std::size_t LatenessOf(cluster::NodeRow row) const;
  // The best of what is remembered.
  cluster::NodeRow BestOf(ClassCache& cache);
  [[nodiscard]] bool AsksLeftOutNode(const PreparedClass& prepared, cluster::PodId pod) const;
  bool FitsNominatedNode(PreparedClass& prepared, cluster::PodId pod);
  framework::Verdict JudgeAlone(PreparedClass& prepared, cluster::NodeRow row);
  framework::Verdict JudgeWithNominated(PreparedClass& prepared, cluster::PodId pod,
                                        cluster::NodeRow row);
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

  static Placement Failed(const framework::Outcome& outcome);
  Placement Rejected(const PreparedClass& prepared) const;
  Placement Refuse(const framework::Profile& profile, PreparedClass& prepared, cluster::PodId pod,
                   Judged& judged);
  static void Count(const PreparedClass& prepared, const framework::Verdict& verdict,
                    std::uint64_t nodes, ReasonCounts& reasons, FailedAttempt& attempt);
  [[nodiscard]] std::string FailureText(const ReasonCounts& reasons) const;
  void TryPostFilter(const framework::Profile& profile, PreparedClass& prepared, cluster::PodId pod,
                     const Judged& judged, Placement& placement);
  framework::Outcome Preempt(const Preemptor::Question& question, Placement& placement);

  cluster::State& state_;
  ParallelFor parallel_for_;
  std::span<const cluster::NodeRow> failed_;  // of the pod that is being placed
  ClassCaches caches_;
  Preemptor preemptor_;
  PreparedClass::Batch batch_;
  DomainContest contest_;
};

// The scores of rows that all fit, added up over the plugins as kube-scheduler does.
std::vector<std::int32_t> TotalScores(const PreparedClass& prepared,
                                      std::span<const cluster::NodeRow> rows);

}  // namespace knx::engine
