#include "live/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "k8s/names.h"
#include "live/watched_kinds.h"

namespace knx::live {
namespace {

// Decisions between two looks at what else has happened.
constexpr int kDecisionsAtOnce = 64;
// With so many writes on their way, deciding waits: the server is the slower one, and what is
// decided late is decided with newer news.
constexpr std::size_t kEnoughWrites = 2000;
// Events that wait for a server that does not take them; people can do without more of them.
constexpr std::size_t kMostEvents = 20'000;
constexpr std::size_t kShownDifferences = 100;

client::PodName NameOf(const engine::PodRef& pod) { return {pod.namespace_, pod.name, pod.uid}; }

}  // namespace

Scheduler::Scheduler(net::EventLoop& loop, client::ApiClient& api,
                     std::vector<framework::Profile> profiles, Options options)
    : loop_(loop),
      api_(api),
      pods_(api),
      events_(api),
      volumes_(api),
      options_(std::move(options)),
      engine_(options_.engine, std::move(profiles)) {
  if (options_.shadow) shadow_.emplace();
}

Scheduler::~Scheduler() {
  *alive_ = false;
  loop_.Cancel(wake_);
}

void Scheduler::Lead() {
  leading_ = true;
  if (reflectors_.empty()) return Start();
  up_to_date_ = false;
  for (const auto& reflector : reflectors_) reflector->TellAnew();
}

void Scheduler::Start() {
  for (client::Collection& collection : WatchedCollections()) {
    reflectors_.push_back(std::make_unique<client::Reflector>(
        loop_, api_, std::move(collection),
        client::Reflector::Callbacks{
            .upserted = [this](k8s::Object object) { OnUpserted(std::move(object)); },
            .gone = [this](const k8s::Object& object) { OnGone(object); },
            .synced = [this] { OnSynced(); },
            .trouble =
                [this](std::string_view path, const Error& error) {
                  options_.log(fmt::format("watching {}: {}", path, error.ToString()));
                }}));
  }
}

void Scheduler::CheckState() {
  const engine::Queue& queue = engine_.queue();
  options_.log(fmt::format(
      "state: {} nodes, {} pods; of those that wait {} are active, {} in back-off, {} "
      "unschedulable, {} gated",
      engine_.state().nodes().node_count(), engine_.state().pods().size(),
      queue.Count(engine::QueuePlace::kActive),
      queue.Count(engine::QueuePlace::kBackoff) + queue.Count(engine::QueuePlace::kErrorBackoff),
      queue.Count(engine::QueuePlace::kUnschedulable), queue.Count(engine::QueuePlace::kGated)));
  options_.log(fmt::format("state: counted anew, {}",
                           engine_.Verify().value_or("everything is as it was counted")));
  if (check_ != nullptr) return;  // one is under way
  check_ = std::make_unique<StateCheck>(
      loop_, api_, engine_, [this](const std::vector<std::string>& differences) {
        const auto over = std::move(check_);
        const std::size_t shown = std::min(differences.size(), kShownDifferences);
        for (std::size_t i = 0; i < shown; ++i) options_.log("state: " + differences[i]);
        options_.log(differences.empty()
                         ? "state: equal to what the API server says"
                         : fmt::format("state: {} differences to what the API server says",
                                       differences.size()));
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

void Scheduler::OnSynced() {
  const bool all = std::all_of(reflectors_.begin(), reflectors_.end(),
                               [](const auto& reflector) { return reflector->synced(); });
  if (up_to_date_ || !all) return;
  up_to_date_ = synced_ = true;
  options_.log(fmt::format("knows the cluster: {} nodes, {} pods",
                           engine_.state().nodes().node_count(), engine_.state().pods().size()));
  if (!leading_) return;
  AfterCall();
  PlanSlice();
}

void Scheduler::Tell(const engine::Event& event) {
  engine_.Handle(event, clock_.now());
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
  for (int i = 0; i < kDecisionsAtOnce; ++i) {
    // An answer to one of them brings us back here.
    if (api_.urgent_calls() >= kEnoughWrites || draining_) return;
    const bool decided = engine_.ScheduleOne(clock_.now());
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

// ---- carrying out ----

void Scheduler::Finished(engine::ActionId id, const Status& outcome) {
  engine::ActionFinished finished{.action = id, .failure = {}, .missing = false};
  if (!outcome.ok()) finished.failure = outcome.error().message;
  Tell(finished);
}

void Scheduler::CarryOut(engine::ActionId id, const engine::BindPod& bind) {
  pods_.Bind(NameOf(bind.pod), bind.node,
             [this, id](const Status& outcome) { Finished(id, outcome); });
}

void Scheduler::CarryOut(engine::ActionId id, const engine::PatchPodStatus& patch) {
  const client::PodCondition condition{std::string(k8s::names::kPodScheduled), patch.status,
                                       patch.reason, patch.message, patch.observed_generation};
  pods_.PatchStatus(NameOf(patch.pod), condition, patch.nominated_node, SteadyClock::Wall(),
                    [this, id](const Status& outcome) { Finished(id, outcome); });
}

void Scheduler::CarryOut(engine::ActionId id, const engine::ClearNomination& clear) {
  pods_.PatchStatus(NameOf(clear.pod), std::nullopt, "", SteadyClock::Wall(),
                    [this, id](const Status& outcome) { Finished(id, outcome); });
}

void Scheduler::CarryOut(engine::ActionId /*id*/, const engine::PlanEvictions& plan) {
  options_.log(fmt::format("making room for {}/{} on {}: {} pods have to go",
                           plan.preemptor.namespace_, plan.preemptor.name, plan.node,
                           plan.victims.size()));
}

void Scheduler::CarryOut(engine::ActionId id, const engine::EvictPod& evict) {
  const client::PodCondition condition{std::string(k8s::names::kDisruptionTarget), "True",
                                       evict.reason, evict.message, 0};
  const auto report = [this, id](const Status& outcome) {
    const bool missing = !outcome.ok() && outcome.error().kind == ErrorKind::kNotFound;
    if (missing) return Tell(engine::ActionFinished{.action = id, .failure = {}, .missing = true});
    Finished(id, outcome);
  };
  pods_.PatchStatus(NameOf(evict.pod), condition, std::nullopt, SteadyClock::Wall(),
                    [this, pod = NameOf(evict.pod), report](const Status& outcome) {
                      if (!outcome.ok()) return report(outcome);
                      pods_.Delete(pod, report);
                    });
}

void Scheduler::CarryOut(engine::ActionId /*id*/, const engine::RecordEvent& event) {
  if (api_.patient_calls() >= kMostEvents) {
    if (events_dropped_++ == 0) options_.log("events are dropped: the API server is too slow");
    return;
  }
  client::PodEvent record;
  record.regarding = NameOf(event.pod);
  if (event.related) record.related = NameOf(*event.related);
  record.warning = event.warning;
  record.reason = event.reason;
  record.action = event.action;
  record.note = event.note;
  record.controller = event.reporter;
  record.instance = options_.instance;
  record.when = SteadyClock::Wall();
  events_.Record(record, [this](const Status& outcome) {
    if (!outcome.ok()) options_.log(fmt::format("writing an event: {}", outcome.error().message));
  });
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

void Scheduler::WriteVolumes(engine::ActionId id, std::vector<framework::VolumeWrite> writes,
                             std::size_t next) {
  if (next == writes.size()) return Tell(engine::QuestionAnswered{id, {.ok = true, .text = ""}});
  const framework::VolumeWrite write = writes[next];
  const client::ClaimName claim{write.claim.namespace_, write.claim.name, write.claim.uid};
  const auto done = [this, id, writes = std::move(writes), next](const Status& outcome) {
    if (outcome.ok()) return WriteVolumes(id, writes, next + 1);
    Tell(engine::QuestionAnswered{id, {.ok = false, .text = outcome.error().message}});
  };
  if (write.volume.empty()) {
    volumes_.SelectNode(claim, write.node, write.resource_version, done);
  } else {
    volumes_.SetAside(write.volume, claim, write.bound_by_controller, write.resource_version, done);
  }
}

}  // namespace knx::live
