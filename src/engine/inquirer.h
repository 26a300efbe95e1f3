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
#include "engine/gang_book.h"
#include "engine/gang_domains.h"
#include "engine/gang_goal.h"
#include "engine/gang_help.h"
#include "engine/gang_inquiry.h"
#include "engine/gang_preemption.h"
#include "engine/lent_room.h"
#include "engine/reservation_book.h"
#include "engine/wait_inquiry.h"

namespace knx::engine {

class Core;

class Inquirer {
 public:
  explicit Inquirer(Core& core);
  ~Inquirer();
  Inquirer(const Inquirer&) = delete;
  Inquirer& operator=(const Inquirer&) = delete;

  // Of a waiting pod of ours, whether it is in a gang or not; nullopt: it is not one.
  std::optional<PodInquiry> OfPod(std::string_view uid);
  // Of the gang of a waiting pod of ours; nullopt: the pod is in none, or nobody of it could start.
  std::optional<GangInquiry> OfGang(std::string_view uid, GangQuestion question);

 private:
  // ---- inquirer_turn.cc: as it is when somebody is decided about ----
  // A gang that is asked about.
  struct Turn {
    Aspirants who;
    cluster::PodId pod;                      // that stands for it
    bool in_parts = false;                   // it starts without those that its driver makes
    std::optional<Reservation> places = {};  // of these, if places are kept for them
    std::vector<cluster::PodId> comers;      // members, and what stands for those to come
  };
  [[nodiscard]] Turn TurnOf(cluster::GangId gang, const WaitingGang& waiting);
  // The reservation until which its driver waits; nullptr: it waits for none.
  [[nodiscard]] const Reservation* AwaitedBy(cluster::GangId gang,
                                             const WaitingGang& waiting) const;
  // What stands for the places in the state, as long as somebody asks.
  void MakeHolds(Reservation& places);
  void CopyWaiting();
  std::optional<Reservation> PlacesToCome(cluster::GangId gang, std::size_t count);
  // What is kept for those who are asked about is lent to them, as long as this is there.
  class Lent {
   public:
    Lent(Inquirer& inquirer, const Turn& turn);
    Lent(Inquirer& inquirer, cluster::PodId pod);
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    Core& core_;
    cluster::State::MarkId mark_;
    Loan loan_;
  };
  // As it is planned when its turn comes, and if no more than so many were needed. All is taken
  // back.
  GangPlan Plan(const Turn& turn);
  GangPlan PlanWith(const Turn& turn, GangPlanner& planner);
  GangPlan PlanFewer(const Turn& turn, std::size_t needed);
  GangPlan PlanFewerHere(const Turn& turn, std::size_t needed);
  GangRoom FindRoomForFewer(const Turn& turn, std::size_t needed);
  // Whether it would start: it fits, and breaks no promise.
  bool Starts(cluster::PodId id);
  StartTrials::Tried Starts(const Turn& turn);
  bool FewerStart(const Turn& turn, std::size_t needed);
  // Where it would wait for its turn, ascending.
  [[nodiscard]] std::vector<cluster::NodeRow> PromisedToOthers(cluster::PodId id);

  // ---- why a gang waits ----
  void DescribeAwaited(cluster::GangId gang, const WaitingGang& waiting, GangInquiry& inquiry);
  void Answer(const Turn& turn, GangQuestion question, GangInquiry& inquiry);
  // What is known of a plan without places; the plan says what was found beyond it.
  void Explain(const Turn& turn, GangPlan& plan, GangInquiry& inquiry);
  // How many could start if no more were needed: of all, and in each domain. Their places are given
  // if they are more than the plan knew of.
  GangGoal::Places FindMost(const Turn& turn, const std::optional<GangDomains>& domains,
                            GangPlan& plan, GangInquiry& inquiry);
  // The same with room that is made for them.
  void FindMostByEviction(const Turn& turn, const GangPlan& plan, GangInquiry& inquiry);
  // In the domain to which plans are confined at present: the most from `known` to `most`.
  std::size_t MostHere(const Turn& turn, std::size_t known, std::size_t most);
  // Whether its number of pods decides whether it starts, and not that of its parts.
  [[nodiscard]] bool NumberDecides(const Turn& turn, const GangInquiry& inquiry) const;
  void ExplainDomains(cluster::GangId id, const GangPlan& plan, const GangCount& count,
                      GangInquiry& inquiry);
  void ListUnplaced(const Turn& turn, const GangGoal::Places& found, GangInquiry& inquiry);

  // ---- inquirer_help.cc: what would help ----
  struct Question {
    std::vector<cluster::PodId> members;
    const Turn* turn = nullptr;  // of their gang; nullptr: a single pod
    std::size_t needed = 1, fitting = 0;
    bool lacks_in_all = false;           // they fit, and too little is left for their gang
    std::vector<Confines> domains = {};  // where they may be, the best first; none: anywhere
    StartTrials::Try attempt = {};
  };
  [[nodiscard]] Question AskFor(cluster::PodId id);
  [[nodiscard]] Question AskFor(const Turn& turn, const GangPlan& plan);
  // Whatever changes, reservations that wait for room are given theirs before anybody is planned:
  // copies, which remember other places than they had, of those that got it.
  using Held = std::vector<Reservation>;
  [[nodiscard]] StartTrials::Try AfterReservations(
      std::function<StartTrials::Tried(const Held&)> attempt);
  Held HoldWhatWaits();
  // A driver that waits for what is reserved, where that is held; without places: it is not.
  GangPlan PlanBeside(const Turn& turn, const Held& held);
  void FindHelp(const Question& question, Wait& wait);
  std::vector<cluster::PodId> FindPods(const Question& question, GangHelpFinder& finder);
  // Where plans may be at present.
  std::vector<cluster::PodId> FindPodsHere(const Question& question, GangHelpFinder& finder);
  // Reservations for others without one of which it would start.
  void FindReserved(const Question& question, StartTrials& trials, Wait& wait);

  // ---- what it waits for ----
  // What the queue, the book of promises and that of evictions say. `gang` may be invalid.
  void DescribeWait(cluster::PodId id, cluster::GangId gang, Wait& wait);
  void DescribePromises(cluster::PodId id, cluster::GangId gang, Wait& wait);
  [[nodiscard]] std::string NameOf(cluster::PodId pod) const;

  Core& core_;
  cluster::State& state_;
  std::vector<Reservation> waiting_;   // for room: copies, the oldest first
  std::vector<cluster::PodId> holds_;  // that were made to be asked about
};

}  // namespace knx::engine
