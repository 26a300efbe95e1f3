#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {
namespace {

template <class Fields>
void ReadSpec(Fields& spec, Node& out) {
  spec.Read("unschedulable", out.unschedulable);
  spec.ForEach("taints", [&](Fields& fields) {
    Taint& taint = out.taints.emplace_back();
    fields.Require("key", taint.key);
    fields.Read("value", taint.value);
    ReadTaintEffect(fields, taint.effect);
    if (fields.ok() && taint.effect == TaintEffect::kNone) {
      fields.Fail("effect", "missing; allowed are NoSchedule, PreferNoSchedule, NoExecute");
    }
  });
}

template <class Fields>
void ReadStatus(Fields& status, Node& out) {
  ReadResourceList(status, "capacity", out.capacity);
  if (!ReadResourceList(status, "allocatable", out.allocatable)) out.allocatable = out.capacity;
  status.ForEach("images", [&](Fields& fields) {
    ContainerImage& image = out.images.emplace_back();
    fields.Read("names", image.names);
    fields.Read("sizeBytes", image.size_bytes, IntegerLimits{.min = 0});
  });
  status.Read("declaredFeatures", out.declared_features);
  ReadConditions(status, out.conditions);
}

}  // namespace

template <class Fields>
void ReadFields(Fields& object, Node& out) {
  ReadMeta(object, Scope::kCluster, out.meta);
  object.Map("spec", [&](Fields& spec) { ReadSpec(spec, out); });
  object.Map("status", [&](Fields& status) { ReadStatus(status, out); });
}

template void ReadFields(FieldReader&, Node&);
template void ReadFields(JsonFields&, Node&);

}  // namespace knx::k8s
