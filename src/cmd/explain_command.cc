#include "cmd/explain_command.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/quoted_text.h"
#include "cmd/document_writer.h"
#include "cmd/exit_code.h"
#include "cmd/json_writer.h"
#include "cmd/text_files.h"
#include "cmd/yaml_writer.h"
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

void WriteGang(const engine::GangInquiry& gang, DocumentWriter& out) {
  out.BeginMap();
  PutCount(out, "minimum", gang.minimum);
  PutCount(out, "placed", gang.placed);
  PutCount(out, "waiting", gang.ready);
  PutCount(out, "needed", gang.needed);
  PutBool(out, "complete", gang.complete);
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
  PutCount(out, "moreNodes", gang.nodes);
  Put(out, "like", gang.like);
  PutList(out, "podsInTheWay", gang.pods);
  out.EndMap();
}

void Write(const observe::Explanation& explanation, DocumentWriter& out) {
  out.BeginMap();
  Put(out, "kind", "Explanation");
  Put(out, "what", explanation.what);
  Put(out, "node", explanation.node);
  Put(out, "message", explanation.message);
  out.Key("gang");
  explanation.gang ? WriteGang(*explanation.gang, out) : out.Literal("null");
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
  out.EndMap();
}

std::string ToForm(const observe::Explanation& explanation, OutputForm form) {
  std::string out;
  if (form == OutputForm::kJson) {
    JsonWriter writer(out);
    Write(explanation, writer);
  } else if (form == OutputForm::kYaml) {
    YamlWriter writer(out);
    Write(explanation, writer);
  } else {
    std::istringstream lines(observe::ToText(explanation));
    for (std::string line; std::getline(lines, line);) out += Printable(line) + "\n";
  }
  return out;
}

}  // namespace

Result<int> RunExplain(const std::string& name, const SimulateOptions& options) {
  KNX_TRY(const WatchedRun run, RunFor(options, name));
  KNX_TRY_DONE(WriteOut(ToForm(*run.result.explanation, options.form)));
  return run.result.stopped ? kExitSignal + run.signal : kExitOk;
}

}  // namespace knx::cmd
