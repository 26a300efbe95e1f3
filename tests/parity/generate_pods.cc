#include "generate_objects.h"
#include "generate_selectors.h"
#include "generate_volumes.h"
#include "json_text.h"

namespace knx::parity {
namespace {

std::string RequestsJson(Dice& dice) {
  JsonObject out;
  if (dice.Chance(75)) out.Text("cpu", dice.Pick({"100m", "500m", "1", "2", "0", "1500m", "6"}));
  if (dice.Chance(65)) {
    out.Text("memory", dice.Pick({"128Mi", "1Gi", "2Gi", "0", "123456789", "7Gi"}));
  }
  if (dice.Feature("ephemeral storage", 10)) {
    out.Text("ephemeral-storage", dice.Pick({"1Gi", "30Gi", "0"}));
  }
  if (dice.Feature("gpu", 10)) out.Text("nvidia.com/gpu", dice.Pick({"1", "2", "8", "0"}));
  if (dice.Feature("widget", 4)) out.Text("example.com/widget", dice.Pick({"1", "5"}));
  if (dice.Feature("hugepages", 4)) out.Text("hugepages-2Mi", dice.Pick({"2Mi", "32Mi"}));
  return out.Done();
}

std::string PortsJson(Dice& dice, std::vector<std::string>& taken) {
  std::vector<std::string> ports;
  for (std::int64_t i = dice.Between(1, 2); i > 0; --i) {
    const std::int64_t port = dice.Between(8080, 8082);
    JsonObject out;
    out.Number("containerPort", port).Number("hostPort", port);
    const std::string protocol = dice.Chance(30) ? dice.Pick({"TCP", "UDP"}) : "";
    if (!protocol.empty()) out.Text("protocol", protocol);
    const std::string address =
        dice.Chance(40) ? dice.Pick({"0.0.0.0", "127.0.0.1", "10.0.0.1"}) : "";
    if (!address.empty()) out.Text("hostIP", address);
    ports.push_back(out.Done());
    taken.push_back(fmt::format("{}/{}/{}", address.empty() ? "0.0.0.0" : address,
                                protocol.empty() ? "TCP" : protocol, port));
  }
  return JsonList(ports);
}

std::string ContainerJson(Dice& dice, const std::string& name, bool init,
                          std::vector<std::string>& host_ports) {
  JsonObject out;
  out.Text("name", name);
  out.Text("image", dice.Pick({"registry/app:1", "registry/app", "registry/db:2", "other:3"}));
  if (dice.Chance(85)) {
    out.Raw("resources", JsonObject().Raw("requests", RequestsJson(dice)).Done());
  }
  if (!init && dice.Feature("host ports", 8)) out.Raw("ports", PortsJson(dice, host_ports));
  if (init && dice.Feature("sidecar", 40)) out.Text("restartPolicy", "Always");
  return out.Done();
}

void AddContainers(Dice& dice, JsonObject& spec, std::vector<std::string>& host_ports) {
  std::vector<std::string> containers;
  for (std::int64_t i = dice.Skewed(1, 4); i > 0; --i) {
    containers.push_back(ContainerJson(dice, fmt::format("c{}", i), false, host_ports));
  }
  spec.Raw("containers", JsonList(containers));
  if (dice.Feature("init containers", 12)) {
    std::vector<std::string> init;
    for (std::int64_t i = dice.Between(1, 3); i > 0; --i) {
      init.push_back(ContainerJson(dice, fmt::format("i{}", i), true, host_ports));
    }
    spec.Raw("initContainers", JsonList(init));
  }
  if (dice.Feature("overhead", 6)) spec.Raw("overhead", R"({"cpu":"250m","memory":"64Mi"})");
  if (dice.Feature("pod-level resources", 6)) {
    JsonObject requests;
    if (dice.Chance(70)) requests.Text("cpu", dice.Pick({"4", "7", "12"}));
    if (dice.Chance(70)) requests.Text("memory", dice.Pick({"8Gi", "20Gi"}));
    spec.Raw("resources", JsonObject().Raw("requests", requests.Done()).Done());
  }
}

void AddRules(Dice& dice, JsonObject& spec) {
  if (dice.Feature("node selector", 10)) spec.Raw("nodeSelector", NodeSelectorJson(dice));
  JsonObject affinity;
  if (dice.Feature("node affinity", 20)) affinity.Raw("nodeAffinity", NodeAffinityJson(dice));
  if (dice.Feature("pod affinity", 15)) affinity.Raw("podAffinity", PodAffinityJson(dice));
  if (dice.Feature("pod anti-affinity", 15)) {
    affinity.Raw("podAntiAffinity", PodAntiAffinityJson(dice));
  }
  if (!affinity.empty()) spec.Raw("affinity", affinity.Done());
  if (dice.Feature("spread", 25)) {
    spec.Raw("topologySpreadConstraints", SpreadConstraintsJson(dice));
  }
  if (dice.Feature("tolerations", 25)) spec.Raw("tolerations", TolerationsJson(dice));
  if (dice.Feature("volumes", 20)) spec.Raw("volumes", VolumesJson(dice));
  if (dice.Feature("host users off on the host network", 6)) {
    spec.Flag("hostNetwork", true).Flag("hostUsers", false);
  }
}

// What the kubelet says of a resize that is under way.
std::string ResizeStatus(Dice& dice) {
  JsonObject container;
  container.Text("name", "c1");
  if (dice.Chance(80)) container.Raw("allocatedResources", RequestsJson(dice));
  if (dice.Chance(80)) {
    container.Raw("resources", JsonObject().Raw("requests", RequestsJson(dice)).Done());
  }
  return JsonList({container.Done()});
}

// Different for every pod, in no order: which of two victims that started together is the more
// important one, kube-scheduler leaves to chance.
std::string StartTime(std::int64_t number) {
  constexpr std::int64_t kMinutes = 28 * 24 * 60;
  const std::int64_t minute = number * 7919 % kMinutes;
  return fmt::format("2026-01-{:02}T{:02}:{:02}:00Z", minute / (24 * 60) + 1, minute / 60 % 24,
                     minute % 60);
}

std::string StatusJson(Dice& dice, const PodPlace& place) {
  JsonObject status;
  status.Text("phase", place.node.empty() ? "Pending" : "Running");
  if (!place.node.empty()) {
    status.Text("startTime", StartTime(place.number));
  }
  if (!place.nominated.empty()) status.Text("nominatedNodeName", place.nominated);
  if (!place.node.empty() && dice.Feature("resize in flight", 6)) {
    status.Raw("containerStatuses", ResizeStatus(dice));
    if (dice.Chance(50)) {
      status.Raw("conditions", JsonList({JsonObject()
                                             .Text("type", "PodResizePending")
                                             .Text("status", "True")
                                             .Text("reason", dice.Pick({"Infeasible", "Deferred"}))
                                             .Done()}));
    }
  }
  return status.Done();
}

// Who belongs to a gang is a pod like any other for a profile that knows no gangs.
void AddGang(Dice& dice, Labels& labels, JsonObject& spec) {
  if (!dice.Feature("gang", 8)) return;
  const std::string group = dice.Pick({"g0", "g1"});
  if (dice.Chance(50)) {
    labels.emplace_back("pod-group.scheduling.kubenexus.io/name", group);
    labels.emplace_back("pod-group.scheduling.kubenexus.io/min-available",
                        dice.Pick({"2", "3", "100"}));
  } else if (dice.Chance(50)) {
    labels.emplace_back("scheduling.x-k8s.io/pod-group", group);
  } else {
    spec.Raw("schedulingGroup", JsonObject().Text("podGroupName", group).Done());
  }
}

}  // namespace

PodPlan MakePlan(Dice& dice) {
  PodPlan plan;
  plan.namespace_ = dice.Pick(Namespaces());
  plan.priority = dice.Pick(std::vector<std::int64_t>{0, 0, 0, 5, 10, 100, -5});
  if (dice.Feature("owner", 40)) {
    plan.owner = JsonObject()
                     .Text("apiVersion", "apps/v1")
                     .Text("kind", dice.Pick({"ReplicaSet", "StatefulSet", "DaemonSet"}))
                     .Text("name", fmt::format("owner-{}", dice.Between(0, 4)))
                     .Text("uid", "uid-owner")
                     .Flag("controller", true)
                     .Done();
  }
  JsonObject spec;
  Labels labels = PodLabels(dice);
  AddGang(dice, labels, spec);
  plan.labels = LabelsJson(labels);
  AddContainers(dice, spec, plan.host_ports);
  AddRules(dice, spec);
  spec.Number("priority", plan.priority);
  if (dice.Feature("preemptionPolicy Never", 10)) spec.Text("preemptionPolicy", "Never");
  const std::string text = spec.Done();
  plan.spec = text.substr(1, text.size() - 2);
  return plan;
}

std::string PodJson(Dice& dice, const PodPlan& plan, const PodPlace& place) {
  JsonObject meta;
  meta.Text("name", place.name).Text("namespace", plan.namespace_);
  meta.Text("uid", "uid-" + plan.namespace_ + "-" + place.name).Raw("labels", plan.labels);
  if (!plan.owner.empty()) meta.Raw("ownerReferences", JsonList({plan.owner}));
  if (!place.node.empty() && dice.Feature("terminating", 8)) {
    meta.Text("deletionTimestamp", "2026-02-01T00:00:00Z").Number("deletionGracePeriodSeconds", 30);
  }
  std::string spec = "{" + plan.spec;
  if (place.node.empty() && place.nominated.empty() && dice.Feature("scheduling gates", 2)) {
    spec += R"(,"schedulingGates":[{"name":"example.com/b"},{"name":"example.com/a"}])";
  }
  if (!place.node.empty()) spec += ",\"nodeName\":" + QuotedText(place.node);
  if (!place.scheduler.empty()) spec += ",\"schedulerName\":" + QuotedText(place.scheduler);
  return JsonObject()
      .Text("apiVersion", "v1")
      .Text("kind", "Pod")
      .Raw("metadata", meta.Done())
      .Raw("spec", spec + "}")
      .Raw("status", StatusJson(dice, place))
      .Done();
}

}  // namespace knx::parity
