#include "k8s/json_fields.h"
#include "k8s/object_fields.h"
#include "k8s/proto_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

template <class Fields>
void ReadTaints(Fields& fields, std::vector<Taint>& out) {
  fields.ForEach("taints", [&](Fields& item) {
    Taint& taint = out.emplace_back();
    item.Require("key", taint.key);
    item.Read("value", taint.value);
    ReadTaintEffect(item, taint.effect);
    if (item.ok() && taint.effect == TaintEffect::kNone) {
      item.Fail("effect", "missing; allowed are NoSchedule, PreferNoSchedule, NoExecute");
    }
  });
}

namespace {

template <class Fields>
void ReadSpec(Fields& spec, Node& out) {
  spec.Read("unschedulable", out.unschedulable);
  ReadTaints(spec, out.taints);
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

template void ReadTaints(FieldReader&, std::vector<Taint>&);
template void ReadTaints(JsonFields&, std::vector<Taint>&);
template void ReadTaints(ProtoFields&, std::vector<Taint>&);
template void ReadFields(FieldReader&, Node&);
template void ReadFields(JsonFields&, Node&);
template void ReadFields(ProtoFields&, Node&);

}  // namespace knx::k8s
