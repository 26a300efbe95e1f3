// Asks the core, as it stands, why somebody waits and what would help: tries things on the state
// and takes them back. Decides and changes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_domains.h"
#include "engine/gang_goal.h"
#include "engine/gang_help.h"
#include "engine/gang_inquiry.h"
#include "engine/wait_inquiry.h"

namespace knx::engine {

class Core;

class Inquirer {
 public:
  explicit Inquirer(Core& core);

  // Of a waiting pod of ours, whether it is in a gang or not; nullopt: it is not one.
  std::optional<PodInquiry> OfPod(std::string_view uid);
  // Of the gang of a waiting pod of ours; nullopt: the pod is in none, or nobody of it could start.
  std::optional<GangInquiry> OfGang(std::string_view uid, GangQuestion question);

 private:
  // ---- why a gang waits ----
  // What is known of a plan without places; the plan says what was found beyond it.
  void Explain(const Aspirants& who, GangPlan& plan, GangInquiry& inquiry);
  // How many could start if no more were needed: of all, and in each domain. Their places are given
  // if they are more than the plan knew of.
  GangGoal::Places FindMost(const Aspirants& who, const std::optional<GangDomains>& domains,
                            GangPlan& plan, GangInquiry& inquiry);
  // In the domain to which plans are confined at present: the most from `known` to `most`.
  std::size_t MostHere(const Aspirants& who, std::size_t known, std::size_t most);
  // Whether its number of pods decides whether it starts, and not that of its parts.
  [[nodiscard]] bool NumberDecides(const GangInquiry& inquiry, cluster::GangId id) const;
  void ExplainDomains(cluster::GangId id, const GangPlan& plan, const GangCount& count,
                      GangInquiry& inquiry);
  void ListUnplaced(std::span<const cluster::PodId> members, const GangGoal::Places& found,
                    GangInquiry& inquiry);

  // ---- inquirer_help.cc: what would help ----
  struct Question {
    std::vector<cluster::PodId> members;
    cluster::GangId gang = {};  // invalid: a single pod
    std::size_t needed = 1, fitting = 0;
    bool lacks_in_all = false;           // they fit, and too little is left for their gang
    std::vector<Confines> domains = {};  // where they may be, the best first; none: anywhere
    StartTrials::Try attempt = {};
  };
  [[nodiscard]] Question AskFor(cluster::PodId id);
  [[nodiscard]] Question AskFor(const Aspirants& who, const GangPlan& plan);
  // Whatever changes, reservations that wait for room are given theirs before anybody is planned.
  [[nodiscard]] StartTrials::Try AfterReservations(StartTrials::Try attempt);
  void HoldWhatWaits();
  void FindHelp(const Question& question, Wait& wait);
  std::vector<cluster::PodId> FindPods(const Question& question, GangHelpFinder& finder);
  // Where plans may be at present.
  std::vector<cluster::PodId> FindPodsHere(const Question& question, GangHelpFinder& finder);
  // Reservations for others without one of which it would start.
  void FindReserved(StartTrials& trials, Wait& wait);

  // ---- what it waits for ----
  // What the queue, the book of promises and that of evictions say. `gang` may be invalid.
  void DescribeWait(cluster::PodId id, cluster::GangId gang, Wait& wait);
  void DescribePromises(cluster::PodId id, cluster::GangId gang, Wait& wait);
  [[nodiscard]] std::string NameOf(cluster::PodId pod) const;

  Core& core_;
  cluster::State& state_;
};

}  // namespace knx::engine
