#include <fmt/format.h>

#include "k8s/names.h"
#include "k8s/object_fields.h"
#include "k8s/selector.h"
#include "plugins/common/args.h"
#include "plugins/kube/pod_topology_spread/pod_topology_spread.h"

namespace knx::plugins {
namespace {

using k8s::TopologySpreadConstraint;
using k8s::WhenUnsatisfiable;

std::vector<TopologySpreadConstraint> SystemDefaults() {
  std::vector<TopologySpreadConstraint> out(2);
  out[0].topology_key = k8s::names::kHostname;
  out[0].max_skew = 3;
  out[1].topology_key = k8s::names::kZone;
  out[1].max_skew = 5;
  for (TopologySpreadConstraint& constraint : out) {
    constraint.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
  }
  return out;
}

void ReadConstraint(k8s::FieldReader& fields, std::vector<TopologySpreadConstraint>& list) {
  TopologySpreadConstraint constraint;
  k8s::ReadSpreadConstraint(fields, constraint);
  if (!fields.ok()) return;
  k8s::Requirement as_key;
  as_key.key = constraint.topology_key;
  as_key.op = k8s::SelectorOperator::kExists;
  if (const auto reason = k8s::InvalidReason(as_key, false)) fields.Fail("topologyKey", *reason);
  if (fields.Has("labelSelector")) {
    fields.Fail("labelSelector", "must be left out: which pods are meant follows from each pod");
  }
  for (const TopologySpreadConstraint& other : list) {
    if (other.topology_key == constraint.topology_key &&
        other.when_unsatisfiable == constraint.when_unsatisfiable) {
      fields.FailHere(fmt::format("there is one for {} with the same whenUnsatisfiable already",
                                  constraint.topology_key));
    }
  }
  list.push_back(std::move(constraint));
}

}  // namespace

Result<PodTopologySpreadArgs> ReadPodTopologySpreadArgs(const framework::PluginArgs& args) {
  PodTopologySpreadArgs out;
  KNX_TRY_DONE(ReadArgs(args, "PodTopologySpreadArgs", [&](k8s::FieldReader& fields) {
    fields.ForEach("defaultConstraints", [&](k8s::FieldReader& constraint) {
      ReadConstraint(constraint, out.default_constraints);
    });
    fields.ReadEnum("defaultingType", out.system_defaults,
                    {{"", true}, {"System", true}, {"List", false}});
    if (out.system_defaults && !out.default_constraints.empty()) {
      fields.Fail("defaultingType",
                  "must be List where there are defaultConstraints: with System they are those of "
                  "Kubernetes");
    }
  }));
  if (out.system_defaults) out.default_constraints = SystemDefaults();
  return out;
}

}  // namespace knx::plugins
