#include "sim/cluster.h"

#include <fmt/format.h>

#include <utility>

#include "scenario/annotations.h"

namespace knx::sim {
namespace {

enum class Stage { kNone, kWaiting, kRunning, kFinished };

Stage StageOf(const PodPtr& pod) {
  if (pod == nullptr) return Stage::kNone;
  if (IsFinished(*pod)) return Stage::kFinished;
  return pod->spec.node_name.empty() ? Stage::kWaiting : Stage::kRunning;
}

}  // namespace

void Tally::OnWrite(const Write<k8s::Pod>& write) {
  const Stage before = StageOf(write.before);
  const Stage after = StageOf(write.after);
  if (before == after) return;
  const bool was_placed = before == Stage::kRunning || before == Stage::kFinished;
  if (before == Stage::kNone) ++created;
  if (after == Stage::kNone) ++deleted;
  if (after == Stage::kRunning && !was_placed) ++placed;
  if (after == Stage::kFinished) {
    ++(write.after->status.phase == k8s::PodPhase::kSucceeded ? succeeded : failed);
  }
  waiting += (after == Stage::kWaiting ? 1 : 0) - (before == Stage::kWaiting ? 1 : 0);
  running += (after == Stage::kRunning ? 1 : 0) - (before == Stage::kRunning ? 1 : 0);
}

Cluster::Cluster(ClusterOptions options)
    : timing_(options.timing),
      agenda_(kBegin),
      random_(options.seed),
      store_(agenda_, random_.Next()),
      tally_(store_),
      input_remarks_(store_),
      api_(store_),
      budgets_(agenda_, store_, timing_),
      workloads_(agenda_, store_, api_, timing_),
      jobs_(agenda_, store_, api_, timing_),
      volumes_(agenda_, store_, timing_),
      ephemeral_volumes_(agenda_, store_, api_, timing_),
      kubelets_(agenda_, store_, api_, timing_),
      node_lifecycle_(agenda_, store_, api_, kubelets_, timing_),
      scheduler_(agenda_, kBegin, store_, api_, timing_, random_.Next(), options.keep_log,
                 options.checking, std::move(options.scheduler)) {}

bool Cluster::Step(Duration limit) {
  if (violation().has_value()) return false;
  if (agenda_.Next() > kBegin + limit) {
    agenda_.PassTo(kBegin + limit);
    return false;
  }
  agenda_.RunNext();
  scheduler_.AfterStep();
  return !violation().has_value();
}

bool Cluster::Settled() const {
  return agenda_.foreground() == 0 && node_lifecycle_.Settled() && scheduler_.Settled();
}

void Cluster::CheckSettled() {
  if (scheduler_.engine() == nullptr) return;
  scheduler_.invariants().OnSettled(*scheduler_.engine(), scheduler_.Current());
}

void Cluster::CheckEnd() {
  if (scheduler_.engine() == nullptr || violation().has_value()) return;
  if (Settled()) return CheckSettled();
  scheduler_.invariants().OnEnd(*scheduler_.engine(), scheduler_.Current());
}

std::vector<std::string> Cluster::Complaints() const {
  std::vector<std::string> out = input_remarks_.Texts();
  for (const auto& [owner, why] : workloads_.complaints()) {
    out.push_back(fmt::format("{}: {}", owner, why));
  }
  for (const auto& [owner, why] : jobs_.complaints()) {
    out.push_back(fmt::format("{}: {}", owner, why));
  }
  if (const std::vector<std::string> endless = jobs_.Endless(); !endless.empty()) {
    const std::string more =
        endless.size() == 1 ? "" : fmt::format(" and {} more", endless.size() - 1);
    out.push_back(
        fmt::format("Job {}{} cannot end: nothing says how long the pods run (run_for in a "
                    "scenario, the annotation {} in a manifest)",
                    endless.front(), more, scenario::kRunFor));
  }
  for (std::string& drain : node_lifecycle_.Complaints()) out.push_back(std::move(drain));
  return out;
}

SimulationProgress Cluster::Progress() const {
  SimulationProgress out;
  out.now = now();
  out.nodes = static_cast<std::int64_t>(store_.All<k8s::Node>().size());
  out.created = tally_.created;
  out.placed = tally_.placed;
  out.waiting = tally_.waiting;
  out.running = tally_.running;
  out.finished = tally_.succeeded + tally_.failed;
  out.decisions = scheduler_.counts().binds + scheduler_.counts().failures;
  return out;
}

}  // namespace knx::sim
