#include "generate_objects.h"
#include "generate_selectors.h"
#include "json_text.h"

namespace knx::parity {
namespace {

std::string Meta(std::string_view namespace_, std::string_view name) {
  JsonObject meta;
  meta.Text("name", name).Text("uid", fmt::format("uid-{}-{}", namespace_, name));
  if (!namespace_.empty()) meta.Text("namespace", namespace_);
  return meta.Done();
}

std::string ServiceJson(Dice& dice, const std::string& namespace_, const std::string& name) {
  const std::string selector =
      dice.Chance(15) ? "{}" : LabelsJson({{"app", dice.Pick({"web", "db", "cache"})}});
  return JsonObject()
      .Text("apiVersion", "v1")
      .Text("kind", "Service")
      .Raw("metadata", Meta(namespace_, name))
      .Raw("spec", JsonObject().Raw("selector", selector).Done())
      .Done();
}

std::string WorkloadJson(Dice& dice, const std::string& kind, const std::string& namespace_,
                         const std::string& name) {
  const std::string labels = LabelsJson({{"app", dice.Pick({"web", "db", "cache", "batch"})}});
  return JsonObject()
      .Text("apiVersion", "apps/v1")
      .Text("kind", kind)
      .Raw("metadata", Meta(namespace_, name))
      .Raw("spec",
           JsonObject()
               .Raw("selector", JsonObject().Raw("matchLabels", labels).Done())
               .Raw("template",
                    JsonObject()
                        .Raw("metadata", JsonObject().Raw("labels", labels).Done())
                        .Raw("spec", R"({"containers":[{"name":"c","image":"registry/app:1"}]})")
                        .Done())
               .Done())
      .Done();
}

}  // namespace

std::vector<std::string> NamespacesJson() {
  std::vector<std::string> out;
  for (const std::string& name : Namespaces()) {
    JsonObject meta;
    meta.Text("name", name).Text("uid", "uid-" + name);
    if (name != "default") meta.Raw("labels", LabelsJson({{"team", name}}));
    out.push_back(JsonObject()
                      .Text("apiVersion", "v1")
                      .Text("kind", "Namespace")
                      .Raw("metadata", meta.Done())
                      .Done());
  }
  return out;
}

std::vector<std::string> OwnersJson(Dice& dice) {
  std::vector<std::string> out;
  if (!dice.Feature("services and workloads", 60)) return out;
  for (std::int64_t i = dice.Between(1, 4); i > 0; --i) {
    out.push_back(ServiceJson(dice, dice.Pick(Namespaces()), fmt::format("service-{}", i)));
  }
  for (std::int64_t i = 0; i < 5; ++i) {
    if (!dice.Chance(60)) continue;
    out.push_back(WorkloadJson(dice, dice.Pick({"ReplicaSet", "StatefulSet"}),
                               dice.Pick(Namespaces()), fmt::format("owner-{}", i)));
  }
  return out;
}

std::vector<std::string> BudgetsJson(Dice& dice) {
  std::vector<std::string> out;
  if (!dice.Feature("disruption budgets", 40)) return out;
  for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
    out.push_back(
        JsonObject()
            .Text("apiVersion", "policy/v1")
            .Text("kind", "PodDisruptionBudget")
            .Raw("metadata", Meta(dice.Pick(Namespaces()), fmt::format("pdb-{}", i)))
            .Raw("spec",
                 JsonObject().Number("minAvailable", 1).Raw("selector", SelectorJson(dice)).Done())
            .Raw("status", JsonObject()
                               .Number("disruptionsAllowed", dice.Between(0, 2))
                               .Number("currentHealthy", 1)
                               .Number("desiredHealthy", 1)
                               .Number("expectedPods", 1)
                               .Done())
            .Done());
  }
  return out;
}

}  // namespace knx::parity
