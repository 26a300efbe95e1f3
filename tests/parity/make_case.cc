#include <algorithm>
#include <set>
#include <utility>

#include "base/digest.h"
#include "case.h"
#include "dice.h"
#include "generate_objects.h"
#include "generate_volumes.h"
#include "json_text.h"

namespace knx::parity {
namespace {

constexpr std::string_view kHeader =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- schedulerName: default-scheduler\n";

// Configurations that change what plugins answer; most cases have the defaults.
const std::vector<std::string>& Configurations() {
  static const std::vector<std::string> texts = {
      "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
      "        type: MostAllocated\n        resources:\n        - {name: cpu, weight: 3}\n"
      "        - {name: memory, weight: 1}\n        - {name: nvidia.com/gpu, weight: 5}\n",
      "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
      "        type: RequestedToCapacityRatio\n        resources:\n        - {name: cpu, weight: "
      "1}\n"
      "        - {name: memory, weight: 2}\n        requestedToCapacityRatio:\n          shape:\n"
      "          - {utilization: 0, score: 0}\n          - {utilization: 70, score: 10}\n"
      "          - {utilization: 100, score: 3}\n",
      "  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: 40\n"
      "      ignorePreferredTermsOfExistingPods: true\n",
      "  pluginConfig:\n  - name: PodTopologySpread\n    args:\n      defaultingType: List\n"
      "      defaultConstraints:\n      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
      "whenUnsatisfiable: DoNotSchedule}\n      - {maxSkew: 2, topologyKey: rack, "
      "whenUnsatisfiable: ScheduleAnyway}\n",
      "  pluginConfig:\n  - name: NodeAffinity\n    args:\n      addedAffinity:\n"
      "        requiredDuringSchedulingIgnoredDuringExecution:\n          nodeSelectorTerms:\n"
      "          - matchExpressions:\n            - {key: disk, operator: Exists}\n"
      "        preferredDuringSchedulingIgnoredDuringExecution:\n        - weight: 7\n"
      "          preference:\n            matchExpressions:\n"
      "            - {key: disk, operator: In, values: [ssd]}\n",
      "  plugins:\n    multiPoint:\n      enabled:\n      - {name: InterPodAffinity, weight: 7}\n"
      "      - {name: ImageLocality, weight: 11}\n      disabled:\n      - name: NodePorts\n",
      "  plugins:\n    score:\n      disabled:\n      - name: \"*\"\n      enabled:\n"
      "      - {name: NodeResourcesBalancedAllocation, weight: 3}\n"
      "      - {name: PodTopologySpread, weight: 1}\n"
      "  pluginConfig:\n  - name: NodeResourcesBalancedAllocation\n    args:\n      resources:\n"
      "      - {name: cpu, weight: 1}\n      - {name: memory, weight: 1}\n"
      "      - {name: nvidia.com/gpu, weight: 1}\n",
      "  plugins:\n    preFilter:\n      enabled:\n      - name: VolumeZone\n"
      "      - name: InterPodAffinity\n      - name: VolumeBinding\n",
      "  plugins:\n    filter:\n      disabled:\n      - name: VolumeBinding\n      - name: "
      "NodePorts\n",
      "  plugins:\n    filter:\n      enabled:\n      - name: PodTopologySpread\n"
      "      - name: NodeResourcesFit\n      - name: TaintToleration\n    preScore:\n      "
      "enabled:\n"
      "      - name: InterPodAffinity\n      - name: NodeAffinity\n",
  };
  return texts;
}

std::string SomeNode(Dice& dice, std::int64_t nodes) {
  if (dice.Feature("pod on an unknown node", 1)) return "node-gone";
  return fmt::format("node-{}", dice.Between(0, nodes - 1));
}

// Promises meet on one node more often than chance would have it.
std::string PromisedNode(Dice& dice, std::int64_t nodes, const std::string& wanted) {
  return dice.Feature("nodes promised to several", 40) ? wanted : SomeNode(dice, nodes);
}

// Two pods of one node with the same host port are no cluster that can be: if one of them goes,
// kube-scheduler takes the port for free (docs/parity.md).
using TakenPorts = std::set<std::pair<std::string, std::string>>;
bool TakePorts(const PodPlan& plan, const std::string& node, TakenPorts& taken) {
  for (const std::string& port : plan.host_ports) {
    if (taken.contains({node, port})) return false;
  }
  for (const std::string& port : plan.host_ports) taken.emplace(node, port);
  return true;
}

}  // namespace

std::string Case::RequestLine() const {
  JsonObject request;
  request.Text("id", name);
  if (!config.empty()) request.Text("config", config);
  if (!scheduler.empty()) request.Text("scheduler", scheduler);
  return request.Raw("objects", JsonList(objects))
      .Raw("pods", JsonTexts(pods))
      .Flag("preempt", preempt)
      .Done();
}

Case MakeCase(std::uint64_t seed, std::uint64_t number) {
  Dice dice(DigestOf(fmt::format("{}/{}", seed, number)));
  Case made;
  made.name = fmt::format("seed {} case {}", seed, number);
  if (dice.Feature("configuration", 35)) {
    made.config = kHeader;
    if (dice.Feature("second profile", 12)) {
      made.scheduler = "second";
      made.config += "- schedulerName: second\n";
    }
    made.config += dice.Pick(Configurations());
  }
  made.preempt = dice.Feature("preemption", 50);
  made.objects = NamespacesJson();
  for (const auto& more : {OwnersJson(dice), BudgetsJson(dice)}) {
    made.objects.insert(made.objects.end(), more.begin(), more.end());
  }
  const std::int64_t nodes = dice.Skewed(20, 200);
  for (std::int64_t i = 0; i < nodes; ++i) made.objects.push_back(NodeJson(dice, i));
  const std::vector<std::string> storage = StorageJson(dice, nodes);
  made.objects.insert(made.objects.end(), storage.begin(), storage.end());
  std::vector<PodPlan> plans;
  for (std::int64_t i = dice.Between(2, 30); i > 0; --i) plans.push_back(MakePlan(dice));
  const std::int64_t placed = dice.Skewed(0, std::min<std::int64_t>(2000, nodes * 15));
  TakenPorts taken;
  for (std::int64_t i = 0; i < placed; ++i) {
    const PodPlan& plan = dice.Pick(plans);
    const std::string node = SomeNode(dice, nodes);
    if (!TakePorts(plan, node, taken)) continue;
    made.objects.push_back(PodJson(dice, plan, {fmt::format("placed-{}", i), node, "", i}));
  }
  const std::string wanted = SomeNode(dice, nodes);
  if (dice.Feature("nominated pods", 25)) {
    for (std::int64_t i = dice.Between(1, 6); i > 0; --i) {
      const std::string node = PromisedNode(dice, nodes, wanted);
      made.objects.push_back(
          PodJson(dice, dice.Pick(plans), {fmt::format("nominated-{}", i), "", node}));
    }
  }
  for (std::int64_t i = dice.Between(2, 6); i > 0; --i) {
    const PodPlan plan = dice.Chance(50) ? dice.Pick(plans) : MakePlan(dice);
    const std::string name = fmt::format("asked-{}", i);
    const std::string own =
        dice.Feature("own nomination", 12) ? PromisedNode(dice, nodes, wanted) : "";
    made.objects.push_back(PodJson(dice, plan, {name, "", own, 0, made.scheduler}));
    made.pods.push_back(plan.namespace_ + "/" + name);
  }
  made.features = dice.features();
  return made;
}

}  // namespace knx::parity
