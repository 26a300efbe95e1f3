#include "observe/decision_log.h"

#include <fmt/format.h>

#include <utility>

namespace knx::observe {
namespace {

std::string Name(const engine::PodRef& pod) {
  return fmt::format("{}/{}", pod.namespace_, pod.name);
}

std::string Text(const engine::BindPod& bind) {
  return fmt::format("bind {} to {}", Name(bind.pod), bind.node);
}

std::string Text(const engine::PatchPodStatus& patch) {
  std::string nominated;
  if (patch.nominated_node.has_value())
    nominated = fmt::format(" nominated={}", *patch.nominated_node);
  return fmt::format("condition {} {} {}{}: {}", Name(patch.pod), patch.status, patch.reason,
                     nominated, patch.message);
}

std::string Text(const engine::ClearNomination& clear) {
  return fmt::format("denominate {}", Name(clear.pod));
}

std::string Text(const engine::PlanEvictions& plan) {
  const auto names = [](const std::vector<engine::PodRef>& pods) {
    std::string out;
    for (const engine::PodRef& pod : pods) out += (out.empty() ? "" : ", ") + Name(pod);
    return out;
  };
  const std::string along =
      plan.along.empty() ? "" : fmt::format(" and, elsewhere, {}", names(plan.along));
  return fmt::format("plan {} on {} without {}{}", Name(plan.preemptor), plan.node,
                     names(plan.victims), along);
}

std::string Text(const engine::EvictPod& evict) {
  if (!evict.preemptor) return fmt::format("evict {}: {}", Name(evict.pod), evict.message);
  return fmt::format("evict {} for {}", Name(evict.pod), Name(*evict.preemptor));
}

std::string Text(const engine::RecordEvent& event) {
  return fmt::format("event {} {} {}: {}", Name(event.pod), event.warning ? "Warning" : "Normal",
                     event.reason, event.note);
}

std::string Text(const engine::AskOutside& ask) {
  return fmt::format("ask {} on {} {} {}: {}", Name(ask.pod), ask.node, ask.plugin,
                     ask.question.topic, ask.question.body);
}

std::string Text(const engine::AskExtender& ask) {
  const bool preempts = ask.verb == engine::ExtenderVerb::kPreempt;
  const std::string_view verb = preempts                                        ? "victims for"
                                : ask.verb == engine::ExtenderVerb::kPrioritize ? "scores for"
                                                                                : "nodes for";
  return fmt::format("ask extender {} about {} {}: {} nodes", ask.extender, verb, Name(ask.pod),
                     preempts ? ask.victims.size() : ask.nodes.size());
}

std::string Text(const engine::BindByExtender& bind) {
  return fmt::format("let extender {} bind {} to {}", bind.extender, Name(bind.pod), bind.node);
}

std::string Text(const engine::PatchReservation& patch) {
  std::string said;
  for (const k8s::Condition& condition : patch.conditions) {
    said += fmt::format("{}{}={} {}: {}", said.empty() ? "" : "; ", condition.type,
                        condition.status, condition.reason, condition.message);
  }
  return fmt::format("reservation {}/{} {}", patch.namespace_, patch.name, said);
}

std::string Text(const engine::PatchPodGroup& patch) {
  const k8s::Condition& said = patch.condition.said;
  return fmt::format("pod group {}/{} {}={} {}: {}", patch.namespace_, patch.name, said.type,
                     said.status, said.reason, said.message);
}

}  // namespace

std::string FormatAt(Duration at) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return fmt::format("{}.{:06}s", at.ns / kSecond, at.ns % kSecond / 1000);
}

void DecisionLog::Add(Duration at, const engine::Action& action) {
  Note(at, std::visit([](const auto& what) { return Text(what); }, action.what));
}

void DecisionLog::Note(Duration at, std::string_view text) {
  std::string line = fmt::format("{} {}", FormatAt(at), text);
  ++count_;
  digest_.Add(line);
  digest_.Add("\n");
  if (keep_) lines_.push_back(std::move(line));
}

}  // namespace knx::observe
