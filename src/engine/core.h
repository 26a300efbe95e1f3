// The inside of the engine: the state, the queue, the cycle of a pod, and the bookkeeping of what
// is under way.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/backfill.h"
#include "engine/departures.h"
#include "engine/driven_gangs.h"
#include "engine/drivers.h"
#include "engine/engine.h"
#include "engine/evictions.h"
#include "engine/extender_round.h"
#include "engine/flight.h"
#include "engine/gang_book.h"
#include "engine/gang_domains.h"
#include "engine/gang_extenders.h"
#include "engine/gang_goal.h"
#include "engine/gang_planner.h"
#include "engine/gang_preemption.h"
#include "engine/gang_turn.h"
#include "engine/group_conditions.h"
#include "engine/lent_room.h"
#include "engine/placement.h"
#include "engine/plugin_judge.h"
#include "engine/queue.h"

namespace knx::engine {

class Core {
 public:
  using PodId = cluster::PodId;
  using GangId = cluster::GangId;
  using NodeRow = cluster::NodeRow;

  Core(EngineOptions options, std::vector<framework::Profile> profiles);

  void Handle(const Event& event, Time now);
  bool ScheduleOne(Time now);
  [[nodiscard]] PodId decided() const { return decided_; }
  void Advance(Time now);
  [[nodiscard]] Time NextWake() const;
  [[nodiscard]] Time NextChange() const;
  std::vector<Action> TakeActions() { return std::exchange(actions_, {}); }

  [[nodiscard]] const cluster::State& state() const { return state_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] const std::vector<framework::Profile>& profiles() const { return profiles_; }
  [[nodiscard]] std::size_t preemptions() const { return evictions_.size(); }
  [[nodiscard]] const ReservationBook& reservations() const { return reservations_; }
  [[nodiscard]] Time NextPromisedStart() const;
  [[nodiscard]] PodStanding Standing(std::string_view uid) const;
  [[nodiscard]] bool IsWanted(ActionId binding) const;
  [[nodiscard]] std::string WhyWaiting(std::string_view uid) const;
  [[nodiscard]] std::optional<Inquiry> Inquire(std::string_view uid);
  [[nodiscard]] std::optional<std::string> Verify() const;
  [[nodiscard]] std::optional<std::string> VerifyCaches();
  [[nodiscard]] Engine::Bytes bytes() const;

 private:
  friend class Inquirer;

  // ---- core_events.cc: what happens outside ----
  void Dispatch(const Event& event, Time now);
  void OnNode(const k8s::Node& node, Time now);
  void OnNodeDeleted(const std::string& name, Time now);
  void OnPod(const k8s::Pod& pod, Time now);
  // Whether what is known of the pod says nothing any more of the one that is told of now.
  [[nodiscard]] bool IsAnother(PodId id, const k8s::Pod& pod) const;
  void OnNewPod(const k8s::Pod& pod, Time now);
  void OnKnownPod(PodId id, const k8s::Pod& pod, Time now);
  void OnBoundOutside(PodId id, const Departed& before, Time now);
  void OnAssignedPodChanged(PodId id, const cluster::PodChange& change, const Departed& before,
                            Time now);
  void OnWaitingPodChanged(PodId id, const cluster::PodChange& change, const Departed& before,
                           Time now);
  void RemovePod(PodId id, Time now);
  void OnObject(const k8s::Object& object, Time now);
  void OnObjectDeleted(const k8s::Object& object, Time now);
  // A namespace says something else about its pods, which may count for more or less now.
  void ReorderPods(Time now);
  // Pods that are on their way and wait for something to become of a claim.
  void RecheckUsersOf(const k8s::PersistentVolumeClaim& claim, Time now);
  void Tell(framework::ClusterEvent event, Time now);
  void Note(framework::EventKind kind) const;
  // The pod is bound, as the API server says: is that too much for its node?
  void NoteOvercommit(PodId id) const;
  // Somebody else put a pod on the node: ours on the way there may have no room any more.
  void NoteCrowd(NodeRow row);
  [[nodiscard]] bool IsCrowdedOut(PodId id, const Flight& flight) const;
  [[nodiscard]] Departed Remember(PodId id) const;
  [[nodiscard]] framework::PodInEvent InEvent(const Departed& pod) const;
  [[nodiscard]] framework::PodInEvent InEvent(PodId id) const;

  // ---- core_cycle.cc, core_failing.cc: the way of a pod ----
  void StartFlight(PodId id, NodeRow row, Time now);
  bool Reserve(PodId id, NodeRow row, Time now);
  framework::Outcome AskReserve(const framework::Profile& profile, PodId id, NodeRow row,
                                std::uint8_t& by);
  void Unreserve(PodId id, NodeRow row, Time now);
  // Goes on with a flight until it waits for something, fails or is over.
  void Continue(PodId id, Time now);
  // Asks the plugin whose turn it is; nullopt: the step is over. `answer`: that it waited for.
  std::optional<framework::StepResult> AskStep(PodId id, const framework::Answer* answer);
  // False: the flight waits or failed.
  bool ApplyStep(PodId id, const framework::StepResult& result, Time now);
  void AwaitRecheck(PodId id, const framework::Recheck& recheck, Time now);
  void Resume(PodId id, const framework::Answer& answer, Time now);
  void AwaitStatus(PodId id, ActionId patch);
  // The write of its condition that nobody reported on yet; 0: there is none.
  [[nodiscard]] ActionId StatusUnderWay(PodId id) const;
  // Everything before the binding is done.
  void StartBinding(PodId id, Time now);
  void SendBinding(PodId id, Time now);
  void OnActionFinished(const ActionFinished& finished, Time now);
  void OnAnswer(const QuestionAnswered& answered, Time now);
  void OnBindingFinished(PodId id, const std::optional<std::string>& failure, Time now);
  void EndFlight(PodId id);
  // Ends the flight, gives back what the pod holds, and tells who might want it.
  void GiveBackRoom(PodId id, Time now);
  // The next time, other nodes that are as good come first.
  void NoteFailure(PodId id, NodeRow row);
  [[nodiscard]] std::span<const NodeRow> FailedOn(PodId id) const;
  void FailOnNode(PodId id, const FailedAttempt& attempt, const std::string& message, Time now);
  // `nominate`: where room is being made; an invalid row takes that back, nullopt leaves it.
  void Fail(PodId id, const FailedAttempt& attempt, const std::string& message,
            std::optional<NodeRow> nominate, Time now);
  // Writes the condition, unless it says so already.
  void WriteCondition(PodId id, std::string_view reason, const std::string& message,
                      std::optional<NodeRow> nominate, Time now);
  // The condition and an event, unless the condition says so already.
  void ReportIfNew(PodId id, std::string_view reason, const std::string& message, Time now,
                   std::optional<NodeRow> nominate = std::nullopt);
  // The nominated node to be written, if what is written is another; the state takes it over.
  std::optional<std::string> Renominate(PodId id, NodeRow row, Time now);
  void MeetDeadlines(Time now);
  void TellAttempt(PodId id, AttemptResult result, std::string_view message) const;

  // ---- core_gangs.cc, core_departures.cc: pods that start together ----
  // Invalid: it is a pod like any other, or of a profile that knows no gangs.
  [[nodiscard]] GangId GangOf(PodId id) const;
  // Waits, and is held back by nothing but its gang.
  [[nodiscard]] bool IsReady(PodId id) const;
  [[nodiscard]] bool HasEnough(GangId id, const WaitingGang& waiting) const;
  // Whether one of its members is to stand for it in the queue.
  [[nodiscard]] bool MayStand(GangId id, const WaitingGang& waiting) const;
  void CloseGang(GangId id);
  [[nodiscard]] std::optional<std::string> VerifyGangs() const;
  // Some of it have a place, and fewer than its minimum.
  [[nodiscard]] bool IsIncomplete(GangId id) const;
  [[nodiscard]] bool IsOnItsWay(GangId id, PodId member) const;
  // So many of it have a place, or have done their work, and are enough; 0: they are not.
  [[nodiscard]] std::size_t EnoughOf(GangId id) const;
  // What it asks for may have become more, of which so many were enough before.
  void NoteGrown(GangId id, std::size_t were_enough, Time now);
  void OnListed(Time now);  // the grace of a gang that is found incomplete has begun before us
  [[nodiscard]] framework::GangArgs GangArgsOf(const cluster::Gang& gang) const;
  // Members that have yet to get a place so that the gang has its minimum.
  [[nodiscard]] std::size_t NeededBy(GangId id) const;
  // The pod came, changed, or waits again. Nothing if it is no member of a gang.
  void NoteMember(PodId id, Time now);
  // What the pod, or its gang, was refused for may be something else now.
  void TryAnew(PodId id, Time now);
  // Members have joined a gang that did not fit: it is tried again, after its back-off.
  void TryAgainWith(GangId gang, Time now);
  bool AsksForLess(GangId id, WaitingGang& waiting);   // than when it was planned, or for another
  void ForgetMember(GangId gang, PodId id, Time now);  // it waits as a member no more
  // How many of it have finished may have changed. Nothing if it is none.
  void RevisitGang(GangId gang, Time now);
  // Who stands for it, and what is to be said, after anything changed.
  void SettleGang(GangId id, Time now);
  // Something has changed from which that follows: it is settled before anybody can see it.
  void Touch(GangId id);
  void SettleTouched(Time now);
  void Promote(WaitingGang& waiting, Time now);
  void DecideGang(PodId id, GangId gang, Time now);
  // core_gang_refusal.cc: whether there are no places where plans may be, or others than tried.
  void ConcludeHere(const Aspirants& who, GangPlanner& planner, GangPlan& plan);
  // The same for no more than must start; and where no one of them may be missing.
  void SearchHere(const Aspirants& who, GangPlanner& planner, GangPlan& plan);
  void ConcludeForAll(std::span<const PodId> comers, GangPlanner& planner, GangPlan& plan);
  // Whether a count shows that there is too little room for a role.
  bool CountRoles(const Aspirants& who, GangPlanner& planner, GangPlan& plan);
  GangGoal::Places Search(std::span<const std::pair<PodId, std::size_t>> members,
                          const GangCount& count, const GangGoal& goal, GangPlan& plan);
  // `together`: in one domain of a label. `with_others`: who may be placed at the same time.
  [[nodiscard]] GangCount CountFor(std::span<const PodId> members,
                                   std::vector<std::pair<PodId, std::size_t>>& by_kind,
                                   Symbol together = {}, bool with_others = false);
  [[nodiscard]] GangPlanner MakePlanner(GangPlanner::Place place = {});
  // core_gang_planning.cc: places for so many of it as things stand, or whether there are none.
  GangPlan PlanNow(GangId gang, GangPlanner& planner, std::optional<std::size_t> needed = {});
  // For those that are there, and places for the others, unless nullptr.
  GangPlan PlanInParts(PodId id, GangId gang, const Reservation* executors, GangPlanner& planner);
  // What plans it where it is asked, which is anywhere or in one domain after the other.
  std::function<GangPlan()> PlanHere(const Aspirants& who, GangPlanner& planner);
  GangPlan PlanIn(const std::optional<GangDomains>& domains, const Aspirants& who,
                  const std::function<GangPlan()>& plan_here);
  void ConcludeInDomains(const Aspirants& who, const GangDomains& domains, GangPlanner& planner,
                         GangPlan& plan);
  bool CountInDomains(const Aspirants& who, Symbol key, GangPlanner& planner, GangPlan& plan);
  void NameWhatIsScarce(const Aspirants& who, const GangDomains& domains, GangPlanner& planner,
                        GangPlan& plan);
  void RefuseGang(PodId id, GangId gang, const GangPlan& plan, const GangRoom& room, Time now);
  using Nomination = std::function<std::optional<NodeRow>(PodId)>;
  // The members other than the one whose turn it was.
  void TellOthers(PodId id, GangId gang, const GangRefusal& refusal, const Nomination& nomination,
                  Time now);
  void Depart(PodId id, GangId gang, const GangPlan& plan, Time now);
  [[nodiscard]] bool IsBeginning(GangId id) const;
  void AwaitGang(PodId id, Time now);
  // True: something is still being written about one of them.
  bool AwaitStatuses(Departure& departure);
  void SendTogether(std::uint64_t number, Time now);
  [[nodiscard]] std::optional<LostPlace> FindLostPlace(const Departure& departure);
  void PlanAgain(std::uint64_t number, const LostPlace& lost, Time now);
  void CancelDeparture(std::uint64_t number, Time now);
  // A pod that may be on its way by itself has become a member: it is planned with the others.
  void JoinOthers(PodId id, Time now);
  // Takes those back that were given a time for it and are not ready to be bound.
  void EndLateDepartures(Time now);
  void PlanReports(GangId id, WaitingGang& waiting, bool missing, Time now);
  void MakeReports(Time now);
  void ReportIncomplete(GangId id, WaitingGang& waiting, Time now);
  void TellGang(GangId id, GangOutcome outcome, std::size_t pods, Duration waited) const;
  void TellGangAttempt(PodId id, GangResult result) const;
  void CountBound(PodId id, Time now);
  void NoteBound(PodId id);

  // ---- core_gang_preemption.cc: making room for them ----
  // Others are being evicted for it.
  [[nodiscard]] bool MakesRoom(GangId id) const;
  // Pods that were evicted for it still stand where its members are to go, and are not overdue.
  // `id`: the member whose turn it is.
  [[nodiscard]] bool RoomIsComing(PodId id, const WaitingGang& waiting, Time now);
  // Who goes along with the victims of a single pod: the rest of gangs that they leave too small.
  std::vector<PodId> RestOfGangs(PodId preemptor, const std::vector<PodId>& victims);
  GangRoom FindRoom(PodId id, const Aspirants& who, GangPlanner& planner, Time now);
  GangRoom FindRoomIn(const std::optional<GangDomains>& domains,
                      const std::function<GangRoom()>& find_here);
  // The same for a driver, with those that are there and, unless nullptr, places for the others.
  GangRoom FindRoomInParts(PodId id, GangId gang, const Reservation* executors, Time now);
  [[nodiscard]] bool MayMakeRoom(PodId id, const WaitingGang& waiting, Time now);
  std::optional<Time> WhenToRetry(PodId id, const WaitingGang& waiting, Time now);
  GangPreemptor MakePreemptor(PodId id, GangPlanner& planner, Time now);
  // Who judges where the pod, or what stands for one to come, may be.
  [[nodiscard]] const framework::Profile& JudgeOf(PodId id);
  // Who has to go for which of the members.
  [[nodiscard]] std::vector<std::pair<PodId, Placement>> Shares(const GangRoom& room);

  // ---- core_backfill.cc: keeping room for who waits ----
  void SwitchOnBackfill();  // if a profile has it
  [[nodiscard]] Waiter WaiterOf(PodId id, GangId gang);
  // The pod that waits for its turn, for itself or for the gang; none: nobody does any more.
  [[nodiscard]] std::optional<Waiter> FindWaiter(PodId id, GangId gang);
  [[nodiscard]] PodId WhoWaits(PodId id, GangId gang);
  Backfill::Places PlanFor(const Waiter& waiter);
  Backfill::Places PlanMembers(const Waiter& waiter, GangPlanner& planner);
  Backfill::Places PlanDriver(const Waiter& waiter, GangPlanner& planner);
  std::string NobodyGoesFor(const Waiter& waiter);
  // Where the pod, for itself or for the gang that is being planned, delays nobody.
  Placement PlaceBeside(Detour& detour, PodId pod);
  // Whether the pod may start on the node, or else on another, which is given then.
  Passing MayStart(const Waiter& waiter, NodeRow& node, Time now);
  // Turns a place down that would break a promise, or promises a start to who has none.
  void ConsiderPromises(PodId id, Placement& placement, Time now);
  // Places that break no promise, if there are any; `passing`: whether those found may be taken.
  GangPlan PlanInTurn(const GangTurn& turn, const Waiter& waiter, GangPlanner& planner,
                      Passing& passing, Time now);
  // `held`: it fits, and would break a promise.
  GangPlan PlanBeside(const GangTurn& turn, GangPlanner& planner, bool& held, Time now);
  void HoldGang(PodId id, GangId gang, const GangPlan& plan, Time now);
  std::string PromiseText(const Waiter& waiter, Time now);
  void NoteStart(const Waiter& waiter, Passing passing, Time now);
  // Let those try again whose promised start has passed; who was held back for one that is gone.
  void RenewPromises(Time now);
  void ReleaseHeld(Time now);

  // ---- core_gang_objects.cc: objects that say how many start together ----
  void OnGangObject(const k8s::Object& object, bool there, Time now);
  void OnDemandChanged(GangId id, bool was_together, Time now);
  // Warns, once, of a waiting pod that says two things about its gang, or less than another of it.
  void NoteConflict(PodId id);
  // Of all members, if one has come that says more than those that were there.
  void NoteConflictsIn(GangId id, WaitingGang& waiting);

  // ---- core_group_conditions.cc: what their objects say of them ----
  void NoteGroupObject(const k8s::Object& object, bool there, Time now);
  // Its pods may have the places that they must have.
  void NoteGroupStarted(GangId id, Time now);
  void NoteStartedGroups(Time now);
  // A member was refused; nothing if its group has all that must start.
  void NoteGroupRefused(PodId id, std::string_view reason, const std::string& message, Time now);
  // Nothing is written before somebody drives us: who only listens learns what others wrote.
  void WriteGroupConditions(Time now);

  // ---- core_reservations.cc: room that is kept for pods to come ----
  void OnReservation(const k8s::ResourceReservation& object, bool there, Time now);
  void RemoveReservation(const std::string& key, Time now);
  void EndReservation(Reservation& reservation, ReservationStage stage, Time now);
  // Those that the pod may use.
  [[nodiscard]] std::vector<Reservation*> ReservationsFor(PodId id);
  // The plan stays: those who have a place by it use what is theirs, and the rest is held again.
  void SettleLoan(const Loan& loan, std::span<const std::pair<PodId, NodeRow>> places, Time now);
  Placement PlaceOne(PodId id, Time now);
  // The pod has a place on the node; invalid: it has none any more.
  void Use(PodId id, NodeRow row, Time now);
  void NoteUse(PodId id, Time now);
  void StopUse(Reservation& reservation, PodId id);
  void ResizeHold(Reservation::Place& place);
  void FreeHold(Reservation::Place& place, Time now);
  void DropHold(Reservation::Place& place, Time now);
  void EraseHold(PodId hold);
  // Holds leave a node that has too little for what is on it.
  void YieldHolds(NodeRow row, bool all = false);
  // Everything that is due of reservations: begins, ends, places, statuses.
  void SettleReservations(Time now);
  void SettleReservation(Reservation& reservation, bool moved, Time now);
  // All that is left of it, or nothing; for work that has begun, no less than before.
  void HoldPlaces(Reservation& reservation, Time now);
  std::optional<Placement> PlaceTogether(Reservation& reservation);
  std::optional<Placement> RefuseDriver(PodId driver);
  void MakeHolds(Reservation& reservation);
  // As part of a plan. Why there is no room, if so: the plan is then to be taken back.
  std::optional<Placement> PlaceHolds(const Reservation& reservation);
  [[nodiscard]] bool HasServed(const Reservation& reservation) const;
  void ReportReservation(Reservation& reservation, Time now);
  void OnReservationWritten(const ActionFinished& finished, Time now);
  [[nodiscard]] std::optional<std::string> VerifyReservations() const;
  [[nodiscard]] std::optional<std::string> VerifyDrivers() const;

  // ---- core_drivers.cc: gangs whose pods are made by one of them ----
  void NoteDriver(PodId id, const k8s::Pod& pod);
  void ForgetDriver(PodId id, Time now);
  void RememberExecutors(GangId gang, const GangPlan& plan);
  void SettleDriver(GangId id, Time now);
  // It may be evicted from now on: who could do with its room is tried again, as if it had gone.
  void TellMayGo(PodId id, Time now);
  void TellWhoMayGo(GangId gang, Time now);  // some of it may that could not without the others
  // For so many that it has yet to make, unplanned; nullptr: of unknown shape, or reserved already.
  Reservation* MakeExecutorPlaces(GangId id, std::size_t count, Time since);
  void DropExecutorPlaces(GangId id, Time now);
  // Those for which room was being made.
  void DropUnheldPlaces(GangId id, Time now);
  // They are where they are to be.
  void HoldExecutorPlaces(const GangPlan& plan, Reservation& executors);
  // There is no room for all: where it is made, it is kept from others; otherwise nothing is kept.
  void AwaitExecutorRoom(PodId id, GangId gang, Reservation& executors, const GangRoom& room,
                         Time now);
  // Of the domain to which plans are confined at present, if they are.
  GangPlan PlanBothHere(GangId gang, const Reservation* executors, GangPlanner& planner);
  // False: there is no room for them, and none for the plan.
  bool PlanExecutors(const Reservation& executors, GangPlan& plan);
  std::optional<GangDomains> DomainsInParts(const Aspirants& who, const GangPlanner& planner);
  // Those of drivers that run already, and were not started by us.
  void KeepExecutorPlaces(Time now);

  // A pod that was popped.
  void Decide(PodId id, Time now);
  // Nothing more is to be done in this attempt: says why, and makes room if that was found.
  void Refuse(PodId id, Placement placement, Time now);

  // ---- core_extenders.cc: asking extenders ----
  // False: no extender has a say about where the pod goes.
  bool StartRound(PodId id, Time now);
  void Restart(PodId id, Time now);
  void Screen(PodId id, bool nominated_first, Time now);
  void FilterNext(PodId id, Time now);
  void AskForScores(PodId id, Time now);
  void Choose(PodId id, Time now);
  // Nothing is left, or nothing was there from the beginning.
  void RefuseRound(PodId id, Placement placement, Time now);
  void AskAboutVictims(PodId id, Time now);
  void Evict(PodId id, Time now);
  void FailRound(PodId id, const std::string& message, Time now);
  void Ask(PodId id, std::size_t extender, ExtenderVerb verb, Time now);
  void OnExtenderAnswer(const ExtenderAnswered& answered, Time now);
  void OnFiltered(PodId id, const framework::Extender& extender, const ExtenderAnswer& answer,
                  Time now);
  void OnScored(PodId id, const framework::Extender& extender, const ExtenderAnswer& answer,
                Time now);
  void OnVictims(PodId id, const framework::Extender& extender, const ExtenderAnswer& answer,
                 Time now);
  // What is left of them; an error: why that cannot be believed. nullopt: who was asked about left.
  std::optional<Result<std::vector<Preemptor::Candidate>>> Believe(
      const ExtenderRound& round, const framework::Extender& extender,
      const ExtenderAnswer& answer) const;
  [[nodiscard]] std::vector<NodeRow> RowsOf(const std::vector<std::string>& names) const;
  // The extender that binds the pod, if one does.
  [[nodiscard]] std::optional<std::size_t> BinderOf(PodId id) const;
  bool BindByExtender(PodId id, Time now);

  // ---- core_gang_extenders.cc: asking extenders about members of gangs ----
  void DecideAsking(PodId id, GangId gang, Time now);
  [[nodiscard]] std::vector<std::string> NodesInQuestion(PodId member);
  // nullptr: nobody has a say in where it goes, or nobody was asked.
  [[nodiscard]] const GangRound::Kind* SaidAbout(PodId member);
  // The best place for a member, or what stands for one, in a plan.
  Placement PlaceMember(PodId member);
  [[nodiscard]] bool FitsOn(PodId member, NodeRow row);
  [[nodiscard]] KindRoom RoomOf(PodId member, bool alone);

  // ---- core_preemption.cc: making room ----
  // Before the pod goes back into the queue, and after.
  void AnnouncePlan(PodId id, const Placement& placement, Time now);
  void CarryOutPlan(PodId id, const Placement& placement, Time now);
  // Can be taken back in memory: it has a place and was not yet bound to it.
  [[nodiscard]] bool CanBeTakenBack(PodId id) const;
  void TakeBack(PodId victim, PodId preemptor, std::string_view plugin, Time now);
  void ClearLowerNominations(PodId preemptor, NodeRow row, Time now);
  void SendEvictions(Evictions::PlanId plan, Time now);
  void OnEvictionFinished(const ActionFinished& finished, Time now);
  void EndPlan(Evictions::PlanId plan, Time now);
  // A pod that may be one that was asked to go goes.
  void OnLeaving(PodId id, Time now);
  // The same of one that was asked to; `answered`: the plan whose answer is being read goes on.
  void NoteGoing(const std::string& uid, std::optional<Evictions::PlanId> answered, Time now);
  // It has no time left: whoever is tried before it is gone is tried in vain.
  [[nodiscard]] bool GoesInAMoment(PodId id, Time now) const;
  void OnLastMoment(PodId id, Time now);
  // All were asked to go: lets the plan end when they should have gone.
  void AwaitVictims(Evictions::PlanId id, Time now);
  // The pod needs no room any more.
  void ForgetPlanFor(PodId id, Time now);
  // Those stay whom no plan evicts any more, unless they go; who counts on their room looks again.
  void SpareThose(const std::vector<PodRef>& victims, Time now);
  // Room that was kept for a pod on a node is not kept any more.
  void TellNominationGone(PodId id, NodeRow row, Time now);

  // ---- actions ----
  void DropAnswered();
  [[nodiscard]] bool IsAwaited(ActionId action) const;
  template <class What>
  ActionId Emit(What what) {
    actions_.push_back({++last_action_, std::move(what)});
    return last_action_;
  }
  void EmitEvent(PodId id, bool warning, std::string_view reason, std::string_view action,
                 std::string note);
  [[nodiscard]] PodRef RefTo(PodId id) const;
  [[nodiscard]] const framework::Profile& ProfileOf(PodId id) {
    return profiles_[judge_.ProfileOf(id)];
  }
  [[nodiscard]] framework::PodView ViewOf(PodId id) const {
    return {state_, state_.class_of(id), id};
  }
  // Waits for us to place it: unbound, not on its way, of one of our profiles.
  [[nodiscard]] bool IsOurs(PodId id) const { return judge_.FindProfile(id).has_value(); }

  EngineOptions options_;
  std::vector<framework::Profile> profiles_;
  cluster::State state_;
  GangBook gangs_;
  PluginJudge judge_;
  Queue queue_;
  Placer placer_;
  std::unique_ptr<Backfill> backfill_;  // nullptr: no profile has it
  absl::flat_hash_map<PodId, Flight> flights_;
  absl::flat_hash_map<ActionId, PodId> awaited_;
  // All but questions, which name their own: the oldest is always in front.
  std::deque<std::pair<Time, ActionId>> answer_deadlines_;
  std::set<std::pair<Time, ActionId>> question_deadlines_;
  absl::flat_hash_map<PodId, ScheduledCondition> conditions_;
  absl::flat_hash_map<ActionId, PodId> patches_;  // of conditions, not yet reported on
  // Where a pod could not be bound, the last at the end; a row may be another node by now.
  absl::flat_hash_map<PodId, std::vector<NodeRow>> failed_on_;
  Evictions evictions_;
  ExtenderRounds rounds_;
  GangExtenders gang_extenders_;
  Departures departures_;
  std::map<GangId, GangBinding> gang_bindings_;
  GroupConditions group_conditions_;
  ReservationBook reservations_;
  Drivers drivers_;
  DrivenGangs driven_;
  LentRoom lent_;
  std::set<GangId> touched_;
  std::optional<std::size_t> reserving_;  // the profile that judges places
  bool reservations_due_ = false;         // something may have to be done about them
  bool holds_moved_ = false;              // holds had to leave their nodes
  bool listed_ = false;                   // all there is has been told once
  std::vector<Action> actions_;
  PodId decided_;
  Time decided_at_;
  ActionId last_action_ = 0;
};

}  // namespace knx::engine
