#include <fmt/format.h>

#include <algorithm>

#include "k8s/enum_names.h"
#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/pod_defaults.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

template <class Fields>
void ReadTolerations(Fields& spec, std::vector<Toleration>& out) {
  spec.ForEach("tolerations", [&](Fields& fields) {
    Toleration& toleration = out.emplace_back();
    fields.Read("key", toleration.key);
    fields.ReadOpenEnum("operator", toleration.op,
                        {{"", TolerationOperator::kEqual},
                         Named(TolerationOperator::kEqual),
                         Named(TolerationOperator::kExists),
                         Named(TolerationOperator::kLt),
                         Named(TolerationOperator::kGt)});
    fields.Read("value", toleration.value);
    ReadTaintEffect(fields, toleration.effect);
    fields.Read("tolerationSeconds", toleration.seconds);
  });
}

namespace {

constexpr std::int64_t kMaxPort = 65535;
constexpr std::int64_t kDefaultGraceSeconds = 30;

const Quantity* FindAmount(const ResourceList& list, std::string_view resource) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& entry) { return entry.first == resource; });
  return found == list.end() ? nullptr : &found->second;
}

template <class Fields>
void ReadRequirementsOfResources(Fields& fields, ResourceRequirements& out) {
  ReadResourceList(fields, "requests", out.requests);
  ReadResourceList(fields, "limits", out.limits);
  if (!fields.ok()) return;
  for (const auto& [resource, request] : out.requests) {
    const Quantity* limit = FindAmount(out.limits, resource);
    if (limit == nullptr || request <= *limit) continue;
    fields.Map("requests", [&](Fields& requests) {
      requests.Fail(resource, fmt::format("{} is more than the limit, which is {}",
                                          request.ToString(), limit->ToString()));
    });
  }
}

template <class Fields>
void ReadPort(Fields& fields, bool host_network, ContainerPort& out) {
  std::int32_t container_port = 0;
  fields.Require("containerPort", container_port, IntegerLimits{.min = 1, .max = kMaxPort});
  fields.Read("hostPort", out.host_port, IntegerLimits{.min = 0, .max = kMaxPort});
  fields.Read("hostIP", out.host_ip);
  fields.template ReadEnum<std::string>(
      "protocol", out.protocol, {{"", "TCP"}, {"TCP", "TCP"}, {"UDP", "UDP"}, {"SCTP", "SCTP"}});
  if (host_network && out.host_port == 0) out.host_port = container_port;
}

template <class Fields>
void ReadContainers(Fields& spec, std::string_view key, bool host_network,
                    std::vector<Container>& out) {
  spec.ForEach(key, [&](Fields& fields) {
    Container& container = out.emplace_back();
    fields.Require("name", container.name);
    fields.Read("image", container.image);
    fields.Map("resources", [&](Fields& resources) {
      ReadRequirementsOfResources(resources, container.resources);
    });
    fields.ForEach("ports", [&](Fields& port) {
      ReadPort(port, host_network, container.ports.emplace_back());
    });
    fields.ReadEnum("restartPolicy", container.restart_always,
                    {{"Always", true}, {"OnFailure", false}, {"Never", false}});
    fields.ForEach("restartPolicyRules", [&](Fields& rule) {
      std::string action;
      rule.Read("action", action);
      if (action == "RestartAllContainers") container.may_restart_all = true;
    });
  });
}

template <class Fields>
void ReadAllOfContainers(Fields& spec, PodSpec& out) {
  spec.Read("hostNetwork", out.host_network);
  spec.Read("hostUsers", out.host_users);
  ReadContainers(spec, "containers", out.host_network, out.containers);
  ReadContainers(spec, "initContainers", out.host_network, out.init_containers);
  // Only an init container becomes a sidecar; an ordinary one restarts anyway.
  for (Container& container : out.containers) container.restart_always = false;
  if (spec.ok() && out.containers.empty()) {
    spec.Fail("containers", "a pod needs at least one container");
  }
}

template <class Fields>
void ReadContainerStatuses(Fields& status, std::string_view key,
                           std::vector<ContainerStatus>& out) {
  status.ForEach(key, [&](Fields& fields) {
    ContainerStatus& read = out.emplace_back();
    fields.Require("name", read.name);
    if (ResourceList list; ReadResourceList(fields, "allocatedResources", list)) {
      read.allocated = std::move(list);
    }
    fields.Map("resources", [&](Fields& resources) {
      ReadResourceList(resources, "requests", read.actuated.emplace());
    });
  });
}

template <class Fields>
void ReadStatus(Fields& fields, PodStatus& out) {
  fields.ReadEnum("phase", out.phase,
                  {{"", PodPhase::kPending},
                   Named(PodPhase::kPending),
                   Named(PodPhase::kRunning),
                   Named(PodPhase::kSucceeded),
                   Named(PodPhase::kFailed),
                   Named(PodPhase::kUnknown)});
  ReadConditions(fields, out.conditions);
  fields.Read("nominatedNodeName", out.nominated_node_name);
  fields.Read("startTime", out.start_time);
  ReadContainerStatuses(fields, "containerStatuses", out.containers);
  ReadContainerStatuses(fields, "initContainerStatuses", out.init_containers);
  if (ResourceList list; ReadResourceList(fields, "allocatedResources", list)) {
    out.allocated = std::move(list);
  }
  fields.Map("resources", [&](Fields& resources) {
    ReadResourceList(resources, "requests", out.actuated.emplace());
  });
}

template <class Fields>
void ReadPodGroup(Fields& spec, std::optional<PodGroupReference>& out) {
  spec.Map("schedulingGroup", [&](Fields& fields) {
    std::string name;
    if (fields.Read("podGroupName", name)) out.emplace().group = std::move(name);
  });
  spec.Map("workloadRef", [&](Fields& fields) {
    PodGroupReference& group = out.emplace();
    fields.Require("name", group.workload);
    fields.Require("podGroup", group.group);
    fields.Read("podGroupReplicaKey", group.replica_key);
  });
}

}  // namespace

template <class Fields>
void ReadPodSpec(Fields& spec, PodSpec& out) {
  spec.Read("nodeName", out.node_name);
  std::string scheduler;
  if (spec.Read("schedulerName", scheduler) && !scheduler.empty()) out.scheduler_name = scheduler;
  spec.Read("priorityClassName", out.priority_class_name);
  spec.Read("priority", out.priority);
  ReadPreemptionPolicy(spec, out.preemption_policy);
  spec.ForEach("schedulingGates",
               [&](Fields& gate) { gate.Require("name", out.scheduling_gates.emplace_back()); });
  ReadPodGroup(spec, out.pod_group);
  spec.Read("nodeSelector", out.node_selector);
  spec.Map("affinity", [&](Fields& affinity) {
    affinity.Map("nodeAffinity", [&](Fields& node_affinity) {
      ReadNodeAffinity(node_affinity, out.node_affinity.emplace());
    });
    affinity.Map("podAffinity", [&](Fields& pods) { ReadPodAffinity(pods, out.pod_affinity); });
    affinity.Map("podAntiAffinity",
                 [&](Fields& pods) { ReadPodAffinity(pods, out.pod_anti_affinity); });
  });
  spec.ForEach("topologySpreadConstraints", [&](Fields& constraint) {
    ReadSpreadConstraint(constraint, out.topology_spread.emplace_back());
  });
  ReadTolerations(spec, out.tolerations);
  ReadAllOfContainers(spec, out);
  spec.ForEach("volumes", [&](Fields& volume) {
    volume.Map("image", [&](Fields& image) {
      if (std::string reference; image.Read("reference", reference)) {
        out.image_volumes.push_back(std::move(reference));
      }
    });
    ReadPodVolume(volume, out.volumes);
  });
  spec.ForEach("resourceClaims",
               [&](Fields& claim) { claim.Require("name", out.resource_claims.emplace_back()); });
  ReadResourceList(spec, "overhead", out.overhead);
  spec.Map("resources", [&](Fields& resources) {
    ReadRequirementsOfResources(resources, out.resources.emplace());
  });
  std::string restarts = "Always";
  spec.Read("restartPolicy", restarts);
  out.restarts_always = restarts == "Always";
  spec.Read("activeDeadlineSeconds", out.active_deadline_seconds, IntegerLimits{.min = 1});
  out.termination_grace_seconds = kDefaultGraceSeconds;
  spec.Read("terminationGracePeriodSeconds", out.termination_grace_seconds,
            IntegerLimits{.min = 0});
  if (spec.ok()) DefaultRequests(out);
}

template <class Fields>
void ReadFields(Fields& object, Pod& out) {
  ReadMeta(object, Scope::kNamespaced, out.meta);
  object.RequireMap("spec", [&](Fields& spec) { ReadPodSpec(spec, out.spec); });
  object.Map("status", [&](Fields& status) { ReadStatus(status, out.status); });
}

template void ReadTolerations(FieldReader&, std::vector<Toleration>&);
template void ReadTolerations(JsonFields&, std::vector<Toleration>&);
template void ReadTolerations(ProtoFields&, std::vector<Toleration>&);
template void ReadPodSpec(FieldReader&, PodSpec&);
template void ReadPodSpec(JsonFields&, PodSpec&);
template void ReadPodSpec(ProtoFields&, PodSpec&);
template void ReadFields(FieldReader&, Pod&);
template void ReadFields(JsonFields&, Pod&);
template void ReadFields(ProtoFields&, Pod&);

}  // namespace knx::k8s
