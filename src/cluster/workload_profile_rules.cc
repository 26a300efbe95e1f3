// The table of rules that counts where the configuration gives no other. It is printed in the page
// of the plugin ProfileClassifier, and a test compares the two.
#include "cluster/workload_profile.h"
#include "k8s/names.h"

namespace knx::cluster {

std::vector<ProfileRule> DefaultProfileRules() {
  using enum ProfileRule::From;
  using enum ProfileField;
  namespace names = k8s::names;
  const auto named = [](std::string_view key) { return std::string(key); };
  // Operators whose pods may do anything.
  const std::vector<std::string> any_work = {"Ray", "JobSet", "Volcano", "Job"};
  return {
      {.from = kLabel, .key = named(names::kKueueQueue), .sets = kTenant},
      {.from = kNamespaceLabel, .key = named(names::kTenantName), .sets = kTenant},

      {.from = kNamespaceLabel, .key = named(names::kTenantTier), .sets = kTier},
      {.from = kNamespaceLabel, .key = named(names::kNamespaceTier), .sets = kTier},
      {.from = kPriorityClass,
       .values = {"high-priority", "system-cluster-critical", "system-node-critical"},
       .sets = kTier,
       .to = "gold"},
      {.from = kPriorityClass,
       .values = {"medium-priority", "default-priority"},
       .sets = kTier,
       .to = "silver"},
      {.from = kPriorityClass,
       .values = {"low-priority", "best-effort"},
       .sets = kTier,
       .to = "bronze"},
      {.from = kAnnotation, .key = named(names::kTenantTier), .sets = kTier},

      {.from = kLabel, .key = named(names::kWorkloadType), .sets = kType},
      {.from = kAnnotation, .key = named(names::kWorkloadType), .sets = kType},
      {.from = kLabel, .key = "app.rstudio.com/rstudio-server", .sets = kType, .to = "interactive"},
      {.from = kLabel,
       .key = "app.kubernetes.io/name",
       .values = {"jupyter", "jupyterhub", "rstudio", "code-server", "vscode"},
       .contains = {"notebook"},
       .sets = kType,
       .to = "interactive"},
      {.from = kOperator, .values = any_work, .gpus_at_least = 2, .sets = kType, .to = "training"},
      {.from = kOperator,
       .values = any_work,
       .gpus_at_least = 1,
       .gang = true,
       .sets = kType,
       .to = "training"},
      {.from = kOperator, .sets = kType},
      {.from = kLabel,
       .key = "app.kubernetes.io/component",
       .values = {"predictor", "inference", "serving"},
       .sets = kType,
       .to = "inference"},
      {.from = kImage,
       .contains = {"jupyter", "rstudio", "code-server", "vscode", "nteract"},
       .sets = kType,
       .to = "interactive"},
      {.from = kPod, .gpus_at_least = 1, .gang = true, .sets = kType, .to = "training"},
      {.from = kPod, .gang = true, .sets = kType, .to = "batch"},

      {.from = kLabel, .key = named(names::kPreemptible), .sets = kPreemptible},
      {.from = kAnnotation, .key = named(names::kPreemptible), .sets = kPreemptible},
      {.from = kLabel, .key = named(names::kBackfill), .values = {"true"}, .sets = kPreemptible},
      {.from = kAnnotation,
       .key = named(names::kBackfill),
       .values = {"true"},
       .sets = kPreemptible},
      {.from = kPriorityClass,
       .values = {"low-priority", "best-effort"},
       .sets = kPreemptible,
       .to = "true"},
  };
}

}  // namespace knx::cluster
