#include "binder.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "k8s/names.h"

namespace knx::bench {

namespace names = k8s::names;

namespace {

// What has to end until a pod of the preemption has room.
constexpr int kVictims = 3;

// Tells how it went when `count` calls are answered.
Flood::Answered AfterAll(int count, Flood::Answered all) {
  struct Left {
    int count;
    Status outcome;
    Flood::Answered all;
  };
  const auto left = std::make_shared<Left>(Left{count, Ok(), std::move(all)});
  return [left](const Status& outcome) {
    if (!outcome.ok()) left->outcome = outcome;
    if (--left->count == 0) left->all(left->outcome);
  };
}

}  // namespace

void Binder::BindOne(int i, Flood::Answered answered) {
  if (shape_.kind != LiveKind::kPreemption) return Bind(i, std::move(answered));
  Preempt(i, [this, i, answered = std::move(answered)](const Status& outcome) {
    outcome.ok() ? Bind(i, answered) : answered(outcome);
  });
}

void Binder::Preempt(int i, Flood::Answered answered) {
  const Flood::Answered one = AfterAll(kVictims + 2, std::move(answered));
  Patch(PodStatusPath(i), NominationJson(NodeNameOf(i % nodes_)), one);
  Record({std::string(kMeasured), PodNameOf(i), ""}, names::kEventFailedScheduling,
         names::kActionScheduling, "no room before others end", one);
  for (int k = 0; k < kVictims; ++k) EvictOne(i % nodes_ + k * nodes_, one);
}

void Binder::EvictOne(int victim, Flood::Answered answered) {
  const auto deleted = [this, victim, answered](const Status& outcome) {
    if (!outcome.ok()) return answered(outcome);
    Record({std::string(kPresent), PresentPodNameOf(victim), ""}, names::kEventPreempted,
           names::kActionPreempting, "makes room for another pod", answered);
  };
  Patch(PresentPodStatusPath(victim), DisruptionJson(),
        [this, victim, answered = std::move(answered), deleted](const Status& outcome) {
          if (!outcome.ok()) return answered(outcome);
          api_.Send({.method = "DELETE", .path = PresentPodPath(victim)}, Flood::Answered(deleted));
        });
}

void Binder::Bind(int i, Flood::Answered answered) {
  const client::PodName pod{std::string(kMeasured), PodNameOf(i), ""};
  const std::string node = NodeNameOf(i % nodes_);
  pods_.Bind(pod, node, [this, pod, node, answered = std::move(answered)](const Status& outcome) {
    if (!outcome.ok()) return answered(outcome);
    Record(pod, names::kEventScheduled, names::kActionBinding,
           fmt::format("Successfully assigned {}/{} to {}", pod.namespace_, pod.name, node),
           answered);
  });
}

void Binder::Patch(std::string path, std::string body, Flood::Answered answered) {
  api_.Send({.method = "PATCH",
             .path = std::move(path),
             .body = std::move(body),
             .content_type = "application/strategic-merge-patch+json"},
            std::move(answered));
}

void Binder::Record(client::PodName pod, std::string_view reason, std::string_view action,
                    std::string note, Flood::Answered answered) {
  client::PodEvent event;
  event.regarding = std::move(pod);
  event.reason = reason;
  event.action = action;
  event.note = std::move(note);
  event.controller = "default-scheduler";
  event.instance = "binder";
  event.when = Time{} + Duration::Seconds(1'800'000'000);  // any but none
  events_.Record(event, std::move(answered));
}

}  // namespace knx::bench
