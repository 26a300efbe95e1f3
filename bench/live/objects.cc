#include "objects.h"

#include <fmt/format.h>

#include <charconv>

#include "base/quoted_text.h"
#include "k8s/names.h"

namespace knx::bench {
namespace {

constexpr std::string_view kImportant = "important";
constexpr int kZones = 3;

// What a pod says of others, and the label by which others know it.
struct Speech {
  std::string_view label = "plain";
  std::string spec;  // fields, each with a comma in front
};

Speech SpeechOf(LiveShape shape) {
  constexpr std::string_view kBlue = R"({"matchLabels":{"color":"blue"}})";
  if (shape.kind == LiveKind::kSpread) {
    return {"blue", fmt::format(R"(,"topologySpreadConstraints":[{{"maxSkew":5,"topologyKey":"{}",)"
                                R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}}])",
                                k8s::names::kZone, kBlue)};
  }
  if (shape.kind == LiveKind::kAffinity) {
    return {"blue",
            fmt::format(R"(,"affinity":{{"podAffinity":{{)"
                        R"("requiredDuringSchedulingIgnoredDuringExecution":[{{"topologyKey":"{}",)"
                        R"("labelSelector":{},"namespaces":["{}","{}"]}}]}}}})",
                        k8s::names::kZone, kBlue, kMeasured, kPresent)};
  }
  return {};
}

constexpr std::string_view kPodGroupVersion = "scheduling.k8s.io/v1alpha2";
std::string PodGroupNameOf(int i) { return fmt::format("gang-{:05}", i); }

// What only the pod at this place says.
std::string OwnWordsOf(LiveShape shape, int i) {
  if (shape.kind == LiveKind::kPreemption) {
    return fmt::format(R"(,"priorityClassName":"{}")", kImportant);
  }
  if (shape.kind == LiveKind::kGang) {
    return fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})",
                       PodGroupNameOf(i / shape.members));
  }
  return "";
}

std::string ConditionPatch(std::string_view status, int count) {
  return fmt::format(
      R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}","message":"update {}"}}]}}}})",
      status, count);
}

std::string PodText(std::string_view name, std::string_view space, std::string_view cpu,
                    const Speech& speech, std::string_view more) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"{}",)"
      R"("labels":{{"color":"{}"}}}},"spec":{{"terminationGracePeriodSeconds":0,)"
      R"("containers":[{{"name":"pause","image":"registry.example/pause:3.10",)"
      R"("resources":{{"requests":{{"cpu":"{}","memory":"500Mi"}}}}}}]{}{}}}}})",
      name, space, speech.label, cpu, speech.spec, more);
}

// "gang-8": 8; 0 for any other name.
int MembersOf(std::string_view shape) {
  constexpr std::string_view kGangsOf = "gang-";
  if (!shape.starts_with(kGangsOf)) return 0;
  shape.remove_prefix(kGangsOf.size());
  int members = 0;
  const auto [end, error] = std::from_chars(shape.begin(), shape.end(), members);
  return error == std::errc() && end == shape.end() ? members : 0;
}

}  // namespace

Result<LiveShape> LiveShapeOf(std::string_view name) {
  if (name == "plain") return LiveShape{LiveKind::kPlain};
  if (name == "spread") return LiveShape{LiveKind::kSpread};
  if (name == "affinity") return LiveShape{LiveKind::kAffinity};
  if (name == "preemption") return LiveShape{LiveKind::kPreemption};
  if (const int members = MembersOf(name); members > 0) {
    return LiveShape{LiveKind::kGang, members};
  }
  return InvalidError(
      fmt::format("shape {}: must be plain, spread, affinity, preemption or gang-N with N members",
                  QuotedText(name)));
}

std::string NodeNameOf(int i) { return fmt::format("node-{:05}", i); }
std::string PodNameOf(int i) { return fmt::format("pod-{:06}", i); }
std::string PresentPodNameOf(int i) { return fmt::format("present-{:06}", i); }

std::string NamespaceJson(std::string_view name) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})",
                     name);
}

std::string PriorityClassJson() {
  return fmt::format(
      R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{}"}},)"
      R"("value":1000}})",
      kImportant);
}

std::string PodGroupJson(LiveShape shape, int i) {
  return fmt::format(R"({{"apiVersion":"{}","kind":"PodGroup","metadata":{{"name":"{}"}},)"
                     R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
                     kPodGroupVersion, PodGroupNameOf(i), shape.members);
}

std::string NodeJson(LiveShape shape, int i) {
  const int zones = shape.kind == LiveKind::kAffinity ? 1 : kZones;
  constexpr std::string_view kRoom = R"({"cpu":"4","memory":"32Gi","pods":"110"})";
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{"{1}":"{0}",)"
      R"("{2}":"zone-{3}"}}}},"status":{{"capacity":{4},"allocatable":{4}}}}})",
      NodeNameOf(i), k8s::names::kHostname, k8s::names::kZone, i % zones, kRoom);
}

std::string PodJson(LiveShape shape, int i) {
  const bool important = shape.kind == LiveKind::kPreemption;
  return PodText(PodNameOf(i), kMeasured, important ? "3" : "100m", SpeechOf(shape),
                 OwnWordsOf(shape, i));
}

std::string PresentPodJson(LiveShape shape, int i, int nodes) {
  const bool victim = shape.kind == LiveKind::kPreemption;
  // Those of the spread are plain, as in kube-scheduler's benchmark.
  const Speech speech = shape.kind == LiveKind::kSpread ? Speech{} : SpeechOf(shape);
  return PodText(PresentPodNameOf(i), kPresent, victim ? "900m" : "100m", speech,
                 fmt::format(R"(,"nodeName":"{}")", NodeNameOf(i % nodes)));
}

std::string PodGroupsPath() {
  return fmt::format("/apis/{}/namespaces/{}/podgroups", kPodGroupVersion, kMeasured);
}

std::string NodeStatusPath(int i) { return fmt::format("/api/v1/nodes/{}/status", NodeNameOf(i)); }

std::string PodStatusPath(int i) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}/status", kMeasured, PodNameOf(i));
}

std::string PresentPodPath(int i) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", kPresent, PresentPodNameOf(i));
}

std::string PresentPodStatusPath(int i) { return PresentPodPath(i) + "/status"; }

std::string NominationJson(std::string_view node) {
  return fmt::format(
      R"({{"status":{{"conditions":[{{"type":"PodScheduled","status":"False",)"
      R"("reason":"Unschedulable","message":"no room"}}],"nominatedNodeName":"{}"}}}})",
      node);
}

std::string DisruptionJson() {
  return R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True",)"
         R"("reason":"PreemptionByScheduler","message":"preempting"}]}})";
}

std::string SignOfLifeJson(int count) { return ConditionPatch("True", count); }

std::string ReadinessJson(int count, bool ready) {
  return ConditionPatch(ready ? "True" : "False", count);
}

}  // namespace knx::bench
