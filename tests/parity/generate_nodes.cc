#include "base/digest.h"
#include "generate_objects.h"
#include "generate_selectors.h"
#include "json_text.h"

namespace knx::parity {
namespace {

std::string TaintsJson(Dice& dice) {
  std::vector<std::string> taints;
  for (std::int64_t i = dice.Between(1, 2); i > 0; --i) {
    taints.push_back(JsonObject()
                         .Text("key", dice.Pick({"dedicated", "spot", "flaky"}))
                         .Text("value", dice.Pick({"gpu", "true", "", "db"}))
                         .Text("effect", dice.Pick({"NoSchedule", "PreferNoSchedule",
                                                    "PreferNoSchedule", "NoExecute"}))
                         .Done());
  }
  return JsonList(taints);
}

std::string AllocatableJson(Dice& dice) {
  JsonObject out;
  out.Text("cpu", dice.Pick({"4", "8", "16", "3900m", "1", "0"}));
  out.Text("memory", dice.Pick({"8Gi", "16Gi", "32Gi", "3500Mi", "1G"}));
  out.Text("pods", dice.Pick({"110", "110", "20", "3"}));
  if (dice.Chance(50)) out.Text("ephemeral-storage", dice.Pick({"100Gi", "20Gi", "0"}));
  if (dice.Chance(30)) out.Text("nvidia.com/gpu", dice.Pick({"8", "4", "1", "0"}));
  if (dice.Chance(15)) out.Text("hugepages-2Mi", dice.Pick({"64Mi", "0"}));
  if (dice.Chance(15)) out.Text("example.com/widget", dice.Pick({"10", "1"}));
  return out.Done();
}

std::string ImagesJson(Dice& dice) {
  std::vector<std::string> images;
  for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
    const std::string name = dice.Pick(
        {"registry/app:1", "registry/app:latest", "registry/db:2", "registry/tool:latest"});
    // One name has one size, as in a real cluster: which of several is seen first is chance.
    const std::int64_t size = static_cast<std::int64_t>(DigestOf(name) % 900 + 10) * 1'000'000;
    images.push_back(JsonObject().Raw("names", JsonTexts({name})).Number("sizeBytes", size).Done());
  }
  return JsonList(images);
}

}  // namespace

std::string NodeJson(Dice& dice, std::int64_t number) {
  const std::string name = fmt::format("node-{}", number);
  Labels labels;
  if (!dice.Feature("node without hostname label", 3)) {
    labels.emplace_back("kubernetes.io/hostname", name);
  }
  if (!dice.Feature("node without zone", 8)) {
    labels.emplace_back("topology.kubernetes.io/zone", dice.Pick({"z0", "z1", "z2"}));
  }
  if (dice.Chance(60)) labels.emplace_back("topology.kubernetes.io/region", dice.Pick({"e", "w"}));
  if (dice.Chance(80)) labels.emplace_back("rack", fmt::format("r{}", dice.Between(0, 5)));
  if (dice.Chance(60)) labels.emplace_back("disk", dice.Pick({"ssd", "hdd", ""}));
  if (dice.Chance(50)) labels.emplace_back("gen", dice.Pick({"1", "2", "3", "x", "-1"}));
  JsonObject spec;
  if (dice.Feature("node unschedulable", 6)) spec.Flag("unschedulable", true);
  if (dice.Feature("node taints", 20)) spec.Raw("taints", TaintsJson(dice));
  JsonObject status;
  status.Raw("allocatable", AllocatableJson(dice));
  if (dice.Feature("node images", 40)) status.Raw("images", ImagesJson(dice));
  if (dice.Feature("node declared features", 20)) {
    status.Raw("declaredFeatures",
               JsonTexts({dice.Pick({"UserNamespacesHostNetworkSupport",
                                     "RestartAllContainersOnContainerExits", "Other"})}));
  }
  return JsonObject()
      .Text("apiVersion", "v1")
      .Text("kind", "Node")
      .Raw("metadata", JsonObject()
                           .Text("name", name)
                           .Text("uid", "uid-" + name)
                           .Raw("labels", LabelsJson(labels))
                           .Done())
      .Raw("spec", spec.Done())
      .Raw("status", status.Done())
      .Done();
}

}  // namespace knx::parity
