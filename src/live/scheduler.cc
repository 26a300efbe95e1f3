#include "live/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/shortened.h"
#include "client/condition_json.h"
#include "client/reporting_controller.h"
#include "k8s/names.h"
#include "live/watched_kinds.h"

namespace knx::live {

using observe::ApiCall;

namespace {

// Decisions between two looks at what else has happened, and for how long at most, but for the last
// of them: there are pods that take long, and the lease is not renewed meanwhile.
constexpr int kDecisionsAtOnce = 64;
constexpr Duration kLongestSlice = Duration::Milliseconds(10);
// With so many writes on their way, deciding waits: the server is the slower one, and what is
// decided late is decided with newer news.
constexpr std::size_t kEnoughWrites = 2000;
// The same for questions to extenders, whose answers are of less use the later they come.
constexpr std::size_t kEnoughQuestions = 64;
// Events that wait for a server that does not take them; people can do without more of them.
constexpr std::size_t kMostEvents = 20'000;
// Of what is repeated in an event: the API server takes 1,024 bytes in all.
constexpr std::size_t kLongestComplaint = 900;
constexpr std::size_t kShownDifferences = 100;

// Between two looks at how late the loop is.
constexpr Duration kLagInterval = Duration::Seconds(1);

client::PodName NameOf(const engine::PodRef& pod) { return {pod.namespace_, pod.name, pod.uid}; }

}  // namespace

Scheduler::Scheduler(net::EventLoop& loop, client::ApiClient& api,
                     std::vector<framework::Profile> profiles, Options options)
    : loop_(loop),
      api_(api),
      pods_(api),
      bindings_(loop, api),
      events_(api),
      volumes_(api),
      reservations_(api),
      groups_(api),
      options_(std::move(options)),
      narrator_(clock_, options_.metrics, options_.log),
      engine_(ObservedOptions(), std::move(profiles)),
      discovery_(loop, api) {
  options_.metrics.ReadFrom(&engine_);
  if (options_.shadow != nullptr) shadow_.emplace(*options_.shadow);
}

Scheduler::~Scheduler() {
  *alive_ = false;
  options_.metrics.ReadFrom(nullptr);
  loop_.Cancel(wake_);
  loop_.Cancel(lag_);
}

engine::EngineOptions Scheduler::ObservedOptions() {
  engine::EngineOptions options = options_.engine;
  // That somebody else binds the pods is no news to a shadow.
  if (options_.shadow == nullptr) options.observer = &narrator_;
  return options;
}

void Scheduler::Lead() {
  leading_ = true;
  if (options_.shadow == nullptr) api_.ExpectWrites();
  if (reflectors_.empty()) return Start();
  up_to_date_ = false;
  for (const auto& reflector : reflectors_) reflector->TellAnew();
}

void Scheduler::Start() {
  WatchLag();
  for (client::Collection& collection : WatchedCollections()) {
    const std::string path = collection.path;
    reflectors_.push_back(std::make_unique<client::Reflector>(
        loop_, api_, collection,
        client::Reflector::Callbacks{
            .upserted = [this](k8s::Object object) { OnUpserted(std::move(object)); },
            .gone = [this](const k8s::Object& object) { OnGone(object); },
            .synced = [this] { OnSynced(); },
            .trouble = [this](std::string_view what,
                              const Error& error) { narrator_.WatchTrouble(what, error); },
            .refused = [this](const k8s::RefusedObject& object,
                              bool news) { OnRefused(object, news); },
            .opened = [this, path](bool everything) { narrator_.WatchOpened(path, everything); },
            .failed = [this, path] { narrator_.WatchFailed(path); }}));
    if (collection.optional) discovery_.Guide(std::move(collection), *reflectors_.back());
  }
}

void Scheduler::CheckState() {
  const engine::Queue& queue = engine_.queue();
  const auto count = [&](engine::QueuePlace place) { return queue.Count(place); };
  options_.log.Info(
      0, "State",
      {{"nodes", engine_.state().nodes().node_count()},
       {"pods", engine_.state().pods().size()},
       {"active", count(engine::QueuePlace::kActive)},
       {"backoff", count(engine::QueuePlace::kBackoff) + count(engine::QueuePlace::kErrorBackoff)},
       {"unschedulable", count(engine::QueuePlace::kUnschedulable)},
       {"gated", count(engine::QueuePlace::kGated)}});
  if (const auto wrong = engine_.Verify()) {
    options_.log.Error("State is not what it adds up to", {{"err", *wrong}});
  }
  if (check_ != nullptr) return;  // one is under way
  check_ = std::make_unique<StateCheck>(
      loop_, api_, engine_, [this](const std::vector<std::string>& differences) {
        const auto over = std::move(check_);
        const std::size_t shown = std::min(differences.size(), kShownDifferences);
        for (std::size_t i = 0; i < shown; ++i) {
          options_.log.Error("State differs from the API server", {{"err", differences[i]}});
        }
        options_.log.Info(0, "State compared with the API server",
                          {{"differences", differences.size()}});
      });
}

// ---- telling and deciding ----

void Scheduler::OnUpserted(k8s::Object object) {
  if (auto* pod = std::get_if<k8s::Pod>(&object)) {
    if (shadow_) shadow_->LookAt(engine_, *pod);
    Tell(engine::PodUpserted{std::move(*pod)});
  } else if (auto* node = std::get_if<k8s::Node>(&object)) {
    Tell(engine::NodeUpserted{std::move(*node)});
  } else {
    Tell(engine::ObjectUpserted{std::move(object)});
  }
}

void Scheduler::OnGone(const k8s::Object& object) {
  if (const auto* pod = std::get_if<k8s::Pod>(&object)) {
    if (shadow_) shadow_->Forget(pod->meta.uid);
    Tell(engine::PodDeleted{pod->meta.uid});
  } else if (const auto* node = std::get_if<k8s::Node>(&object)) {
    Tell(engine::NodeDeleted{node->meta.name});
  } else {
    Tell(engine::ObjectDeleted{object});
  }
}

// What people write for schedulers is said on the object, too: who wrote it sees it there, while
// the pods that it is for only say that there is none. Other kinds are for others to judge.
void Scheduler::OnRefused(const k8s::RefusedObject& object, bool news) {
  narrator_.ObjectRefused(object, news);
  if (!news || !leading_ || shadow_ || !object.api_version.starts_with("scheduling.")) return;
  client::PodEvent record;
  record.regarding = {object.namespace_, object.name, object.uid};
  record.api_version = object.api_version;
  record.kind = object.kind;
  record.warning = true;
  record.reason = k8s::names::kEventNotUnderstood;
  record.action = k8s::names::kActionReading;
  record.note = fmt::format("not heeded, because it cannot be understood: {}",
                            Shortened(object.why.message, kLongestComplaint));
  record.controller = "kubenexus-scheduler";
  Record(std::move(record));
}

void Scheduler::OnSynced() {
  const bool all = std::all_of(reflectors_.begin(), reflectors_.end(),
                               [](const auto& reflector) { return reflector->synced(); });
  if (!all) return;
  Tell(engine::Listed{});
  if (up_to_date_) return;
  up_to_date_ = synced_ = true;
  narrator_.Synced(engine_.state().nodes().node_count(), engine_.state().pods().size());
  if (!leading_) return;
  AfterCall();
  PlanSlice();
}

void Scheduler::Tell(const engine::Event& event) {
  const Time now = clock_.now();
  engine_.Handle(event, now);
  narrator_.Handled(now);
  if (!up_to_date_ || !leading_) return;
  AfterCall();
  PlanSlice();
}

void Scheduler::PlanSlice() {
  if (slice_planned_ || draining_ || shadow_) return;
  slice_planned_ = true;
  loop_.Post([this, alive = alive_] {
    if (*alive) Slice();
  });
}

void Scheduler::Slice() {
  slice_planned_ = false;
  const Time end = clock_.now() + kLongestSlice;
  for (int i = 0; i < kDecisionsAtOnce; ++i) {
    // An answer to one of them brings us back here.
    if (api_.urgent_calls() >= kEnoughWrites || draining_) return;
    if (options_.extenders != nullptr && options_.extenders->outstanding() >= kEnoughQuestions) {
      return;
    }
    const Time now = clock_.now();
    if (now >= end) break;
    const bool decided = engine_.ScheduleOne(now);
    if (decided) narrator_.Decided(now);
    AfterCall();
    if (!decided) return;
  }
  PlanSlice();
}

void Scheduler::AfterCall() {
  for (const engine::Action& action : engine_.TakeActions()) {
    if (shadow_) continue;
    std::visit([&](const auto& what) { CarryOut(action.id, what); }, action.what);
  }
  ArmWake();
}

void Scheduler::ArmWake() {
  const Time wake = engine_.NextWake();
  if (wake >= armed_) return;
  loop_.Cancel(wake_);
  armed_ = wake;
  wake_ = loop_.After(wake - clock_.now(), [this] {
    armed_ = kNever;
    engine_.Advance(clock_.now());
    AfterCall();
    PlanSlice();
  });
}

void Scheduler::WatchLag() {
  const Time due = clock_.now() + kLagInterval;
  lag_ = loop_.After(kLagInterval, [this, due] {
    options_.metrics.LoopWasLate(clock_.now() - due);
    WatchLag();
  });
}

// ---- carrying out ----

void Scheduler::Finished(engine::ActionId id, const Status& outcome) {
  engine::ActionFinished finished{.action = id, .failure = {}, .missing = false};
  if (!outcome.ok()) finished.failure = outcome.error().message;
  Tell(finished);
}

void Scheduler::CarryOut(engine::ActionId id, const engine::BindPod& bind) {
  bindings_.Bind(NameOf(bind.pod), bind.node,
                 narrator_.Timed(ApiCall::kBinding,
                                 [this, id](const Status& outcome) { Finished(id, outcome); }),
                 [this, alive = alive_, id] { return *alive && engine_.IsWanted(id); });
}

void Scheduler::CarryOut(engine::ActionId id, const engine::PatchPodStatus& patch) {
  const client::PodCondition condition{
      std::string(k8s::names::kPodScheduled), patch.status, patch.reason,
      Shortened(patch.message, client::kLongestConditionMessage), patch.observed_generation};
  pods_.PatchStatus(
      NameOf(patch.pod), condition, patch.nominated_node, SteadyClock::Wall(),
      narrator_.Timed(ApiCall::kStatusPatch, [this, id, pod = patch.pod](const Status& outcome) {
        narrator_.StatusWritten(pod, outcome);
        Finished(id, outcome);
      }));
}

void Scheduler::CarryOut(engine::ActionId id, const engine::ClearNomination& clear) {
  pods_.PatchStatus(NameOf(clear.pod), std::nullopt, "", SteadyClock::Wall(),
                    narrator_.Timed(ApiCall::kStatusPatch,
                                    [this, id](const Status& outcome) { Finished(id, outcome); }));
}

void Scheduler::CarryOut(engine::ActionId /*id*/, const engine::PlanEvictions& plan) {
  narrator_.EvictionsPlanned(plan);
}

void Scheduler::CarryOut(engine::ActionId id, const engine::EvictPod& evict) {
  const client::PodCondition condition{std::string(k8s::names::kDisruptionTarget), "True",
                                       evict.reason, evict.message, 0};
  const auto report = [this, id, evict](const Status& outcome) {
    narrator_.Evicted(evict, outcome);
    const bool missing = !outcome.ok() && outcome.error().kind == ErrorKind::kNotFound;
    if (missing) return Tell(engine::ActionFinished{.action = id, .failure = {}, .missing = true});
    Finished(id, outcome);
  };
  pods_.PatchStatus(NameOf(evict.pod), condition, std::nullopt, SteadyClock::Wall(),
                    narrator_.Timed(ApiCall::kStatusPatch, [this, pod = NameOf(evict.pod),
                                                            report](const Status& outcome) {
                      if (!outcome.ok()) return report(outcome);
                      pods_.Delete(pod, narrator_.Timed(ApiCall::kPodDelete, report));
                    }));
}

void Scheduler::CarryOut(engine::ActionId /*id*/, const engine::RecordEvent& event) {
  client::PodEvent record;
  record.regarding = NameOf(event.pod);
  if (event.related) record.related = NameOf(*event.related);
  record.warning = event.warning;
  record.reason = event.reason;
  record.action = event.action;
  record.note = event.note;
  record.controller = event.reporter;
  Record(std::move(record));
}

void Scheduler::Record(client::PodEvent record) {
  if (api_.patient_calls() >= kMostEvents) return narrator_.EventDropped();
  record.controller = client::ReportingController(record.controller);
  record.instance = client::ReportingInstance(record.controller, options_.host);
  record.when = SteadyClock::Wall();
  events_.Record(record, narrator_.Timed(ApiCall::kEvent, [this](const Status& outcome) {
    narrator_.EventWritten(outcome);
  }));
}

void Scheduler::CarryOut(engine::ActionId id, const engine::AskOutside& ask) {
  if (ask.question.writes.empty()) {
    return loop_.Post([this, alive = alive_, id, topic = ask.question.topic] {
      if (!*alive) return;
      Tell(engine::QuestionAnswered{
          id, {.ok = false, .text = fmt::format("nobody answers about {}", topic)}});
    });
  }
  WriteVolumes(id, ask.question.writes, 0);
}

void Scheduler::CarryOut(engine::ActionId id, const engine::AskExtender& ask) {
  options_.extenders->Ask(ask, [this, id](engine::ExtenderAnswer answer) {
    Tell(engine::ExtenderAnswered{id, std::move(answer)});
  });
}

void Scheduler::CarryOut(engine::ActionId id, const engine::BindByExtender& bind) {
  options_.extenders->Bind(
      bind, [this, id](const Status& outcome) { Finished(id, outcome); },
      [this, alive = alive_, id] { return *alive && engine_.IsWanted(id); });
}

void Scheduler::CarryOut(engine::ActionId id, const engine::PatchReservation& patch) {
  reservations_.PatchStatus(
      {patch.namespace_, patch.name, patch.uid, patch.conditions, patch.pods}, SteadyClock::Wall(),
      narrator_.Timed(ApiCall::kStatusPatch,
                      [this, id](const Status& outcome) { Finished(id, outcome); }));
}

void Scheduler::CarryOut(engine::ActionId id, const engine::PatchPodGroup& patch) {
  groups_.PatchStatus(
      {patch.namespace_, patch.name, patch.uid, patch.version}, patch.condition,
      narrator_.Timed(ApiCall::kStatusPatch, [this, id, patch](const Status& outcome) {
        narrator_.GroupStatusWritten(patch, outcome);
        Finished(id, outcome);
      }));
}

void Scheduler::WriteVolumes(engine::ActionId id, std::vector<framework::VolumeWrite> writes,
                             std::size_t next) {
  if (next == writes.size()) return Tell(engine::QuestionAnswered{id, {.ok = true, .text = ""}});
  const framework::VolumeWrite write = writes[next];
  const client::ClaimName claim{write.claim.namespace_, write.claim.name, write.claim.uid};
  const auto done = narrator_.Timed(
      ApiCall::kVolume, [this, id, writes = std::move(writes), next](const Status& outcome) {
        if (outcome.ok()) return WriteVolumes(id, writes, next + 1);
        Tell(engine::QuestionAnswered{id, {.ok = false, .text = outcome.error().message}});
      });
  if (write.volume.empty()) {
    volumes_.SelectNode(claim, write.node, write.resource_version, done);
  } else {
    volumes_.SetAside(write.volume, claim, write.bound_by_controller, write.resource_version, done);
  }
}

}  // namespace knx::live
