#include "plugins/nexus/profile_classifier/profile_classifier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "k8s/operators.h"
#include "plugins/common/args.h"

namespace knx::plugins {
namespace {

using cluster::ProfileField;
using cluster::ProfileRule;
using cluster::ProfileRules;
using enum ProfileRule::From;
using k8s::FieldReader;

// One who asks for more GPUs than any node has is of no kind that a rule could mean.
constexpr std::int64_t kMostGpus = 1'000'000;

void CheckOperators(FieldReader& fields, const ProfileRule& rule) {
  std::vector<std::string_view> known;
  for (const k8s::Operator& one : k8s::Operators()) known.push_back(one.name);
  for (const std::string& name : rule.values) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fields.Fail("values",
                fmt::format("{:?} is no operator; known are {}", name, fmt::join(known, ", ")));
  }
}

void CheckRule(FieldReader& fields, const ProfileRule& rule) {
  const bool has_key =
      rule.from == kLabel || rule.from == kAnnotation || rule.from == kNamespaceLabel;
  const bool selects = !rule.values.empty() || !rule.contains.empty();
  if (has_key && rule.key.empty()) fields.Fail("key", "missing: of which label or annotation");
  if (!has_key && !rule.key.empty()) fields.Fail("key", "only labels and annotations have one");
  if (rule.from == kOperator) CheckOperators(fields, rule);
  if (rule.from == kPod && selects) {
    fields.Fail("from", "of a pod as such there are no values to compare with");
  }
  if (rule.from == kNamespaceLabel && (rule.gang || rule.gpus_at_least > 0)) {
    fields.Fail("from", "what a namespace says goes for all of its pods: no gang, no gpusAtLeast");
  }
  const bool own_value = has_key || (rule.from == kOperator && rule.sets == ProfileField::kType);
  if (rule.to.empty() && !own_value) {
    fields.Fail("to", "missing: what the field is set to");
  }
  if (!rule.to.empty() && !IsAllowed(rule.sets, rule.to)) {
    fields.Fail("to", fmt::format("{:?} is none of {}", rule.to, AllowedValues(rule.sets)));
  }
}

void ReadRule(FieldReader& fields, ProfileRule& rule) {
  fields.ReadEnum<ProfileRule::From>("from", rule.from,
                                     {{"label", kLabel},
                                      {"annotation", kAnnotation},
                                      {"namespaceLabel", kNamespaceLabel},
                                      {"priorityClass", kPriorityClass},
                                      {"image", kImage},
                                      {"operator", kOperator},
                                      {"pod", kPod}});
  fields.Read("key", rule.key);
  fields.Read("values", rule.values);
  fields.Read("contains", rule.contains);
  fields.Read("gpusAtLeast", rule.gpus_at_least, k8s::IntegerLimits{.min = 0, .max = kMostGpus});
  fields.Read("gang", rule.gang);
  std::string sets;
  fields.Require("sets", sets);
  if (fields.ok()) {
    fields.ReadEnum<ProfileField>("sets", rule.sets,
                                  {{"tenant", ProfileField::kTenant},
                                   {"tier", ProfileField::kTier},
                                   {"type", ProfileField::kType},
                                   {"preemptible", ProfileField::kPreemptible}});
  }
  fields.Read("to", rule.to);
  if (fields.ok()) CheckRule(fields, rule);
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> ProfileClassifier::Make(
    const framework::PluginArgs& args) {
  std::vector<ProfileRule> rules;
  ProfileRules::Defaults defaults;
  bool default_rules = true;
  KNX_TRY_DONE(ReadArgs(args, "ProfileClassifierArgs", [&](FieldReader& fields) {
    fields.ForEach("rules", [&](FieldReader& rule) { ReadRule(rule, rules.emplace_back()); });
    fields.Read("defaultRules", default_rules);
    fields.ReadEnum<cluster::Tier>("defaultTier", defaults.tier,
                                   {{"gold", cluster::Tier::kGold},
                                    {"silver", cluster::Tier::kSilver},
                                    {"bronze", cluster::Tier::kBronze}});
    fields.ReadEnum<k8s::WorkloadType>("defaultType", defaults.type,
                                       {{"training", k8s::WorkloadType::kTraining},
                                        {"inference", k8s::WorkloadType::kInference},
                                        {"batch", k8s::WorkloadType::kBatch},
                                        {"service", k8s::WorkloadType::kService},
                                        {"interactive", k8s::WorkloadType::kInteractive}});
    const std::size_t known = default_rules ? cluster::DefaultProfileRules().size() : 0;
    if (rules.size() + known > ProfileRules::kMost) {
      fields.Fail("rules", fmt::format("{} are too many: at most {}", rules.size(),
                                       ProfileRules::kMost - known));
    }
  }));
  if (default_rules) {
    for (ProfileRule& rule : cluster::DefaultProfileRules()) rules.push_back(std::move(rule));
  }
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<ProfileClassifier>(ProfileRules(std::move(rules), defaults)));
}

}  // namespace knx::plugins
