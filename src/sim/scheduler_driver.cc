#include "sim/scheduler_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "k8s/kind_name.h"
#include "k8s/names.h"
#include "sim/object_json.h"

namespace knx::sim {
namespace {

// Decisions between two looks at what else is due.
constexpr int kSliceOfLargeClusters = 64;

std::string ObjectNames(const k8s::Object& object) {
  const k8s::ObjectMeta& meta = MetaOf(object);
  return fmt::format("\"kind\":\"{}\",\"namespace\":{},\"name\":{}", KindName(object),
                     QuotedText(meta.namespace_), QuotedText(meta.name));
}

std::string EventJson(const engine::Event& event) {
  struct Writer {
    std::string operator()(const engine::NodeUpserted& e) const {
      return fmt::format("\"event\":\"node\",\"node\":{}", ToJson(e.node));
    }
    std::string operator()(const engine::NodeDeleted& e) const {
      return fmt::format("\"event\":\"nodeDeleted\",\"name\":{}", QuotedText(e.name));
    }
    std::string operator()(const engine::PodUpserted& e) const {
      return fmt::format("\"event\":\"pod\",\"pod\":{}", ToJson(e.pod));
    }
    std::string operator()(const engine::PodDeleted& e) const {
      return fmt::format("\"event\":\"podDeleted\",\"uid\":{}", QuotedText(e.uid));
    }
    std::string operator()(const engine::ObjectUpserted& e) const {
      return fmt::format("\"event\":\"object\",{}", ObjectNames(e.object));
    }
    std::string operator()(const engine::ObjectDeleted& e) const {
      return fmt::format("\"event\":\"objectDeleted\",{}", ObjectNames(e.object));
    }
    std::string operator()(const engine::Listed&) const { return "\"event\":\"listed\""; }
    std::string operator()(const engine::ActionFinished& e) const {
      const std::string failure =
          e.failure.has_value() ? fmt::format(",\"failure\":{}", QuotedText(*e.failure)) : "";
      return fmt::format("\"event\":\"finished\",\"action\":{}{}{}", e.action, failure,
                         e.missing ? ",\"missing\":true" : "");
    }
    std::string operator()(const engine::QuestionAnswered& e) const {
      return fmt::format("\"event\":\"answered\",\"action\":{},\"ok\":{},\"text\":{}", e.action,
                         e.answer.ok, QuotedText(e.answer.text));
    }
    std::string operator()(const engine::ExtenderAnswered& e) const {
      return fmt::format("\"event\":\"extender\",\"action\":{},\"failure\":{}", e.action,
                         QuotedText(e.answer.failure.value_or("")));
    }
  };
  return std::visit(Writer{}, event);
}

}  // namespace

SchedulerDriver::SchedulerDriver(Agenda& agenda, Time begin, Store& store, ApiServer& api,
                                 const Timing& timing, std::uint64_t seed, bool keep_log,
                                 Checking checking, SchedulerSetup setup)
    : agenda_(agenda),
      begin_(begin),
      store_(store),
      api_(api),
      timing_(timing),
      setup_(std::move(setup)),
      pods_(
          agenda, store, timing,
          [this](const PodPtr& pod, bool gone) {
            const bool over = gone || IsFinished(*pod);
            over ? told_.OnPodGone(pod->meta.uid) : told_.OnPod(pod);
            if (over) invariants_.OnToldGone(pod->meta.uid);
            Tell(gone ? engine::Event(engine::PodDeleted{pod->meta.uid})
                      : engine::Event(engine::PodUpserted{*pod}));
          },
          [this] {
            invariants_.OnListed();
            Tell(engine::Listed{});
          }),
      nodes_(
          agenda, store, timing,
          [this](const NodePtr& node, bool gone) {
            gone ? told_.OnNodeGone(node->meta.name) : told_.OnNode(node);
            Tell(gone ? engine::Event(engine::NodeDeleted{node->meta.name})
                      : engine::Event(engine::NodeUpserted{*node}));
          },
          [] {}),
      faults_(seed),
      invariants_(agenda, begin, store, told_, checking),
      log_(keep_log) {
  store.Listen(*this);
}

// ---- life ----

void SchedulerDriver::Start(const StartOptions& options) {
  Stop();
  engine_ = std::make_unique<engine::Engine>(setup_.engine, setup_.make_profiles());
  if (std::exchange(ever_started_, true)) {
    ++counts_.restarts;
    log_.Note(agenda_.now() - begin_, "restart");
  }
  invariants_.OnStart();
  RecordCall("start");
  ListOthers<k8s::Namespace, k8s::Service, k8s::Workload, k8s::PodDisruptionBudget>();
  ListOthers<k8s::StorageClass, k8s::CsiDriver, k8s::CsiStorageCapacity, k8s::CsiNode,
             k8s::PersistentVolume, k8s::PersistentVolumeClaim, k8s::VolumeAttachment>();
  ListOthers<k8s::PodGroup, k8s::GroupWorkload, k8s::ResourceReservation>();
  if (options.pods_first) pods_.Start(options.age);
  nodes_.Start(options.age);
  if (!options.pods_first) pods_.Start(options.age);
  synced_ = true;
  AfterCall();
  PlanSlice();
}

void SchedulerDriver::Stop() {
  ++life_;
  engine_.reset();
  told_ = {};
  pods_.Stop();
  nodes_.Stop();
  synced_ = slice_planned_ = false;
  calls_in_flight_ = 0;
  bindings_.clear();
  patches_.clear();
  evictions_.clear();
  armed_ = kNever;
}

// ---- telling and deciding ----

void SchedulerDriver::Tell(engine::Event event) {
  if (setup_.saboteur == nullptr || setup_.saboteur->OnEvent(event)) {
    Record(event);
    engine_->Handle(event, agenda_.now());
  }
  if (!synced_) return;
  AfterCall();
  PlanSlice();
}

void SchedulerDriver::PlanSlice() {
  if (slice_planned_) return;
  slice_planned_ = true;
  agenda_.After({}, [this, life = life_] { Slice(life); });
}

void SchedulerDriver::Slice(std::uint64_t life) {
  if (life != life_) return;
  slice_planned_ = false;
  const bool small = store_.All<k8s::Node>().size() < kSmallCluster;
  const int most = small ? 1 : kSliceOfLargeClusters;
  for (int i = 0; i < most; ++i) {
    if (setup_.saboteur != nullptr && !setup_.saboteur->OnSchedule()) {
      return invariants_.OnIdle(*engine_);
    }
    RecordCall("schedule");
    const bool decided = engine_->ScheduleOne(agenda_.now());
    AfterCall();
    if (!decided) return invariants_.OnIdle(*engine_);
    NoteDecision();
  }
  PlanSlice();
}

// Counts the attempt. A pod that has a place may have to wait for its volumes, for its condition to
// be written, or for an answer before it is bound there.
void SchedulerDriver::NoteDecision() {
  const cluster::State& state = engine_->state();
  const cluster::Pod& pod = state.pod(engine_->decided());
  const engine::PodRef ref{std::string(state.words().Text(pod.namespace_)), pod.name, pod.uid};
  events_.AddAttempt(ref);
  const cluster::GangId gang = state.gang_of(engine_->decided());
  if (!gang.valid()) return NoteHeldBack(engine_->decided(), false);
  for (const cluster::PodId member : state.gangs().Get(gang).members) NoteHeldBack(member, true);
}

void SchedulerDriver::NoteHeldBack(cluster::PodId id, bool together) {
  const cluster::State& state = engine_->state();
  const cluster::Pod& pod = state.pod(id);
  if (engine_->Standing(pod.uid) != engine::PodStanding::kPaused) return;
  const auto rules = invariants_.rules().find(state.class_of(id).spec.scheduler_name);
  const bool waits = rules != invariants_.rules().end() && rules->second.gangs;
  invariants_.OnHeldBack({std::string(state.words().Text(pod.namespace_)), pod.name, pod.uid},
                         state.nodes().name(pod.node), together && waits, told_version());
}

void SchedulerDriver::ArmWake() {
  const Time wake = engine_->NextWake();
  if (wake >= armed_) return;
  armed_ = wake;
  agenda_.At(wake, [this, wake, life = life_] { Wake(wake, life); }, Agenda::Weight::kBackground);
}

void SchedulerDriver::Wake(Time armed, std::uint64_t life) {
  // An earlier one has come in its stead: if each armed the next, there would be ever more of them.
  if (life != life_ || armed != armed_) return;
  armed_ = kNever;
  if (engine_->NextWake() <= agenda_.now()) {
    RecordCall("advance");
    engine_->Advance(agenda_.now());
    told_.GiveUp(agenda_.now() - setup_.engine.max_wait);
    PlanSlice();
  }
  AfterCall();
}

void SchedulerDriver::AfterCall() {
  std::vector<engine::Action> actions = engine_->TakeActions();
  if (setup_.saboteur != nullptr) setup_.saboteur->OnActions(actions);
  for (const engine::Action& action : actions) CarryOut(action);
  invariants_.AfterCall(*engine_, actions);
  ArmWake();
}

void SchedulerDriver::AfterStep() {
  if (setup_.saboteur != nullptr && engine_ != nullptr) setup_.saboteur->AfterStep(*engine_);
  invariants_.AfterStep(engine_.get(), Current());
}

bool SchedulerDriver::Current() const {
  return engine_ != nullptr && pods_.Current() && nodes_.Current();
}

bool SchedulerDriver::Settled() const {
  using engine::QueuePlace;
  if (!Current() || calls_in_flight_ > 0 || told_.unanswered() || slice_planned_) return false;
  if (engine_->preemptions() > 0) return false;
  // A pod that was decided about may still wait for its volumes.
  for (const QueuePlace place :
       {QueuePlace::kActive, QueuePlace::kBackoff, QueuePlace::kErrorBackoff, QueuePlace::kInFlight,
        QueuePlace::kDone}) {
    if (engine_->queue().Count(place) > 0) return false;
  }
  if (engine_->NextChange() < kNever) return false;
  // A pod may be held back until its condition is written.
  return std::none_of(patches_.begin(), patches_.end(), [this](const auto& patch) {
    return engine_->Standing(patch.second.uid) == engine::PodStanding::kPaused;
  });
}

// ---- carrying out ----

void SchedulerDriver::CarryOut(const engine::Action& action) {
  log_.Add(agenda_.now() - begin_, action);
  std::visit([&](const auto& what) { CarryOut(action.id, what); }, action.what);
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::BindPod& bind) {
  ++counts_.binds;
  bindings_.insert(id);
  invariants_.OnDecision(bind, told_version());
  told_.OnDecision(bind.pod.uid, {bind.node, id, agenda_.now(), false});
  const PodPtr pod = store_.FindPod(PodKey(bind.pod.namespace_, bind.pod.name), bind.pod.uid);
  std::optional<CallFault> fault;
  if (pod != nullptr) fault = faults_.Strike(Call::kBind, *pod, agenda_.now());
  // A binding that the scheduler will hold for failed, or knows nothing of any more, is to it like
  // one of somebody else.
  const bool denied = fault.has_value() && fault->kind == CallFault::Kind::kAnswerLost;
  const auto work = [this, id, bind, denied, life = life_] {
    const ToldView::Decision* decision = told_.FindDecision(bind.pod.uid);
    const bool known = life == life_ && decision != nullptr && decision->action == id;
    return api_.Bind(bind.pod, bind.node,
                     known && !denied ? Actor::kScheduler : Actor::kForeignScheduler);
  };
  Request(fault, work, [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::PatchPodStatus& patch) {
  const PodPtr pod = store_.FindPod(PodKey(patch.pod.namespace_, patch.pod.name), patch.pod.uid);
  std::optional<CallFault> fault;
  if (pod != nullptr) fault = faults_.Strike(Call::kStatus, *pod, agenda_.now());
  patches_[id] = patch.pod;
  Request(
      fault, [this, patch] { return api_.PatchStatus(patch); },
      [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::ClearNomination& clear) {
  const PodPtr pod = store_.FindPod(PodKey(clear.pod.namespace_, clear.pod.name), clear.pod.uid);
  std::optional<CallFault> fault;
  if (pod != nullptr) fault = faults_.Strike(Call::kStatus, *pod, agenda_.now());
  Request(
      fault, [this, clear] { return api_.ClearNomination(clear.pod); },
      [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::CarryOut(engine::ActionId /*id*/, const engine::PlanEvictions& plan) {
  invariants_.OnPlan(plan);
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::EvictPod& evict) {
  invariants_.OnEviction(evict);
  const PodPtr pod = store_.FindPod(PodKey(evict.pod.namespace_, evict.pod.name), evict.pod.uid);
  std::optional<CallFault> fault;
  if (pod != nullptr) fault = faults_.Strike(Call::kEvict, *pod, agenda_.now());
  evictions_.insert(id);
  Request(
      fault, [this, evict] { return api_.Preempt(evict); },
      [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::CarryOut(engine::ActionId /*id*/, const engine::RecordEvent& event) {
  if (event.reason == k8s::names::kEventFailedScheduling) {
    ++counts_.failures;
    invariants_.OnAttemptFailed(event.pod.uid);
  }
  events_.Add(event, agenda_.now());
}

// What is to be written is; nothing in the embedded cluster answers other questions of plugins, and
// the pod is told so.
void SchedulerDriver::CarryOut(engine::ActionId id, const engine::AskOutside& ask) {
  if (!ask.question.writes.empty()) {
    const PodPtr pod = store_.FindPod(PodKey(ask.pod.namespace_, ask.pod.name), ask.pod.uid);
    std::optional<CallFault> fault;
    if (pod != nullptr) fault = faults_.Strike(Call::kVolume, *pod, agenda_.now());
    const auto write_all = [this, writes = ask.question.writes]() -> Status {
      for (const framework::VolumeWrite& write : writes) {
        KNX_TRY_DONE(api_.WriteVolume(write, Actor::kScheduler));
      }
      return Ok();
    };
    return Request(fault, write_all, [this, id](const Status& status) {
      Tell(engine::QuestionAnswered{
          id, {.ok = status.ok(), .text = status.ok() ? "" : status.error().message}});
    });
  }
  ++calls_in_flight_;
  agenda_.After(timing_.call * 2, [this, id, life = life_, topic = ask.question.topic] {
    if (life != life_) return;
    --calls_in_flight_;
    Tell(engine::QuestionAnswered{
        id, {.ok = false, .text = fmt::format("nobody here answers about {}", topic)}});
  });
}

// The embedded cluster has no extenders, and the scheduler is made without.
void SchedulerDriver::CarryOut(engine::ActionId /*id*/, const engine::AskExtender& /*ask*/) {
  KNX_CHECK(false, "an extender is asked that is not there");
}

void SchedulerDriver::CarryOut(engine::ActionId /*id*/, const engine::BindByExtender& /*bind*/) {
  KNX_CHECK(false, "an extender is to bind that is not there");
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::PatchReservation& patch) {
  Request(
      std::nullopt, [this, patch] { return api_.PatchReservation(patch); },
      [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::CarryOut(engine::ActionId id, const engine::PatchPodGroup& patch) {
  Request(
      std::nullopt, [this, patch] { return api_.PatchPodGroup(patch); },
      [this, id](const Status& status) { Answer(id, status); });
}

void SchedulerDriver::Request(const std::optional<CallFault>& fault, std::function<Status()> work,
                              std::function<void(const Status&)> answer) {
  using Kind = CallFault::Kind;
  const std::optional<Kind> kind = fault ? std::optional(fault->kind) : std::nullopt;
  const Duration delay = fault ? fault->delay : Duration{};
  const Error error{ErrorKind::kUnavailable, fault ? fault->error : "", {}};
  if (kind == Kind::kVanish) return;
  const bool done = kind != Kind::kRefuse && kind != Kind::kTimeout;
  const bool denied = kind == Kind::kRefuse || kind == Kind::kTimeout || kind == Kind::kAnswerLost;
  const Duration there = timing_.call + (kind == Kind::kSlow ? delay : Duration{});
  const Duration back = timing_.call + (denied ? delay : Duration{});
  ++calls_in_flight_;
  agenda_.After(there, [=, this, life = life_, work = std::move(work), answer = std::move(answer)] {
    Status status = done ? work() : Ok();
    if (denied) status = error;
    if (kind == Kind::kNoAnswer) {
      if (life == life_) --calls_in_flight_;
      return;
    }
    agenda_.After(back, [this, life, answer, status = std::move(status)] {
      if (life != life_) return;
      --calls_in_flight_;
      answer(status);
    });
  });
}

void SchedulerDriver::Answer(engine::ActionId id, const Status& status) {
  engine::ActionFinished finished{.action = id, .failure = {}, .missing = false};
  if (!status.ok()) finished.failure = status.error().message;
  // Who was to be evicted and is gone needs no eviction.
  if (evictions_.erase(id) > 0 && !status.ok() && status.error().kind == ErrorKind::kNotFound) {
    finished = {.action = id, .failure = {}, .missing = true};
  }
  if (bindings_.erase(id) > 0 && !status.ok()) ++counts_.bind_failures;
  told_.OnAnswer(id, !status.ok());
  patches_.erase(id);
  Tell(finished);
}

// ---- recording ----

void SchedulerDriver::Record(const engine::Event& event) {
  if (!setup_.record) return;
  setup_.record(fmt::format("{{\"t\":{},{}}}", agenda_.now().ns, EventJson(event)));
}

void SchedulerDriver::RecordCall(std::string_view call) {
  if (!setup_.record) return;
  setup_.record(fmt::format("{{\"t\":{},\"call\":\"{}\"}}", agenda_.now().ns, call));
}

}  // namespace knx::sim
