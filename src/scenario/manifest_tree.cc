#include "scenario/manifest_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "scenario/annotations.h"
#include "scenario/read_steps.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;
using k8s::YamlNode;

// ---- making trees ----

// At the place of `near`, for what the author of a scenario did not write.
YamlNode Empty(YamlNode::Kind kind, const YamlNode& near) {
  YamlNode node;
  node.kind = kind;
  node.line = near.line;
  node.column = near.column;
  return node;
}

YamlNode TextAt(const YamlNode& near, std::string_view text) {
  YamlNode node = Empty(YamlNode::Kind::kScalar, near);
  node.quoted = true;
  node.text = std::string(text);
  return node;
}

void Put(YamlNode& map, std::string_view key, YamlNode value) {
  value.key = std::string(key);
  value.key_line = value.line;
  value.key_column = value.column;
  map.children.push_back(std::move(value));
}

// Copies a field under another name, if it is there.
void Move(const YamlNode& from, std::string_view key, YamlNode& to, std::string_view new_key) {
  if (const YamlNode* found = from.Find(key)) Put(to, new_key, *found);
}

void PutUnlessEmpty(YamlNode& map, std::string_view key, YamlNode value) {
  if (!value.children.empty()) Put(map, key, std::move(value));
}

YamlNode Manifest(const YamlNode& near, std::string_view api_version, std::string_view kind) {
  YamlNode out = Empty(YamlNode::Kind::kMap, near);
  Put(out, "apiVersion", TextAt(near, api_version));
  Put(out, "kind", TextAt(near, kind));
  return out;
}

// ---- numbers ----

// "(i%3)" or "(i/8)" or "i" at the front of `text`: what it comes to, and how long it is.
std::optional<std::pair<std::string, std::size_t>> Evaluate(std::string_view text,
                                                            std::int64_t number) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.starts_with("i") && (text.size() == 1 || !is_word(text[1]))) {
    return std::pair(fmt::format("{}", number), std::size_t{1});
  }
  const std::size_t close = text.find(')');
  if (!text.starts_with("(i") || close == std::string_view::npos || close < 4) return std::nullopt;
  std::int64_t operand = 0;
  const auto [end, error] = std::from_chars(text.data() + 3, text.data() + close, operand);
  if (error != std::errc() || end != text.data() + close || operand <= 0) return std::nullopt;
  if (text[2] != '%' && text[2] != '/') return std::nullopt;
  const std::int64_t value = text[2] == '%' ? number % operand : number / operand;
  return std::pair(fmt::format("{}", value), close + 1);
}

// ---- pods ----

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSpecFields = {{
    {"node_selector", "nodeSelector"},
    {"affinity", "affinity"},
    {"tolerations", "tolerations"},
    {"priority_class", "priorityClassName"},
    {"scheduler", "schedulerName"},
    {"node", "nodeName"},
    {"grace", "terminationGracePeriodSeconds"},
}};

// What the fake kubelet is told, and the annotations that tell it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kScriptFields = {{
    {"run_for", kRunFor},
    {"ends_as", kEndsAs},
    {"resize", kResize},
}};

YamlNode Container(const YamlNode& create) {
  YamlNode container = Empty(YamlNode::Kind::kMap, create);
  Put(container, "name", TextAt(create, "main"));
  Move(create, "image", container, "image");
  YamlNode resources = Empty(YamlNode::Kind::kMap, create);
  Move(create, "requests", resources, "requests");
  Move(create, "limits", resources, "limits");
  PutUnlessEmpty(container, "resources", std::move(resources));
  if (const YamlNode* host_ports = create.Find("host_ports")) {
    YamlNode ports = Empty(YamlNode::Kind::kList, *host_ports);
    for (const YamlNode& entry : host_ports->children) {
      const YamlNode* given = entry.Find("port");
      const YamlNode& number = given != nullptr ? *given : entry;
      YamlNode port = Empty(YamlNode::Kind::kMap, entry);
      Put(port, "containerPort", number);
      Put(port, "hostPort", number);
      Move(entry, "protocol", port, "protocol");
      Move(entry, "ip", port, "hostIP");
      ports.children.push_back(std::move(port));
    }
    Put(container, "ports", std::move(ports));
  }
  return container;
}

YamlNode PodSpec(const YamlNode& create) {
  const YamlNode* given = create.Find("spec");
  YamlNode spec = given != nullptr ? *given : Empty(YamlNode::Kind::kMap, create);
  for (const auto& [short_key, key] : kSpecFields) Move(create, short_key, spec, key);
  if (const YamlNode* gates = create.Find("gates")) {
    YamlNode list = Empty(YamlNode::Kind::kList, *gates);
    for (const YamlNode& name : gates->children) {
      YamlNode gate = Empty(YamlNode::Kind::kMap, name);
      Put(gate, "name", name);
      list.children.push_back(std::move(gate));
    }
    Put(spec, "schedulingGates", std::move(list));
  }
  if (spec.Find("containers") == nullptr) {
    YamlNode containers = Empty(YamlNode::Kind::kList, create);
    containers.children.push_back(Container(create));
    Put(spec, "containers", std::move(containers));
  }
  return spec;
}

// Labels, annotations and finalizers of a pod, or of a template.
YamlNode PodMeta(const YamlNode& create, std::string_view default_app) {
  YamlNode meta = Empty(YamlNode::Kind::kMap, create);
  if (create.Find("labels") != nullptr) {
    Move(create, "labels", meta, "labels");
  } else if (!default_app.empty()) {
    YamlNode labels = Empty(YamlNode::Kind::kMap, create);
    Put(labels, "app", TextAt(create, default_app));
    Put(meta, "labels", std::move(labels));
  }
  const YamlNode* given = create.Find("annotations");
  YamlNode annotations = given != nullptr ? *given : Empty(YamlNode::Kind::kMap, create);
  for (const auto& [short_key, key] : kScriptFields) Move(create, short_key, annotations, key);
  PutUnlessEmpty(meta, "annotations", std::move(annotations));
  Move(create, "finalizers", meta, "finalizers");
  return meta;
}

struct WorkKind {
  std::string_view field, api_version, kind;
};
constexpr std::array<WorkKind, 6> kWorkKinds = {{
    {"pod", "v1", "Pod"},
    {"deployment", "apps/v1", "Deployment"},
    {"replicaset", "apps/v1", "ReplicaSet"},
    {"statefulset", "apps/v1", "StatefulSet"},
    {"replicationcontroller", "v1", "ReplicationController"},
    {"job", "batch/v1", "Job"},
}};

YamlNode JobSpec(const YamlNode& create) {
  YamlNode spec = Empty(YamlNode::Kind::kMap, create);
  for (const std::string_view key : {"parallelism", "completions", "suspend"}) {
    Move(create, key, spec, key);
  }
  if (const YamlNode* indexed = create.Find("indexed"); indexed && indexed->AsBool() == true) {
    Put(spec, "completionMode", TextAt(*indexed, "Indexed"));
  }
  return spec;
}

// Which thing it is that is made; exactly one.
const WorkKind* ReadKind(FieldReader& fields) {
  const WorkKind* kind = nullptr;
  std::string name;
  for (const WorkKind& candidate : kWorkKinds) {
    if (!fields.Read(candidate.field, name)) continue;
    if (kind != nullptr) {
      fields.Fail(candidate.field,
                  fmt::format("only one of it and {} can be made here", kind->field));
    }
    kind = &candidate;
  }
  if (fields.ok() && kind == nullptr) {
    FailWithout(fields,
                "says nothing to make: needs pod, deployment, replicaset, statefulset, "
                "replicationcontroller, job, object or objects");
  }
  return kind;
}

// Fields that the kind at hand has not.
void CheckKind(FieldReader& fields, const WorkKind& kind) {
  const bool is_job = kind.field == "job";
  const bool is_pod = kind.field == "pod";
  for (const std::string_view key : {"parallelism", "completions", "suspend", "indexed"}) {
    if (fields.Has(key) && !is_job) fields.Fail(key, "is for a job only");
  }
  if (fields.Has("replicas") && (is_job || is_pod)) {
    fields.Fail("replicas", is_job ? "a job has parallelism and completions" : "a pod has count");
  }
  bool yes = false;
  fields.Read("indexed", yes);
}

// What is given twice: here and in `spec`, or here and as an annotation.
void CheckTwice(FieldReader& fields) {
  const YamlNode* spec = fields.Node("spec");
  for (const std::string_view key : {"requests", "limits", "image", "host_ports"}) {
    if (fields.Has(key) && spec != nullptr && spec->Find("containers") != nullptr) {
      fields.Fail(key, "belongs into spec.containers, which is given");
    }
  }
  const auto check = [&](std::string_view short_key, std::string_view key) {
    if (fields.Has(short_key) && spec != nullptr && spec->Find(key) != nullptr) {
      fields.Fail(short_key, fmt::format("is given in spec.{} already", key));
    }
  };
  for (const auto& [short_key, key] : kSpecFields) check(short_key, key);
  check("gates", "schedulingGates");
  const YamlNode* annotations = fields.Node("annotations");
  for (const auto& [short_key, key] : kScriptFields) {
    if (fields.Has(short_key) && annotations != nullptr && annotations->Find(key) != nullptr) {
      fields.Fail(short_key, fmt::format("is given as the annotation {} already", key));
    }
  }
}

// What the pods will do, whichever way it is said.
void CheckScript(FieldReader& fields) {
  Duration run_for;
  ReadSpan(fields, "run_for", run_for);
  std::string text;
  fields.ReadEnum<std::string>("ends_as", text, {{"Succeeded", ""}, {"Failed", ""}});
  ReadResize(fields, "resize", text);
  bool ends = fields.Has("run_for");
  fields.Map("annotations", [&](FieldReader& annotations) {
    for (const YamlNode& child : annotations.node().children) annotations.Allow({child.key});
    if (std::string span; annotations.Read(kRunFor, span)) {
      ends = true;
      ReadSpan(annotations, kRunFor, run_for);
    }
    annotations.ReadEnum<std::string>(kEndsAs, text, {{"Succeeded", ""}, {"Failed", ""}});
    ReadResize(annotations, kResize, text);
    if (annotations.Has(kEndsAs) && !ends) {
      annotations.Fail(kEndsAs, fmt::format("needs {} beside it", kRunFor));
    }
  });
  if (fields.Has("ends_as") && !ends) fields.Fail("ends_as", "needs run_for beside it");
}

void CheckLists(FieldReader& fields) {
  fields.ForEach("host_ports", [](FieldReader& item) {
    constexpr k8s::IntegerLimits kPorts{.min = 1, .max = 65535};
    std::int64_t port = 0;
    if (item.node().kind == YamlNode::Kind::kMap) {
      item.Require("port", port, kPorts);
      item.Allow({"protocol", "ip"});
    } else {
      item.Value(port, kPorts);
    }
  });
  std::vector<std::string> gates;
  fields.Read("gates", gates);
}

// Fields that no kind has, or the kind at hand has not, values of the wrong type, and fields that
// contradict each other.
const WorkKind* CheckWork(FieldReader& fields) {
  const WorkKind* kind = ReadKind(fields);
  if (!fields.ok()) return kind;
  CheckKind(fields, *kind);
  CheckTwice(fields);
  CheckScript(fields);
  CheckLists(fields);
  fields.Allow(
      {"namespace", "count", "first", "order", "every", "random_gaps", "labels", "finalizers"});
  return kind;
}

}  // namespace

std::string Numbered(std::string_view text, std::int64_t number) {
  std::string out;
  while (!text.empty()) {
    if (text.front() == '$') {
      if (const auto value = Evaluate(text.substr(1), number)) {
        out += value->first;
        text.remove_prefix(1 + value->second);
        continue;
      }
    }
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

YamlNode Numbered(const YamlNode& node, std::int64_t number) {
  YamlNode out = node;
  if (out.text.find('$') != std::string::npos) out.text = Numbered(out.text, number);
  for (YamlNode& child : out.children) child = Numbered(child, number);
  return out;
}

Result<YamlNode> NodeManifest(const YamlNode& short_form, TreePlace place) {
  KNX_TRY_DONE(k8s::ReadNode(
      short_form, {.file = place.file, .unknown = k8s::UnknownFields::kRefuse, .path = place.path},
      [](FieldReader& fields) {
        std::string name;
        fields.Require("name", name);
        fields.Allow({"count", "first", "labels", "finalizers", "taints", "unschedulable",
                      "allocatable", "images", "declared_features"});
      }));
  YamlNode out = Manifest(short_form, "v1", "Node");
  YamlNode meta = Empty(YamlNode::Kind::kMap, short_form);
  Move(short_form, "name", meta, "name");
  Move(short_form, "labels", meta, "labels");
  Move(short_form, "finalizers", meta, "finalizers");
  Put(out, "metadata", std::move(meta));
  YamlNode spec = Empty(YamlNode::Kind::kMap, short_form);
  Move(short_form, "taints", spec, "taints");
  Move(short_form, "unschedulable", spec, "unschedulable");
  Put(out, "spec", std::move(spec));
  YamlNode status = Empty(YamlNode::Kind::kMap, short_form);
  Move(short_form, "allocatable", status, "allocatable");
  Move(short_form, "images", status, "images");
  Move(short_form, "declared_features", status, "declaredFeatures");
  Put(out, "status", std::move(status));
  return out;
}

Result<YamlNode> WorkManifest(const YamlNode& create, TreePlace place) {
  const WorkKind* kind = nullptr;
  KNX_TRY_DONE(k8s::ReadNode(
      create, {.file = place.file, .unknown = k8s::UnknownFields::kRefuse, .path = place.path},
      [&kind](FieldReader& fields) { kind = CheckWork(fields); }));
  YamlNode out = Manifest(create, kind->api_version, kind->kind);
  const bool is_pod = kind->field == "pod";
  const YamlNode& name = *create.Find(kind->field);
  YamlNode meta = is_pod ? PodMeta(create, "") : Empty(YamlNode::Kind::kMap, create);
  Put(meta, "name", name);
  Move(create, "namespace", meta, "namespace");
  Put(out, "metadata", std::move(meta));
  if (is_pod) {
    Put(out, "spec", PodSpec(create));
    return out;
  }
  YamlNode spec = kind->field == "job" ? JobSpec(create) : Empty(YamlNode::Kind::kMap, create);
  Move(create, "replicas", spec, "replicas");
  YamlNode pod_template = Empty(YamlNode::Kind::kMap, create);
  Put(pod_template, "metadata", PodMeta(create, name.text));
  Put(pod_template, "spec", PodSpec(create));
  Put(spec, "template", std::move(pod_template));
  Put(out, "spec", std::move(spec));
  return out;
}

}  // namespace knx::scenario
