#include "sim/object_json.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/quoted_text.h"
#include "k8s/enum_names.h"
#include "k8s/selector.h"

namespace knx::sim {
namespace {

// Writes one object: fields that say nothing (empty, false, zero, unset) are left out.
class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) { out_ += '{'; }
  ~Fields() { out_ += '}'; }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  void Raw(std::string_view key, std::string_view json) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += QuotedText(key);
    out_ += ':';
    out_ += json;
  }
  void Text(std::string_view key, std::string_view value) {
    if (!value.empty()) Raw(key, QuotedText(value));
  }
  void Flag(std::string_view key, bool value) {
    if (value) Raw(key, "true");
  }
  template <class N>
  void Number(std::string_view key, const std::optional<N>& value) {
    if (value.has_value()) Raw(key, fmt::format("{}", *value));
  }
  void Moment(std::string_view key, const std::optional<Time>& value) {
    if (value.has_value()) Text(key, FormatTime(*value));
  }
  void Map(std::string_view key, const k8s::StringMap& map) {
    if (map.empty()) return;
    Object(key, [&](Fields& fields) {
      for (const auto& [name, value] : map) fields.Raw(name, QuotedText(value));
    });
  }
  void Amounts(std::string_view key, const k8s::ResourceList& list) {
    if (!list.empty()) AmountsEvenEmpty(key, list);
  }
  void AmountsEvenEmpty(std::string_view key, const k8s::ResourceList& list) {
    Object(key, [&](Fields& fields) {
      for (const auto& [name, amount] : list) fields.Raw(name, QuotedText(amount.ToString()));
    });
  }
  void Object(std::string_view key, const std::function<void(Fields&)>& write) {
    std::string json;
    {
      Fields fields(json);
      write(fields);
    }
    Raw(key, json);
  }
  template <class T, class Write>
  void List(std::string_view key, const std::vector<T>& items, Write write) {
    if (items.empty()) return;
    std::string json = "[";
    for (const T& item : items) {
      if (json.size() > 1) json += ',';
      if constexpr (std::is_invocable_r_v<std::string, Write, const T&>) {
        json += write(item);
      } else {
        Fields fields(json);
        write(fields, item);
      }
    }
    Raw(key, json + "]");
  }
  void Texts(std::string_view key, const std::vector<std::string>& items) {
    List(key, items, [](const std::string& item) { return QuotedText(item); });
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void Meta(Fields& object, const k8s::ObjectMeta& meta) {
  object.Object("metadata", [&](Fields& f) {
    f.Text("name", meta.name);
    f.Text("namespace", meta.namespace_);
    f.Text("uid", meta.uid);
    f.Text("resourceVersion", meta.resource_version);
    if (meta.generation != 0) f.Number("generation", std::optional(meta.generation));
    f.Map("labels", meta.labels);
    f.Map("annotations", meta.annotations);
    f.List("ownerReferences", meta.owners, [](Fields& owner, const k8s::OwnerReference& o) {
      owner.Text("apiVersion", o.api_version);
      owner.Text("kind", o.kind);
      owner.Text("name", o.name);
      owner.Text("uid", o.uid);
      owner.Flag("controller", o.controller);
    });
    f.Moment("creationTimestamp", meta.created);
    f.Moment("deletionTimestamp", meta.deleted);
    f.Texts("finalizers", meta.finalizers);
  });
}

void RequirementFields(Fields& f, const k8s::Requirement& r) {
  f.Text("key", r.key);
  f.Text("operator", OperatorText(r));
  f.Texts("values", r.values);
}

void Term(Fields& fields, const k8s::NodeSelectorTerm& term) {
  fields.List("matchExpressions", term.match_expressions, RequirementFields);
  fields.List("matchFields", term.match_fields, RequirementFields);
}

void Affinity(Fields& fields, const k8s::NodeAffinity& affinity) {
  if (affinity.required.has_value()) {
    fields.Object("requiredDuringSchedulingIgnoredDuringExecution",
                  [&](Fields& f) { f.List("nodeSelectorTerms", affinity.required->terms, Term); });
  }
  fields.List("preferredDuringSchedulingIgnoredDuringExecution", affinity.preferred,
              [](Fields& f, const k8s::PreferredSchedulingTerm& term) {
                f.Number("weight", std::optional(term.weight));
                f.Object("preference", [&](Fields& p) { Term(p, term.preference); });
              });
}

void Selector(Fields& fields, std::string_view key,
              const std::optional<k8s::LabelSelector>& selector) {
  if (!selector) return;
  fields.Object(key, [&](Fields& f) {
    f.Map("matchLabels", selector->match_labels);
    f.List("matchExpressions", selector->match_expressions, RequirementFields);
  });
}

void PodTerm(Fields& fields, const k8s::PodAffinityTerm& term) {
  fields.Text("topologyKey", term.topology_key);
  Selector(fields, "labelSelector", term.selector);
  fields.Texts("namespaces", term.namespaces);
  Selector(fields, "namespaceSelector", term.namespace_selector);
  fields.Texts("matchLabelKeys", term.match_label_keys);
  fields.Texts("mismatchLabelKeys", term.mismatch_label_keys);
}

void PodTerms(Fields& fields, std::string_view key, const k8s::PodAffinity& affinity) {
  if (affinity.empty()) return;
  fields.Object(key, [&](Fields& f) {
    f.List("requiredDuringSchedulingIgnoredDuringExecution", affinity.required, PodTerm);
    f.List("preferredDuringSchedulingIgnoredDuringExecution", affinity.preferred,
           [](Fields& weighted, const k8s::WeightedPodAffinityTerm& term) {
             weighted.Number("weight", std::optional(term.weight));
             weighted.Object("podAffinityTerm", [&](Fields& t) { PodTerm(t, term.term); });
           });
  });
}

void SpreadFields(Fields& fields, const k8s::TopologySpreadConstraint& constraint) {
  fields.Number("maxSkew", std::optional(constraint.max_skew));
  fields.Text("topologyKey", constraint.topology_key);
  fields.Text("whenUnsatisfiable",
              constraint.when_unsatisfiable == k8s::WhenUnsatisfiable::kDoNotSchedule
                  ? "DoNotSchedule"
                  : "ScheduleAnyway");
  Selector(fields, "labelSelector", constraint.selector);
  if (constraint.min_domains != 1) {
    fields.Number("minDomains", std::optional(constraint.min_domains));
  }
  const auto policy = [&](std::string_view key, k8s::NodeInclusionPolicy value) {
    fields.Text(key, value == k8s::NodeInclusionPolicy::kHonor ? "Honor" : "Ignore");
  };
  policy("nodeAffinityPolicy", constraint.node_affinity_policy);
  policy("nodeTaintsPolicy", constraint.node_taints_policy);
  fields.Texts("matchLabelKeys", constraint.match_label_keys);
}

void Resources(Fields& fields, const k8s::ResourceRequirements& resources) {
  if (resources.requests.empty() && resources.limits.empty()) return;
  fields.Object("resources", [&](Fields& f) {
    f.Amounts("requests", resources.requests);
    f.Amounts("limits", resources.limits);
  });
}

void ContainerFields(Fields& fields, const k8s::Container& container) {
  fields.Text("name", container.name);
  fields.Text("image", container.image);
  Resources(fields, container.resources);
  fields.List("ports", container.ports, [](Fields& f, const k8s::ContainerPort& port) {
    f.Number("containerPort", std::optional(port.host_port == 0 ? 1 : port.host_port));
    if (port.host_port != 0) f.Number("hostPort", std::optional(port.host_port));
    f.Text("hostIP", port.host_ip);
    f.Text("protocol", port.protocol);
  });
  if (container.restart_always) fields.Text("restartPolicy", "Always");
  if (container.may_restart_all) {
    fields.List("restartPolicyRules", std::vector<std::string>{"RestartAllContainers"},
                [](Fields& rule, const std::string& action) { rule.Text("action", action); });
  }
}

void VolumeFields(Fields& f, const k8s::Volume& volume) {
  using k8s::VolumeSource;
  const auto disk = [&](std::string_view source, std::string_view id) {
    f.Object(source, [&](Fields& d) {
      d.Text(id, volume.id);
      d.Text("kind", volume.disk_kind);
      d.Text("pool", volume.pool);
      d.Texts("monitors", volume.monitors);
      d.Flag("readOnly", volume.read_only);
    });
  };
  f.Text("name", volume.name);
  switch (volume.source) {
    case VolumeSource::kOther:
      return;
    case VolumeSource::kClaim:
      return disk("persistentVolumeClaim", "claimName");
    case VolumeSource::kEphemeral:
      return f.Object("ephemeral", [](Fields&) {});
    case VolumeSource::kCsi:
      return disk("csi", "driver");
    case VolumeSource::kAwsEbs:
      return disk("awsElasticBlockStore", "volumeID");
    case VolumeSource::kGcePd:
      return disk("gcePersistentDisk", "pdName");
    case VolumeSource::kAzureDisk:
      return disk("azureDisk", "diskURI");
    case VolumeSource::kAzureFile:
      return disk("azureFile", "shareName");
    case VolumeSource::kCinder:
      return disk("cinder", "volumeID");
    case VolumeSource::kPortworx:
      return disk("portworxVolume", "volumeID");
    case VolumeSource::kVsphere:
      return disk("vsphereVolume", "volumePath");
    case VolumeSource::kRbd:
      return disk("rbd", "image");
    case VolumeSource::kIscsi:
      return disk("iscsi", "iqn");
  }
}

// Images, then the others: they are read into two lists.
void PodVolumes(Fields& f, const k8s::PodSpec& spec) {
  std::vector<std::string> volumes;
  for (const std::string& reference : spec.image_volumes) {
    Fields volume(volumes.emplace_back());
    volume.Object("image", [&](Fields& image) { image.Text("reference", reference); });
  }
  for (const k8s::Volume& one : spec.volumes) {
    Fields volume(volumes.emplace_back());
    VolumeFields(volume, one);
  }
  f.List("volumes", volumes, [](const std::string& json) { return json; });
}

void PodGroupFields(Fields& f, const k8s::PodGroupReference& reference) {
  if (reference.workload.empty()) {
    f.Object("schedulingGroup",
             [&](Fields& group) { group.Text("podGroupName", reference.group); });
    return;
  }
  f.Object("workloadRef", [&](Fields& group) {
    group.Text("name", reference.workload);
    group.Text("podGroup", reference.group);
    group.Text("podGroupReplicaKey", reference.replica_key);
  });
}

void Spec(Fields& f, const k8s::PodSpec& spec) {
  f.Text("nodeName", spec.node_name);
  f.Text("schedulerName", spec.scheduler_name);
  f.Text("priorityClassName", spec.priority_class_name);
  f.Number("priority", spec.priority);
  if (spec.preemption_policy == k8s::PreemptionPolicy::kNever) f.Text("preemptionPolicy", "Never");
  f.List("schedulingGates", spec.scheduling_gates,
         [](Fields& gate, const std::string& name) { gate.Text("name", name); });
  if (spec.pod_group) PodGroupFields(f, *spec.pod_group);
  f.Map("nodeSelector", spec.node_selector);
  if (spec.node_affinity || !spec.pod_affinity.empty() || !spec.pod_anti_affinity.empty()) {
    f.Object("affinity", [&](Fields& affinity) {
      if (spec.node_affinity) {
        affinity.Object("nodeAffinity", [&](Fields& node) { Affinity(node, *spec.node_affinity); });
      }
      PodTerms(affinity, "podAffinity", spec.pod_affinity);
      PodTerms(affinity, "podAntiAffinity", spec.pod_anti_affinity);
    });
  }
  f.List("topologySpreadConstraints", spec.topology_spread, SpreadFields);
  f.List("tolerations", spec.tolerations, [](Fields& t, const k8s::Toleration& toleration) {
    t.Text("key", toleration.key);
    t.Text("operator", NameOf(toleration.op));
    t.Text("value", toleration.value);
    t.Text("effect", NameOf(toleration.effect));
    t.Number("tolerationSeconds", toleration.seconds);
  });
  f.List("containers", spec.containers, ContainerFields);
  f.List("initContainers", spec.init_containers, ContainerFields);
  PodVolumes(f, spec);
  f.Amounts("overhead", spec.overhead);
  if (spec.resources.has_value()) Resources(f, *spec.resources);
  f.Flag("hostNetwork", spec.host_network);
  if (!spec.host_users) f.Raw("hostUsers", "false");
  if (!spec.restarts_always) f.Text("restartPolicy", "Never");
  f.Number("activeDeadlineSeconds", spec.active_deadline_seconds);
  f.Number("terminationGracePeriodSeconds", spec.termination_grace_seconds);
}

void ConditionFields(Fields& f, const k8s::Condition& condition) {
  f.Text("type", condition.type);
  f.Text("status", condition.status);
  f.Text("reason", condition.reason);
  f.Text("message", condition.message);
  f.Moment("lastTransitionTime", condition.last_transition);
}

void ContainerStatusFields(Fields& f, const k8s::ContainerStatus& status) {
  f.Text("name", status.name);
  if (status.allocated.has_value()) f.AmountsEvenEmpty("allocatedResources", *status.allocated);
  if (status.actuated.has_value()) {
    f.Object("resources", [&](Fields& r) { r.AmountsEvenEmpty("requests", *status.actuated); });
  }
}

void StatusFields(Fields& f, const k8s::PodStatus& status) {
  f.Text("phase", NameOf(status.phase));
  f.List("conditions", status.conditions, ConditionFields);
  f.Text("nominatedNodeName", status.nominated_node_name);
  f.Moment("startTime", status.start_time);
  f.List("containerStatuses", status.containers, ContainerStatusFields);
  f.List("initContainerStatuses", status.init_containers, ContainerStatusFields);
  if (status.allocated.has_value()) f.AmountsEvenEmpty("allocatedResources", *status.allocated);
  if (status.actuated.has_value()) {
    f.Object("resources", [&](Fields& r) { r.AmountsEvenEmpty("requests", *status.actuated); });
  }
}

}  // namespace

std::string ToJson(const k8s::Pod& pod) {
  std::string out;
  {
    Fields object(out);
    object.Text("apiVersion", "v1");
    object.Text("kind", "Pod");
    Meta(object, pod.meta);
    object.Object("spec", [&](Fields& f) { Spec(f, pod.spec); });
    object.Object("status", [&](Fields& f) { StatusFields(f, pod.status); });
  }
  return out;
}

std::string ToJson(const k8s::Node& node) {
  std::string out;
  {
    Fields object(out);
    object.Text("apiVersion", "v1");
    object.Text("kind", "Node");
    Meta(object, node.meta);
    object.Object("spec", [&](Fields& f) {
      f.Flag("unschedulable", node.unschedulable);
      f.List("taints", node.taints, [](Fields& t, const k8s::Taint& taint) {
        t.Text("key", taint.key);
        t.Text("value", taint.value);
        t.Text("effect", NameOf(taint.effect));
      });
    });
    object.Object("status", [&](Fields& f) {
      f.Amounts("capacity", node.capacity);
      f.Amounts("allocatable", node.allocatable);
      f.List("images", node.images, [](Fields& i, const k8s::ContainerImage& image) {
        i.Texts("names", image.names);
        i.Number("sizeBytes", std::optional(image.size_bytes));
      });
      f.Texts("declaredFeatures", node.declared_features);
      f.List("conditions", node.conditions, ConditionFields);
    });
  }
  return out;
}

}  // namespace knx::sim
