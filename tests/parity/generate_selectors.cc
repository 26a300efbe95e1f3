#include "generate_selectors.h"

#include <algorithm>

#include "json_text.h"

namespace knx::parity {
namespace {

std::string Requirement(Dice& dice, const std::string& key,
                        const std::vector<std::string>& values) {
  JsonObject out;
  out.Text("key", key);
  const std::int64_t kind = dice.Between(0, 9);
  if (kind == 0) return out.Text("operator", "Exists").Done();
  if (kind == 1) return out.Text("operator", "DoesNotExist").Done();
  out.Text("operator", kind <= 3 ? "NotIn" : "In");
  std::vector<std::string> chosen;
  for (std::int64_t i = dice.Between(1, 2); i > 0; --i) chosen.push_back(dice.Pick(values));
  return out.Raw("values", JsonTexts(chosen)).Done();
}

// The API server would refuse them; they come from older servers and from other ways in.
std::string MalformedRequirement(Dice& dice) {
  return dice.Pick(
      {R"({"key":"app","operator":"Near","values":["web"]})",
       R"({"key":"app","operator":"Gt","values":["1"]})", R"({"key":"app","operator":"In"})",
       R"({"key":"app","operator":"DoesNotExist","values":["web","db"]})",
       R"({"key":"-app","operator":"Exists"})", R"({"key":"a/b/c","operator":"Exists"})",
       R"({"key":"app","operator":"NotIn","values":["web","not ok!"]})"});
}

const std::vector<std::string> kApps = {"web", "db", "cache", "batch"};
const std::vector<std::string> kTiers = {"front", "back", ""};

std::string TopologyKey(Dice& dice) {
  return dice.Pick({"kubernetes.io/hostname", "kubernetes.io/hostname",
                    "topology.kubernetes.io/zone", "topology.kubernetes.io/zone", "rack",
                    "topology.kubernetes.io/region", "missing-key"});
}

std::string PodAffinityTerm(Dice& dice) {
  JsonObject term;
  if (!dice.Feature("affinity without selector", 4)) term.Raw("labelSelector", SelectorJson(dice));
  if (dice.Feature("affinity with namespaces", 15)) {
    std::vector<std::string> names;
    for (std::int64_t i = dice.Between(1, 2); i > 0; --i) names.push_back(dice.Pick(Namespaces()));
    term.Raw("namespaces", JsonTexts(names));
  }
  // Only with operators that need a label: kube-scheduler 1.36 reads the others wrongly
  // (docs/parity.md).
  if (dice.Feature("affinity with namespace selector", 12)) {
    term.Raw(
        "namespaceSelector",
        dice.Chance(30)
            ? "{}"
            : JsonObject()
                  .Raw("matchLabels", JsonObject().Text("team", dice.Pick({"red", "blue"})).Done())
                  .Done());
  }
  return term.Text("topologyKey", TopologyKey(dice)).Done();
}

std::string PodTerms(Dice& dice, bool required_likely) {
  JsonObject out;
  if (dice.Chance(required_likely ? 70 : 50)) {
    std::vector<std::string> terms;
    for (std::int64_t i = dice.Between(1, 2); i > 0; --i) terms.push_back(PodAffinityTerm(dice));
    out.Raw("requiredDuringSchedulingIgnoredDuringExecution", JsonList(terms));
  }
  if (dice.Chance(50)) {
    std::vector<std::string> terms;
    for (std::int64_t i = dice.Between(1, 2); i > 0; --i) {
      terms.push_back(JsonObject()
                          .Number("weight", dice.Between(1, 100))
                          .Raw("podAffinityTerm", PodAffinityTerm(dice))
                          .Done());
    }
    out.Raw("preferredDuringSchedulingIgnoredDuringExecution", JsonList(terms));
  }
  return out.Done();
}

// The API server does not ask whether they are numbers.
std::vector<std::string> BoundsOf(Dice& dice) {
  if (dice.Feature("bound that is no number", 5)) return {"many", "", "1.5"};
  return {"1", "2", "3", "0"};
}

std::string NodeTerm(Dice& dice) {
  JsonObject term;
  std::vector<std::string> expressions;
  for (std::int64_t i = dice.Between(0, 2); i > 0; --i) {
    if (dice.Feature("malformed node term", 3)) {
      expressions.push_back(MalformedRequirement(dice));
      continue;
    }
    switch (dice.Between(0, 4)) {
      case 0:
        expressions.push_back(Requirement(dice, "disk", {"ssd", "hdd", ""}));
        break;
      case 1:
        expressions.push_back(Requirement(dice, "topology.kubernetes.io/zone", {"z0", "z1", "z2"}));
        break;
      case 2:
        expressions.push_back(JsonObject()
                                  .Text("key", "gen")
                                  .Text("operator", dice.Pick({"Gt", "Lt"}))
                                  .Raw("values", JsonTexts({dice.Pick(BoundsOf(dice))}))
                                  .Done());
        break;
      default:
        expressions.push_back(Requirement(dice, "rack", {"r0", "r1", "r2", "r3"}));
    }
  }
  if (!expressions.empty()) term.Raw("matchExpressions", JsonList(expressions));
  if (dice.Feature("node affinity by name", 12)) {
    const std::string name = fmt::format("node-{}", dice.Between(0, 24));
    term.Raw("matchFields", JsonList({JsonObject()
                                          .Text("key", "metadata.name")
                                          .Text("operator", dice.Pick({"In", "In", "NotIn"}))
                                          .Raw("values", JsonTexts({name}))
                                          .Done()}));
  }
  return term.Done();
}

}  // namespace

const std::vector<std::string>& Namespaces() {
  static const std::vector<std::string> names = {"default", "red", "blue"};
  return names;
}

std::string LabelsJson(const Labels& labels) {
  JsonObject out;
  for (const auto& [key, value] : labels) out.Text(key, value);
  return out.Done();
}

Labels PodLabels(Dice& dice) {
  Labels labels;
  if (dice.Chance(85)) labels.emplace_back("app", dice.Pick(kApps));
  if (dice.Chance(50)) labels.emplace_back("tier", dice.Pick(kTiers));
  return labels;
}

std::string SelectorJson(Dice& dice) {
  if (dice.Feature("empty selector", 4)) return "{}";
  if (dice.Feature("malformed selector", 2)) {
    return JsonObject().Raw("matchExpressions", JsonList({MalformedRequirement(dice)})).Done();
  }
  JsonObject out;
  if (dice.Chance(70)) {
    out.Raw("matchLabels", LabelsJson({{"app", dice.Pick(kApps)}}));
  }
  if (out.empty() || dice.Chance(25)) {
    out.Raw("matchExpressions", JsonList({dice.Chance(50) ? Requirement(dice, "tier", kTiers)
                                                          : Requirement(dice, "app", kApps)}));
  }
  return out.Done();
}

std::string NodeAffinityJson(Dice& dice) {
  JsonObject out;
  if (dice.Chance(60)) {
    std::vector<std::string> terms;
    for (std::int64_t i = dice.Between(1, 3); i > 0; --i) terms.push_back(NodeTerm(dice));
    out.Raw("requiredDuringSchedulingIgnoredDuringExecution",
            JsonObject().Raw("nodeSelectorTerms", JsonList(terms)).Done());
  }
  if (dice.Chance(60)) {
    std::vector<std::string> terms;
    for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
      terms.push_back(JsonObject()
                          .Number("weight", dice.Between(1, 100))
                          .Raw("preference", NodeTerm(dice))
                          .Done());
    }
    out.Raw("preferredDuringSchedulingIgnoredDuringExecution", JsonList(terms));
  }
  return out.Done();
}

std::string PodAffinityJson(Dice& dice) { return PodTerms(dice, false); }
std::string PodAntiAffinityJson(Dice& dice) { return PodTerms(dice, true); }

std::string SpreadConstraintsJson(Dice& dice) {
  std::vector<std::string> constraints;
  std::vector<std::string> seen;
  for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
    JsonObject out;
    const std::string key = TopologyKey(dice);
    const bool hard = dice.Chance(50);
    const std::string identity = key + (hard ? "!" : "?");
    if (std::find(seen.begin(), seen.end(), identity) != seen.end()) continue;
    seen.push_back(identity);
    out.Number("maxSkew", dice.Between(1, 4)).Text("topologyKey", key);
    out.Text("whenUnsatisfiable", hard ? "DoNotSchedule" : "ScheduleAnyway");
    if (!dice.Feature("spread without selector", 4)) out.Raw("labelSelector", SelectorJson(dice));
    if (dice.Feature("spread with matchLabelKeys", 12)) {
      out.Raw("matchLabelKeys", JsonTexts({dice.Pick({"tier", "missing"})}));
    }
    if (hard && dice.Feature("minDomains", 20)) out.Number("minDomains", dice.Between(1, 6));
    if (dice.Feature("nodeAffinityPolicy", 20)) {
      out.Text("nodeAffinityPolicy", dice.Pick({"Honor", "Ignore"}));
    }
    if (dice.Feature("nodeTaintsPolicy", 20)) {
      out.Text("nodeTaintsPolicy", dice.Pick({"Honor", "Ignore"}));
    }
    constraints.push_back(out.Done());
  }
  return JsonList(constraints);
}

std::string TolerationsJson(Dice& dice) {
  std::vector<std::string> tolerations;
  for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
    JsonObject out;
    const bool exists = dice.Chance(40);
    if (!exists || dice.Chance(85)) out.Text("key", dice.Pick({"dedicated", "spot", "flaky"}));
    const bool unknown = dice.Feature("unknown toleration", 3);
    out.Text("operator", unknown ? "Near" : exists ? "Exists" : "Equal");
    if (!exists) out.Text("value", dice.Pick({"gpu", "true", "", "db"}));
    if (dice.Chance(60)) {
      out.Text("effect", dice.Pick({"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    } else if (dice.Feature("unknown effect", 5)) {
      out.Text("effect", "Sometimes");
    }
    tolerations.push_back(out.Done());
  }
  return JsonList(tolerations);
}

std::string NodeSelectorJson(Dice& dice) {
  return dice.Chance(50)
             ? LabelsJson({{"disk", dice.Pick({"ssd", "hdd"})}})
             : LabelsJson({{"topology.kubernetes.io/zone", dice.Pick({"z0", "z1", "z2", "z9"})}});
}

}  // namespace knx::parity
