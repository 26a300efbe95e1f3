#include "scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "scenario/manifest_tree.h"
#include "scenario/pod_script.h"
#include "scenario/read_steps.h"
#include "scenario/variants.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;

void ReadTiming(FieldReader& fields, Timing& out) {
  const std::pair<std::string_view, Duration*> spans[] = {
      {"watch", &out.watch},
      {"call", &out.call},
      {"controller", &out.controller},
      {"start", &out.start},
      {"stop", &out.stop},
      {"resize", &out.resize},
      {"node_grace", &out.node_grace},
      {"eviction_retry", &out.eviction_retry},
      {"pod_gc", &out.pod_gc},
      {"job_backoff", &out.job_backoff},
  };
  for (const auto& [key, span] : spans) ReadSpan(fields, key, *span);
  // What is tried again without a pause is tried for ever at one instant.
  if (out.eviction_retry < Duration::Milliseconds(1)) {
    fields.Fail("eviction_retry", "must be 1ms at least");
  }
}

void ReadCluster(FieldReader& fields, Scenario& out) {
  fields.Map("timing", [&](FieldReader& timing) { ReadTiming(timing, out.timing); });
  fields.ForEach("nodes", [&](FieldReader& node) {
    Template& entry = out.nodes.emplace_back();
    entry.form = Template::Form::kNode;
    entry.node = &node.node();
    entry.path = node.path();
    ReadCount(node, entry);
    for (const k8s::YamlNode& child : node.node().children) node.Allow({child.key});
  });
  fields.ForEach("objects", [&](FieldReader& object) {
    Template& entry = out.objects.emplace_back();
    entry.form = Template::Form::kManifests;
    entry.node = &object.node();
    entry.path = object.path();
  });
}

void ReadHead(FieldReader& fields, Scenario& out) {
  fields.Require("scenario", out.name);
  fields.Require("why", out.why);
  if (std::int64_t seed = 0; fields.Read("seed", seed, k8s::IntegerLimits{.min = 0})) {
    out.seed = static_cast<std::uint64_t>(seed);
  }
  if (fields.Read("config", out.config)) {
    // The text of a block begins in the line below.
    out.config_line = fields.Node("config")->line;
  }
  if (fields.Read("config_file", out.config_file) && !out.config.empty()) {
    fields.Fail("config_file", "must not be given together with config");
  }
}

Status CheckScript(const k8s::Object& object) {
  return std::visit(
      [](const auto& made) -> Status {
        using T = std::decay_t<decltype(made)>;
        if constexpr (std::is_same_v<T, k8s::Pod>) {
          KNX_TRY([[maybe_unused]] const PodScript script, ScriptOf(made.meta));
        } else if constexpr (std::is_same_v<T, k8s::Workload> || std::is_same_v<T, k8s::Job>) {
          KNX_TRY([[maybe_unused]] const PodScript script, ScriptOf(made.pod_template.meta));
        }
        return Ok();
      },
      object);
}

// Every template once, so that a mistake in one is found before anything runs.
Status CheckTemplates(const Scenario& scenario) {
  const auto check = [&](const Template& what) -> Status {
    if (what.count == 0) return Ok();
    KNX_TRY(const auto objects, MakeObjects(what, what.first, scenario.file));
    for (const k8s::Object& object : objects) {
      if (auto checked = CheckScript(object); !checked.ok()) {
        Error error = std::move(checked).error().Within(what.path);
        error.place = {scenario.file, what.node->line, what.node->column};
        return error;
      }
    }
    return Ok();
  };
  for (const Template& node : scenario.nodes) KNX_TRY_DONE(check(node));
  for (const Template& object : scenario.objects) KNX_TRY_DONE(check(object));
  for (const Step& step : scenario.steps) {
    if (const auto* create = std::get_if<Create>(&step.what)) KNX_TRY_DONE(check(create->what));
    if (const auto* apply = std::get_if<Apply>(&step.what)) KNX_TRY_DONE(check(apply->what));
  }
  return Ok();
}

// A step cannot be due before the one in front of it, nor while time that is to pass first passes.
Status CheckTimes(const Scenario& scenario) {
  Duration latest_at;
  Duration earliest;  // for the step that is looked at
  for (const Step& step : scenario.steps) {
    if (step.at.has_value()) {
      if (*step.at < latest_at) {
        return InvalidError(step.path + ".at: is earlier than that of a step before", step.place);
      }
      if (*step.at < earliest) {
        return InvalidError(
            fmt::format("{}.at: is {}, but the steps before last until {} at least", step.path,
                        FormatDuration(*step.at), FormatDuration(earliest)),
            step.place);
      }
      latest_at = earliest = *step.at;
    }
    const auto* pass = std::get_if<PassTime>(&step.what);
    if (pass == nullptr) continue;
    if (pass->kind == PassTime::Kind::kFor) earliest = std::min(earliest + pass->span, kMaxSpan);
    if (pass->kind == PassTime::Kind::kUntil) earliest = std::max(earliest, pass->span);
  }
  return Ok();
}

}  // namespace

bool IsScenario(const k8s::YamlNode& document) { return document.Find("scenario") != nullptr; }

Result<Scenario> ReadScenario(k8s::YamlNode document, std::string_view file, std::size_t variant) {
  Scenario out;
  out.file = std::string(file);
  KNX_TRY(const std::vector<Variant> variants, VariantsOf(document, file));
  if (variant >= variants.size()) {
    return InvalidError(fmt::format("it has no variant {}: there {} {}", variant + 1,
                                    variants.size() == 1 ? "is" : "are", variants.size()),
                        {out.file, document.line, document.column});
  }
  out.variants = variants.size();
  out.variant = variants[variant].ToString();
  KNX_TRY(document, InVariant(std::move(document), variants[variant], file));
  out.document = std::make_unique<k8s::YamlNode>(std::move(document));
  KNX_TRY_DONE(k8s::ReadNode(
      *out.document, {.file = file, .unknown = k8s::UnknownFields::kRefuse, .path = {}},
      [&](FieldReader& fields) {
        ReadHead(fields, out);
        fields.Map("cluster", [&](FieldReader& cluster) { ReadCluster(cluster, out); });
        fields.ForEach("steps", [&](FieldReader& step) {
          ReadStep(step, file, out.steps.emplace_back(), out.oldest_list);
        });
      }));
  KNX_TRY_DONE(CheckTemplates(out));
  KNX_TRY_DONE(CheckTimes(out));
  return out;
}

Result<std::vector<k8s::Object>> MakeObjects(const Template& what, std::int64_t number,
                                             std::string_view file) {
  const k8s::YamlNode node = Numbered(*what.node, number);
  const TreePlace place{.file = file, .path = what.path};
  if (what.form == Template::Form::kNode) {
    KNX_TRY(const k8s::YamlNode manifest, NodeManifest(node, place));
    return ReadObjects(manifest, place);
  }
  if (what.form == Template::Form::kShort) {
    KNX_TRY(const k8s::YamlNode manifest, WorkManifest(node, place));
    return ReadObjects(manifest, place);
  }
  const k8s::YamlNode* one = node.Find("object");
  const k8s::YamlNode* many = node.Find("objects");
  if (one == nullptr && many == nullptr) return ReadObjects(node, place);
  std::vector<k8s::Object> out;
  const auto add = [&](const k8s::YamlNode& manifest) -> Status {
    KNX_TRY(std::vector<k8s::Object> read, ReadObjects(manifest, place));
    for (k8s::Object& object : read) out.push_back(std::move(object));
    return Ok();
  };
  if (one != nullptr) KNX_TRY_DONE(add(*one));
  if (many != nullptr) {
    for (const k8s::YamlNode& manifest : many->children) KNX_TRY_DONE(add(manifest));
  }
  return out;
}

}  // namespace knx::scenario
