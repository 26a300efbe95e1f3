#include "cmd/explain_command.h"

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/quoted_text.h"
#include "cmd/document_writer.h"
#include "cmd/exit_code.h"
#include "cmd/json_writer.h"
#include "cmd/run_report.h"
#include "cmd/terminal.h"
#include "cmd/text_files.h"
#include "cmd/yaml_writer.h"
#include "engine/backfill_times.h"
#include "observe/explanation.h"

namespace knx::cmd {
namespace {

std::string_view NameOf(engine::GangAnswer answer) {
  switch (answer) {
    case engine::GangAnswer::kPlaced:
      return "placed";
    case engine::GangAnswer::kImpossible:
      return "impossible";
    case engine::GangAnswer::kNotFound:
      break;
  }
  return "notFound";
}

void PutCount(DocumentWriter& out, std::string_view key, std::size_t count) {
  Put(out, key, static_cast<std::int64_t>(count));
}

void PutList(DocumentWriter& out, std::string_view key, const std::vector<std::string>& texts) {
  out.Key(key);
  out.BeginList();
  for (const std::string& text : texts) out.Text(text);
  out.EndList();
}

void PutTime(DocumentWriter& out, std::string_view key, std::optional<Time> time) {
  out.Key(key);
  time && *time < engine::kUnknownEnd ? out.Text(FormatTime(*time)) : out.Literal("null");
}

void WriteMembers(const observe::GangMembers& members, DocumentWriter& out) {
  out.BeginMap();
  PutCount(out, "all", members.all);
  PutCount(out, "placed", members.placed);
  PutCount(out, "binding", members.binding);
  PutCount(out, "leaving", members.leaving);
  PutCount(out, "finished", members.finished);
  out.Key("minimum");
  members.minimum ? out.Number(static_cast<std::int64_t>(*members.minimum)) : out.Literal("null");
  PutBool(out, "asAWhole", members.as_a_whole);
  out.Key("places");
  out.BeginMap();
  for (const auto& [node, count] : members.places) PutCount(out, node, count);
  out.EndMap();
  PutList(out, "waiting", members.waiting);
  out.Key("heldBack");
  out.BeginMap();
  for (const auto& [name, why] : members.held) Put(out, name, why);
  out.EndMap();
  out.EndMap();
}

// What a pod and a gang have in common.
void WriteWait(const engine::Wait& wait, DocumentWriter& out) {
  PutCount(out, "attempts", wait.attempts);
  PutTime(out, "promisedStart", wait.promised);
  out.Key("heldBackFor");
  if (wait.held_for) {
    out.BeginMap();
    Put(out, "what", wait.held_for->who);
    PutTime(out, "start", wait.held_for->start);
    PutCount(out, "others", wait.held_for->others);
    out.EndMap();
  } else {
    out.Literal("null");
  }
  PutList(out, "askedToGo", wait.going);
  PutCount(out, "moreNodes", wait.nodes);
  Put(out, "like", wait.like);
  PutList(out, "podsInTheWay", wait.pods);
  out.Key("moreThanAnyNodeHas");
  out.BeginList();
  for (const engine::Wait::TooLarge& one : wait.too_large) out.Text(one.resource);
  out.EndList();
  out.Key("reservationsInTheWay");
  out.BeginList();
  for (const engine::Wait::Reserved& reserved : wait.reserved) {
    out.BeginMap();
    Put(out, "name", reserved.name);
    Put(out, "for", reserved.whom);
    PutTime(out, "ends", reserved.ends);
    out.EndMap();
  }
  out.EndList();
}

void WriteGang(const engine::GangInquiry& gang, DocumentWriter& out) {
  out.BeginMap();
  PutCount(out, "minimum", gang.minimum);
  PutCount(out, "placed", gang.placed);
  PutCount(out, "waiting", gang.ready);
  PutCount(out, "needed", gang.needed);
  PutBool(out, "complete", gang.complete);
  PutCount(out, "toCome", gang.to_come);
  out.Key("awaitsReservation");
  if (gang.awaited) {
    out.BeginMap();
    Put(out, "name", gang.awaited->name);
    Put(out, "why", gang.awaited->why);
    out.EndMap();
  } else {
    out.Literal("null");
  }
  PutCount(out, "fit", gang.fitting);
  Put(out, "answer", NameOf(gang.answer));
  Put(out, "proof", gang.proof);
  PutCount(out, "most", gang.most);
  PutList(out, "scarce", gang.scarce);
  Put(out, "together", gang.together);
  out.Key("domains");
  out.BeginMap();
  for (const auto& domain : gang.domains) PutCount(out, domain.value, domain.most);
  out.EndMap();
  out.Key("unplaced");
  out.BeginList();
  for (const engine::GangInquiry::Unplaced& kind : gang.unplaced) {
    out.BeginMap();
    Put(out, "example", kind.example);
    PutCount(out, "members", kind.members);
    Put(out, "reason", kind.why);
    out.EndMap();
  }
  out.EndList();
  WriteWait(gang, out);
  out.EndMap();
}

void WritePod(const engine::PodInquiry& pod, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "fitsOn", pod.asked.chosen);
  WriteWait(pod, out);
  out.Key("obstacles");
  out.BeginList();
  for (const engine::PodInquiry::Obstacle& obstacle : pod.obstacles) {
    out.BeginMap();
    Put(out, "node", obstacle.node);
    out.Key("refusedBy");
    out.BeginMap();
    for (const auto& refusal : obstacle.by) PutList(out, refusal.plugin, refusal.reasons);
    out.EndMap();
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void Write(const observe::Explanation& explanation, const std::vector<std::string>& warnings,
           DocumentWriter& out) {
  out.BeginMap();
  Put(out, "kind", "Explanation");
  Put(out, "what", explanation.what);
  PutList(out, "alsoOfThatName", explanation.others);
  PutBool(out, "waits", explanation.waits());
  Put(out, "node", explanation.node);
  Put(out, "message", explanation.message);
  Put(out, "messageNow", explanation.now);
  out.Key("members");
  explanation.members ? WriteMembers(*explanation.members, out) : out.Literal("null");
  out.Key("gang");
  explanation.gang ? WriteGang(*explanation.gang, out) : out.Literal("null");
  out.Key("pod");
  explanation.pod ? WritePod(*explanation.pod, out) : out.Literal("null");
  out.Key("refusals");
  out.BeginList();
  for (const observe::Explanation::Refusal& refusal : explanation.refusals) {
    out.BeginMap();
    Put(out, "plugin", refusal.plugin);
    Put(out, "reason", refusal.reason);
    PutCount(out, "nodes", refusal.nodes);
    out.EndMap();
  }
  out.EndList();
  PutList(out, "help", explanation.help);
  PutList(out, "warnings", warnings);
  out.EndMap();
}

// What the run was warned of may be why the answer is another one than in the cluster.
std::string ToForm(const sim::SimulationResult& result, OutputForm form) {
  const observe::Explanation& explanation = *result.explanation;
  std::string out;
  if (form == OutputForm::kJson) {
    JsonWriter writer(out);
    Write(explanation, result.warnings, writer);
  } else if (form == OutputForm::kYaml) {
    YamlWriter writer(out);
    Write(explanation, result.warnings, writer);
  } else {
    std::istringstream lines(observe::ToText(explanation));
    for (std::string line; std::getline(lines, line);) out += Printable(line) + "\n";
    out += FormatWarnings(result.warnings, PaletteFor(Stream::kOut));
  }
  return out;
}

}  // namespace

Result<int> RunExplain(const std::string& name, const SimulateOptions& options) {
  KNX_TRY(const WatchedRun run, RunFor(options, name));
  KNX_TRY_DONE(WriteOut(ToForm(run.result, options.form)));
  return run.result.stopped ? kExitSignal + run.signal : kExitOk;
}

}  // namespace knx::cmd
