// Reads what a scenario expects.
#include <fmt/format.h>

#include "k8s/object_fields.h"
#include "scenario/read_steps.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;

// A number, or a text such as "2..4" or ">= 2".
bool ReadRange(FieldReader& fields, std::string_view key, NumberRange& out) {
  if (fields.HasNumber(key)) {
    std::int64_t number = 0;
    if (!fields.Read(key, number, k8s::IntegerLimits{.min = 0})) return false;
    out = {number, number};
    return true;
  }
  std::string text;
  if (!fields.Read(key, text)) return false;
  const std::optional<NumberRange> range = ParseNumberRange(text);
  if (!range.has_value()) {
    fields.Fail(key, fmt::format("\"{}\" is not a number or a range; allowed are 3, \"2..4\", "
                                 "\">= 2\" and \"<= 4\"",
                                 text));
    return false;
  }
  out = *range;
  return true;
}

void ReadRange(FieldReader& fields, std::string_view key, std::optional<NumberRange>& out) {
  if (NumberRange range; ReadRange(fields, key, range)) out = range;
}

void ReadMatch(FieldReader& fields, std::string_view exact, std::string_view contains,
               std::string_view prefix, TextMatch& out) {
  fields.Read(exact, out.exact);
  fields.Read(contains, out.contains);
  fields.Read(prefix, out.prefix);
}

// A name, or a list of them.
void ReadNames(FieldReader& fields, std::string_view key, std::vector<std::string>& out) {
  const k8s::YamlNode* node = fields.Node(key);
  if (node == nullptr) return;
  if (node->kind == k8s::YamlNode::Kind::kList) {
    fields.Read(key, out);
    if (fields.ok() && out.empty()) fields.Fail(key, "is empty");
    return;
  }
  fields.Read(key, out.emplace_back());
}

void ReadSpread(FieldReader& fields, Spread& out) {
  fields.Require("by", out.by);
  fields.ForEachEntry("counts", [&](std::string_view value, FieldReader& count) {
    count.Value(out.counts[std::string(value)], k8s::IntegerLimits{.min = 0});
  });
  fields.Read("max_skew", out.max_skew, k8s::IntegerLimits{.min = 0});
  if (fields.ok() && out.counts.empty() && !out.max_skew.has_value()) {
    FailWithout(fields, "needs counts or max_skew");
  }
}

void ReadEvent(FieldReader& fields, EventExpectation& out) {
  fields.Require("reason", out.reason);
  fields.ReadEnum<std::string>("type", out.type, {{"Normal", "Normal"}, {"Warning", "Warning"}});
  ReadMatch(fields, "note", "note_contains", "note_prefix", out.note);
  ReadRange(fields, "count", out.count);
}

void ReadNode(FieldReader& fields, NodeExpectation& out) {
  fields.Require("name", out.name);
  ReadRange(fields, "pods", out.pods);
  k8s::ReadResourceList(fields, "requested", out.requested);
  fields.Read("ready", out.ready);
  fields.Read("unschedulable", out.unschedulable);
}

void ReadPodGroup(FieldReader& fields, PodGroupExpectation& out) {
  fields.Require("name", out.name);
  fields.Read("namespace", out.namespace_);
  fields.Read("scheduled", out.scheduled);
  fields.Read("reason", out.reason);
  ReadMatch(fields, "message", "message_contains", "message_prefix", out.message);
  if (fields.ok() && !out.scheduled && out.reason.empty() && out.message.empty()) {
    FailWithout(fields, "says nothing that could be true");
  }
}

void CheckTimes(FieldReader& fields, const Expectation& out) {
  if (out.not_before.has_value() && !out.within.has_value()) {
    fields.Fail("not_before", "needs `within` beside it: by when");
  }
  if (out.not_before.has_value() && out.within.has_value() && *out.within < *out.not_before) {
    fields.Fail("within", "ends before not_before");
  }
}

bool SaysSomething(const Expectation& e) {
  return e.count || e.placed || e.pending || e.running || e.succeeded || e.failed ||
         e.terminating || e.attempts || !e.on.empty() || !e.not_on.empty() || e.nominated ||
         e.scheduled || !e.reason.empty() || !e.message.empty() || !e.spread.empty() ||
         !e.events.empty() || e.evictions || e.bind_failures || !e.nodes.empty() ||
         !e.pod_groups.empty();
}

}  // namespace

void ReadExpectation(FieldReader& fields, Expectation& out) {
  ReadSpan(fields, "within", out.within);
  ReadSpan(fields, "not_before", out.not_before);
  ReadSpan(fields, "for", out.stays);
  CheckTimes(fields, out);

  ReadPodSelection(fields, Need::kNone, out.pods);
  ReadRange(fields, "count", out.count);
  ReadRange(fields, "placed", out.placed);
  ReadRange(fields, "pending", out.pending);
  ReadRange(fields, "running", out.running);
  ReadRange(fields, "succeeded", out.succeeded);
  ReadRange(fields, "failed", out.failed);
  ReadRange(fields, "terminating", out.terminating);
  ReadRange(fields, "attempts", out.attempts);
  ReadNames(fields, "on", out.on);
  ReadNames(fields, "not_on", out.not_on);
  fields.Read("nominated", out.nominated);
  fields.Read("scheduled", out.scheduled);
  fields.Read("reason", out.reason);
  ReadMatch(fields, "message", "message_contains", "message_prefix", out.message);
  fields.Map("spread", [&](FieldReader& spread) { ReadSpread(spread, out.spread); });
  fields.ForEach("events",
                 [&](FieldReader& event) { ReadEvent(event, out.events.emplace_back()); });

  ReadRange(fields, "evictions", out.evictions);
  ReadRange(fields, "bind_failures", out.bind_failures);
  fields.ForEach("nodes", [&](FieldReader& node) { ReadNode(node, out.nodes.emplace_back()); });
  fields.ForEach("pod_groups",
                 [&](FieldReader& group) { ReadPodGroup(group, out.pod_groups.emplace_back()); });
  if (fields.ok() && !SaysSomething(out)) FailWithout(fields, "says nothing that could be true");
}

}  // namespace knx::scenario
