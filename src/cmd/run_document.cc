#include "cmd/run_document.h"

#include <optional>
#include <string>
#include <utility>

#include "cmd/run_groups.h"
#include "k8s/names.h"

namespace knx::cmd {
namespace {

void Put(DocumentWriter& out, std::string_view key, const std::optional<Duration>& at) {
  out.Key(key);
  if (at.has_value()) {
    out.Seconds(*at);
  } else {
    out.Literal("null");
  }
}

void PutTexts(DocumentWriter& out, std::string_view key, const std::vector<std::string>& texts) {
  out.Key(key);
  out.BeginList();
  for (const std::string& text : texts) out.Text(text);
  out.EndList();
}

void WriteCounts(const sim::SimulationCounts& counts, DocumentWriter& out) {
  out.Key("counts");
  out.BeginMap();
  Put(out, "podsCreated", counts.pods_created);
  Put(out, "podsPlaced", counts.pods_placed);
  Put(out, "podsSucceeded", counts.pods_succeeded);
  Put(out, "podsFailed", counts.pods_failed);
  Put(out, "podsDeleted", counts.pods_deleted);
  Put(out, "podsWaiting", counts.pods_waiting);
  Put(out, "podsRunning", counts.pods_running);
  Put(out, "evictions", counts.evictions);
  Put(out, "bindFailures", counts.bind_failures);
  Put(out, "failedAttempts", counts.failed_attempts);
  Put(out, "faults", counts.faults);
  Put(out, "schedulerRestarts", counts.scheduler_restarts);
  Put(out, "steps", counts.steps);
  Put(out, "fullChecks", counts.full_checks);
  out.EndMap();
}

void WriteResource(const sim::ResourceUse& use, DocumentWriter& out) {
  const auto amount = [&](std::string_view key, std::int64_t number) {
    out.Key(key);
    if (use.name == k8s::names::kCpu) {
      out.Thousandths(number);
    } else {
      out.Number(number);
    }
  };
  out.Key(use.name);
  out.BeginMap();
  amount("requested", use.requested);
  amount("allocatable", use.allocatable);
  out.EndMap();
}

void WriteNode(const sim::NodeUse& node, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "name", node.name);
  PutBool(out, "ready", node.ready);
  PutBool(out, "unschedulable", node.unschedulable);
  PutTexts(out, "taints", node.taints);
  Put(out, "pods", node.pods);
  out.Key("resources");
  out.BeginMap();
  for (const sim::ResourceUse& use : node.resources) WriteResource(use, out);
  out.EndMap();
  out.EndMap();
}

void WritePod(const sim::PodOutcome& pod, const std::vector<std::string>& profiles,
              DocumentWriter& out) {
  out.BeginMap();
  Put(out, "namespace", pod.namespace_);
  Put(out, "name", pod.name);
  Put(out, "uid", pod.uid);
  Put(out, "owner", pod.owner);
  Put(out, "schedulerName", pod.scheduler_name);
  Put(out, "priority", std::int64_t{pod.priority});
  Put(out, "node", pod.node);
  Put(out, "phase", pod.phase);
  PutBool(out, "terminating", pod.terminating);
  out.Key("scheduled");
  out.BeginMap();
  Put(out, "status", pod.condition_status);
  Put(out, "reason", pod.reason);
  Put(out, "message", pod.message);
  out.EndMap();
  Put(out, "whyWaiting", IsWaiting(pod) ? WhyItWaits(pod, profiles) : "");
  out.Key("requests");
  out.BeginMap();
  for (const auto& [resource, quantity] : pod.requests) Put(out, resource, quantity);
  out.EndMap();
  Put(out, "created", std::optional(pod.created));
  Put(out, "placed", pod.placed);
  Put(out, "started", pod.started);
  Put(out, "finished", pod.finished);
  out.EndMap();
}

void WriteReservation(const sim::ReservationOutcome& reservation, DocumentWriter& out) {
  const auto amounts = [&](std::string_view key, const sim::ReservationOutcome::Amounts& all) {
    out.Key(key);
    out.BeginMap();
    for (const auto& [resource, quantity] : all) Put(out, resource, quantity);
    out.EndMap();
  };
  out.BeginMap();
  Put(out, "namespace", reservation.namespace_);
  Put(out, "name", reservation.name);
  PutBool(out, "forDriver", reservation.for_driver);
  Put(out, "state", reservation.state);
  Put(out, "why", reservation.why);
  Put(out, "places", reservation.places);
  amounts("held", reservation.held);
  amounts("used", reservation.used);
  Put(out, "begins", reservation.begins);
  Put(out, "ends", reservation.ends);
  out.EndMap();
}

void WriteExpectation(const sim::ExpectationResult& expectation, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "file", expectation.place.file);
  Put(out, "line", std::int64_t{expectation.place.line});
  Put(out, "column", std::int64_t{expectation.place.column});
  PutBool(out, "met", expectation.met);
  PutBool(out, "reached", expectation.reached);
  Put(out, "expected", expectation.expected);
  Put(out, "found", expectation.found);
  out.EndMap();
}

void WriteViolation(const std::optional<sim::Violation>& violation, DocumentWriter& out) {
  out.Key("violation");
  if (!violation.has_value()) return out.Literal("null");
  out.BeginMap();
  Put(out, "invariant", violation->invariant);
  Put(out, "at", std::optional(violation->at));
  Put(out, "what", violation->what);
  out.EndMap();
}

template <class T, class Write>
void WriteEach(DocumentWriter& out, std::string_view key, const std::vector<T>& items,
               Write write) {
  out.Key(key);
  out.BeginList();
  for (const T& item : items) write(item, out);
  out.EndList();
}

}  // namespace

void WriteRun(const sim::SimulationResult& result, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "kind", "SimulationResult");
  Put(out, "scenario", result.scenario);
  Put(out, "variant", result.variant);
  Put(out, "why", result.why);
  out.Key("seed");
  out.Number(result.seed);
  Put(out, "ended", std::optional(result.ended));
  PutBool(out, "ok", result.ok());
  PutBool(out, "settled", result.settled);
  PutBool(out, "stopped", result.stopped);
  WriteCounts(result.counts, out);
  WriteEach(out, "nodes", result.nodes, WriteNode);
  PutTexts(out, "profiles", result.profiles);
  WriteEach(out, "pods", result.pods, [&result](const auto& pod, DocumentWriter& each) {
    WritePod(pod, result.profiles, each);
  });
  WriteEach(out, "reservations", result.reservations, WriteReservation);
  WriteEach(out, "expectations", result.expectations, WriteExpectation);
  WriteViolation(result.violation, out);
  PutTexts(out, "warnings", result.warnings);
  out.Key("decisionLog");
  out.BeginMap();
  out.Key("lines");
  out.Number(result.log_lines);
  Put(out, "hash", sim::FormatHash(result.hash));
  PutTexts(out, "entries", result.log);
  out.EndMap();
  out.EndMap();
}

}  // namespace knx::cmd
