#include "sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/gang_declaration.h"
#include "k8s/owner.h"
#include "sim/full_check.h"
#include "sim/gang_start.h"

namespace knx::sim {
namespace {

constexpr std::array<InvariantInfo, 16> kInvariants = {{
    {"bindable-pod", "only pods that are there, ours and free to go are bound"},
    {"bound-once", "a pod is bound once and never moves"},
    {"capacity", "no decision has more of a resource of a node taken than it has"},
    {"delivery", "what the scheduler was told is the truth once everything was delivered"},
    {"eligible-node", "a pod is bound only to a node that is there and that it may be on"},
    {"gang-grace", "no gang is partly placed beyond its grace, where such gangs are evicted"},
    {"gang-start", "of a gang that has not begun as many are bound at once as must start"},
    {"host-ports", "no two pods use one port of a node"},
    {"idle", "the scheduler does not rest while a pod is ready to be decided about"},
    {"planned-eviction", "a pod is evicted only for a more important one that fits without it"},
    {"pod-count", "no decision puts more pods on a node than it has room for"},
    {"progress", "time moves on: nothing goes round in circles at one instant"},
    {"recount", "what the scheduler keeps counted is right when counted anew"},
    {"standing", "every pod is bound, on its way, queued or waiting for a named reason"},
    {"view", "the scheduler's state is what it was told and what it decided"},
    {"wake-up", "no pod waits for something that has happened"},
}};

std::string Name(const engine::PodRef& pod) {
  return fmt::format("{}/{}", pod.namespace_, pod.name);
}

}  // namespace

std::span<const InvariantInfo> InvariantList() { return kInvariants; }

Invariants::Invariants(const Agenda& agenda, Time begin, Store& store, const ToldView& told,
                       Checking checking)
    : agenda_(agenda), begin_(begin), store_(store), told_(told), checking_(checking) {
  store.Listen(*this);
}

void Invariants::Report(std::string_view invariant, std::string what) {
  // What does not move on would never end, whether it is checked or not.
  const bool counts = checking_ != Checking::kOff || invariant == "progress";
  if (!counts || violation_.has_value()) return;
  violation_ = Violation{std::string(invariant), agenda_.now() - begin_, std::move(what)};
}

void Invariants::OnStart() {
  for (const auto& [node, version] : bound_) {
    std::uint64_t& touched = touched_[node];
    touched = std::max(touched, version);
  }
  bound_.clear();
  held_back_.clear();
  together_.clear();
  grace_.OnStart();
}

void Invariants::OnToldGone(const std::string& uid) { Release(uid); }

// ---- writes ----

void Invariants::OnWrite(const Write<k8s::Node>& write) {
  touched_[write.any().meta.name] = write.version;
}

void Invariants::OnWrite(const Write<k8s::Pod>& write) {
  NoteRound(write);
  const k8s::Pod& pod = write.any();
  const std::string& was_on = write.before ? write.before->spec.node_name : "";
  const bool goes = write.after == nullptr || (write.after->meta.deleted.has_value() &&
                                               !write.before->meta.deleted.has_value());
  if (goes && write.before != nullptr && write.by == Actor::kScheduler &&
      !evicted_.contains(pod.meta.uid)) {
    Report("planned-eviction", fmt::format("{} was deleted without a plan", KeyOf(pod)));
  }
  if (write.after == nullptr) {
    decided_with_.erase(pod.meta.uid);
    resized_.erase(pod.meta.uid);
    return;
  }
  const std::string& is_on = write.after->spec.node_name;
  const bool resized =
      write.before != nullptr && !(RequestsOf(*write.before) == RequestsOf(*write.after));
  if (is_on.empty() && was_on.empty()) {
    if (resized) resized_[pod.meta.uid] = write.version;
    return;
  }
  if (!was_on.empty() && is_on != was_on) {
    Report("bound-once", fmt::format("{} was on {} and is now on {}", KeyOf(pod), was_on,
                                     is_on.empty() ? "none" : is_on));
  }
  if (was_on.empty() && write.by == Actor::kScheduler) {
    OnBindingArrived(*write.after, write.version);
  } else if (was_on.empty() || resized) {
    touched_[is_on] = write.version;
  }
}

// A binding of ours arrived. If we knew everything about the pod and the node when it was decided,
// then there must be room now.
void Invariants::OnBindingArrived(const k8s::Pod& pod, std::uint64_t version) {
  const std::string& node = pod.spec.node_name;
  const auto decided = decided_with_.find(pod.meta.uid);
  const auto rules = rules_.find(pod.spec.scheduler_name);
  const auto known = [&](const std::map<std::string, std::uint64_t>& changed,
                         const std::string& key) {
    const auto found = changed.find(key);
    return decided != decided_with_.end() &&
           (found == changed.end() || found->second <= decided->second);
  };
  const bool knew_pod = known(resized_, pod.meta.uid);
  if (rules != rules_.end() && knew_pod && known(touched_, node)) CheckTruth(pod, rules->second);
  // Who was bound without a look at all the room there is, or asks for more than was known, takes
  // room from those who were decided about before, which they could not foresee.
  const bool foreseeable = knew_pod && rules != rules_.end() && rules->second.CountsAllRoom();
  (foreseeable ? bound_ : touched_)[node] = version;
  if (decided != decided_with_.end()) decided_with_.erase(decided);
  resized_.erase(pod.meta.uid);
}

void Invariants::CheckTruth(const k8s::Pod& pod, const ProfileRules& rules) {
  const std::string& name = pod.spec.node_name;
  const NodePtr node = store_.Find<k8s::Node>(name);
  if (node == nullptr) return;
  std::vector<std::pair<PodPtr, Amounts>> others;
  for (const std::string& key : store_.PodsOn(name)) {
    const PodPtr other = store_.Find<k8s::Pod>(key);
    if (other->meta.uid == pod.meta.uid || IsFinished(*other)) continue;
    others.emplace_back(other, RequestsOf(*other));
  }
  std::vector<Guest> guests;
  for (const auto& [other, requests] : others) guests.push_back({other.get(), &requests});
  const Amounts requests = RequestsOf(pod);
  if (const auto no_room = Overfills(rules, {&pod, &requests}, *node, guests)) {
    Report(no_room->invariant,
           fmt::format("{} was bound to {}, which now has {}", KeyOf(pod), name, no_room->what));
  }
}

// ---- decisions ----

void Invariants::OnDecision(const engine::BindPod& bind, std::uint64_t told_version) {
  const auto held = held_back_.find(bind.pod.uid);
  if (held == held_back_.end()) {
    decided_with_[bind.pod.uid] = told_version;
    return CheckPlacement(bind.pod, bind.node);
  }
  if (held->second.node != bind.node) {
    Report("eligible-node", fmt::format("{} is bound to {} and had its place on {}", Name(bind.pod),
                                        bind.node, held->second.node));
  }
  const bool looked_again = together_.contains(bind.pod.uid);
  decided_with_[bind.pod.uid] = looked_again ? told_version : held->second.told_version;
  Release(bind.pod.uid);
  if (looked_again) CheckPlacement(bind.pod, bind.node);
}

void Invariants::OnHeldBack(const engine::PodRef& pod, const std::string& node, bool together,
                            std::uint64_t told_version) {
  if (!held_back_.try_emplace(pod.uid, HeldBack{node, told_version}).second) return;
  if (together) together_.insert(pod.uid);
  CheckPlacement(pod, node);
}

void Invariants::AfterCall(const engine::Engine& engine, std::span<const engine::Action> actions) {
  if (const auto half = CheckGangStart(engine, told_, rules_, actions)) Report("gang-start", *half);
  std::vector<std::string> back;
  for (const auto& [uid, held] : held_back_) {
    if (engine.Standing(uid) != engine::PodStanding::kPaused) back.push_back(uid);
  }
  for (const std::string& uid : back) Release(uid);
  CheckGrace(engine);
}

void Invariants::CheckGrace(const engine::Engine& engine) {
  if (checking_ == Checking::kOff) return;
  const auto half = grace_.Check(engine, told_, rules_, agenda_.now());
  if (half) Report("gang-grace", *half);
}

void Invariants::CheckPlacement(const engine::PodRef& pod, const std::string& node) {
  const ToldView::Told* told = told_.FindPod(pod.uid);
  if (told == nullptr) {
    return Report("bindable-pod", fmt::format("{} is bound and not there", Name(pod)));
  }
  const auto rules = rules_.find(told->pod->spec.scheduler_name);
  if (rules == rules_.end()) {
    return Report("bindable-pod", fmt::format("{} is bound and not ours", Name(pod)));
  }
  if (!told->pod->spec.scheduling_gates.empty()) {
    return Report("bindable-pod", fmt::format("{} is bound behind its gate", Name(pod)));
  }
  if (told->pod->meta.deleted.has_value()) {
    return Report("bindable-pod", fmt::format("{} is bound on its way out", Name(pod)));
  }
  if (const std::string& there = told_.NodeOf(pod.uid); !there.empty()) {
    return Report("bound-once",
                  fmt::format("{} is bound to {} and was to {}", Name(pod), node, there));
  }
  CheckAgainstTold(pod, node, rules->second);
}

void Invariants::CheckAgainstTold(const engine::PodRef& pod, const std::string& name,
                                  const ProfileRules& rules) {
  const NodePtr node = told_.FindNode(name);
  if (node == nullptr) {
    return Report("eligible-node",
                  fmt::format("{} is bound to {}, which is not there", Name(pod), name));
  }
  const ToldView::Told* told = told_.FindPod(pod.uid);
  if (const auto why = Forbids(rules, *told->pod, *node)) {
    return Report("eligible-node", fmt::format("{} is bound to {}: {}", Name(pod), name, *why));
  }
  const Guest guest{told->pod.get(), &told->requests};
  if (const auto no_room = Overfills(rules, guest, *node, GuestsOn(name, {pod.uid}))) {
    Report(no_room->invariant,
           fmt::format("{} is bound to {}, which would have {}", Name(pod), name, no_room->what));
  }
}

std::vector<Guest> Invariants::GuestsOn(const std::string& node,
                                        const std::set<std::string>& leaving) const {
  std::vector<Guest> out;
  const auto add = [&](const std::string& uid) {
    const ToldView::Told* told = told_.FindPod(uid);
    if (told != nullptr && !leaving.contains(uid))
      out.push_back({told->pod.get(), &told->requests});
  };
  for (const std::string& uid : told_.PodsOn(node)) add(uid);
  for (const auto& [uid, held] : held_back_) {
    if (held.node == node && told_.NodeOf(uid).empty()) add(uid);
  }
  return out;
}

// ---- evictions ----

void Invariants::OnPlan(const engine::PlanEvictions& plan) {
  if (const auto complaint = ComplaintAbout(plan)) {
    return Report("planned-eviction", fmt::format("making room for {} on {}: {}",
                                                  Name(plan.preemptor), plan.node, *complaint));
  }
  for (const auto* going : {&plan.victims, &plan.along}) {
    for (const engine::PodRef& victim : *going) {
      planned_.emplace(victim.uid, plan.preemptor.uid);
      grace_.OnEviction(victim.uid, false);
    }
  }
}

std::optional<std::string> Invariants::ComplaintAbout(const engine::PlanEvictions& plan) const {
  const ToldView::Told* preemptor = told_.FindPod(plan.preemptor.uid);
  if (preemptor == nullptr) return "the pod is not there";
  const auto rules = rules_.find(preemptor->pod->spec.scheduler_name);
  if (rules == rules_.end()) return "the pod is not ours";
  if (!told_.NodeOf(plan.preemptor.uid).empty()) return "the pod has a place";
  if (preemptor->pod->spec.preemption_policy == k8s::PreemptionPolicy::kNever) {
    return "the pod may not preempt";
  }
  if (plan.victims.empty() && plan.along.empty()) return "nobody has to go";
  std::set<std::string> leaving;
  const std::int32_t priority = preemptor->pod->spec.priority.value_or(0);
  for (const engine::PodRef& victim : plan.victims) {
    const ToldView::Told* told = told_.FindPod(victim.uid);
    if (told == nullptr) return fmt::format("{} is not there", Name(victim));
    if (told->pod->spec.priority.value_or(0) >= priority) {
      return fmt::format("{} is no less important", Name(victim));
    }
    const auto held = held_back_.find(victim.uid);
    const bool there = told_.NodeOf(victim.uid) == plan.node ||
                       (held != held_back_.end() && held->second.node == plan.node);
    if (!there) return fmt::format("{} is not on that node", Name(victim));
    leaving.insert(victim.uid);
  }
  for (const engine::PodRef& victim : plan.along) {
    const ToldView::Told* told = told_.FindPod(victim.uid);
    if (told == nullptr) return fmt::format("{} is not there", Name(victim));
    if (told->pod->spec.priority.value_or(0) >= priority) {
      return fmt::format("{} is no less important", Name(victim));
    }
  }
  const NodePtr node = told_.FindNode(plan.node);
  if (node == nullptr) return "the node is not there";
  if (const auto why = Forbids(rules->second, *preemptor->pod, *node)) return why;
  // Who goes by an earlier plan, or with its gang, may be counted as gone.
  for (const std::string& uid : told_.PodsOn(plan.node)) {
    const auto planned = planned_.lower_bound({uid, ""});
    const bool goes = planned != planned_.end() && planned->first == uid;
    if (goes || evicted_.contains(uid)) leaving.insert(uid);
  }
  const Guest guest{preemptor->pod.get(), &preemptor->requests};
  if (const auto no_room = Overfills(rules->second, guest, *node, GuestsOn(plan.node, leaving))) {
    return fmt::format("it would still have {}", no_room->what);
  }
  return std::nullopt;
}

void Invariants::OnEviction(const engine::EvictPod& evict) {
  const ToldView::Told* told = told_.FindPod(evict.pod.uid);
  const bool planned =
      evict.preemptor
          ? planned_.contains({evict.pod.uid, evict.preemptor->uid})
          : told != nullptr &&
                cluster::ReadGangDeclaration(*told->pod, cluster::OperatorGangs::kRead).has_value();
  if (!planned) {
    Report("planned-eviction", fmt::format("{} is evicted without a plan", Name(evict.pod)));
  }
  evicted_.insert(evict.pod.uid);
  grace_.OnEviction(evict.pod.uid, !evict.preemptor.has_value());
}

// ---- steps ----

void Invariants::OnIdle(const engine::Engine& engine) {
  if (const std::size_t active = engine.queue().Count(engine::QueuePlace::kActive); active > 0) {
    Report("idle", fmt::format("{} pods are ready and none is taken", active));
  }
}

void Invariants::AfterStep(const engine::Engine* engine, bool current) {
  ++steps_;
  CheckProgress();
  if (engine != nullptr) CheckGrace(*engine);
  if (checking_ < Checking::kSparing || engine == nullptr) return;
  if (steps_ - last_full_check_ >= StepsPerFullCheck()) FullCheck(*engine, current);
}

std::int64_t Invariants::StepsPerFullCheck() const {
  const std::size_t nodes = store_.All<k8s::Node>().size();
  const std::size_t pods = store_.All<k8s::Pod>().size() +
                           store_.All<k8s::PersistentVolumeClaim>().size() +
                           store_.All<k8s::PersistentVolume>().size();
  if (nodes < kSmallCluster && pods <= kFewPods) return 1;
  if (checking_ == Checking::kAsInTests) return kStepsPerFullCheck;
  return std::max(kStepsPerFullCheck, static_cast<std::int64_t>(nodes + pods) / kCountedPerStep);
}

void Invariants::CheckProgress() {
  if (agenda_.now() != last_step_) {
    last_step_ = agenda_.now();
    steps_now_ = 0;
    rounds_.clear();
  }
  ++steps_now_;
  if (steps_now_ % kStepsAtOneTime != 0 || steps_now_ <= MostStepsNow()) return;
  std::vector<std::pair<std::int64_t, std::string>> most;
  for (const auto& [what, count] : rounds_) most.emplace_back(-count, what);
  std::sort(most.begin(), most.end());
  constexpr std::size_t kNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(most.size(), kNamed); ++i) {
    text += fmt::format("{}{} times {}", i == 0 ? "" : ", ", -most[i].first, most[i].second);
  }
  Report(
      "progress",
      fmt::format("{} steps and no time passes; of late: {}", steps_now_,
                  text.empty() ? "nothing changes, but something is tried again and again" : text));
}

// Pods that controllers made at this very instant may be the circle.
std::int64_t Invariants::MostStepsNow() const {
  auto things = static_cast<std::int64_t>(store_.All<k8s::Node>().size());
  for (const auto& [key, pod] : store_.All<k8s::Pod>()) {
    const bool made_now = pod->meta.created == agenda_.now() && ControllerOf(pod->meta) != nullptr;
    things += made_now ? 0 : 1;
  }
  for (const auto& [key, workload] : store_.All<k8s::Workload>()) things += workload->replicas;
  for (const auto& [key, job] : store_.All<k8s::Job>()) {
    things += std::max(job->parallelism, job->completions.value_or(0));
  }
  return kStepsAtOneTime + kStepsAtOneTimeForEach * things;
}

void Invariants::NoteRound(const Write<k8s::Pod>& write) {
  constexpr std::int64_t kUsual = kStepsAtOneTime / 2;
  constexpr std::size_t kMostKinds = 1000;
  if (agenda_.now() != last_step_ || steps_now_ < kUsual || rounds_.size() > kMostKinds) return;
  std::string_view what = "changed";
  if (write.before == nullptr) {
    what = "made";
  } else if (write.after == nullptr) {
    what = "removed";
  } else if (write.before->spec.node_name != write.after->spec.node_name) {
    what = "bound";
  } else if (!IsFinished(*write.before) && IsFinished(*write.after)) {
    what = "finished";
  } else if (!write.before->meta.deleted && write.after->meta.deleted) {
    what = "deleted";
  }
  const k8s::Pod& pod = write.any();
  const auto maker = MakerOf(pod.meta);
  ++rounds_[maker ? fmt::format("a pod of {} {} was {}", maker->kind, maker->name, what)
                  : fmt::format("pod {} was {}", KeyOf(pod), what)];
}

void Invariants::FullCheck(const engine::Engine& engine, bool current) {
  ++full_checks_;
  last_full_check_ = steps_;
  if (const auto difference = engine.Verify()) Report("recount", *difference);
  if (const auto difference = CompareView(engine, told_)) Report("view", *difference);
  if (const auto difference = CheckStandings(engine, told_, rules_)) {
    Report("standing", *difference);
  }
  if (!current) return;
  if (const auto difference = CompareTruth(store_, told_)) Report("delivery", *difference);
}

void Invariants::OnSettled(engine::Engine& engine, bool current) {
  if (checking_ == Checking::kOff) return;
  CheckGrace(engine);
  FullCheck(engine, current);
  if (!current) return;
  if (const auto difference = CheckWaiting(engine, told_, rules_)) Report("wake-up", *difference);
  if (const auto difference = CheckWaitingGangs(engine, rules_)) Report("wake-up", *difference);
}

void Invariants::OnEnd(const engine::Engine& engine, bool current) {
  CheckGrace(engine);
  if (checking_ >= Checking::kSparing) FullCheck(engine, current);
}

}  // namespace knx::sim
