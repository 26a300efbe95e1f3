#include "plugins/kube/dynamic_resources/dynamic_resources.h"

#include "plugins/common/args.h"

namespace knx::plugins {

// How long allocating and binding devices may take: checked, and of no use until they are.
Result<std::unique_ptr<framework::Plugin>> DynamicResources::Make(
    const framework::PluginArgs& args) {
  Duration filter_timeout, binding_timeout;
  KNX_TRY_DONE(ReadArgs(args, "DynamicResourcesArgs", [&](k8s::FieldReader& fields) {
    fields.Read("filterTimeout", filter_timeout);
    fields.Read("bindingTimeout", binding_timeout);
  }));
  return std::unique_ptr<framework::Plugin>(std::make_unique<DynamicResources>());
}

framework::PreFilterResult DynamicResources::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  result.outcome = pod.pod_class.spec.resource_claims.empty()
                       ? framework::Outcome::Skip()
                       : framework::Outcome::Unresolvable("resource claims are not supported yet");
  return result;
}

framework::PostFilterResult DynamicResources::PostFilter(
    const framework::PodView& /*pod*/, const framework::Rejections& rejections) const {
  framework::PostFilterResult result;
  // A quirk of kube-scheduler: where another plugin turned the pod down before this one was asked,
  // it does not find what it would have prepared, and nobody after it gets to make room.
  result.outcome = rejections.was_asked
                       ? framework::Outcome::Unschedulable("no new claims to deallocate")
                       : framework::Outcome::Failed("not found");
  return result;
}

}  // namespace knx::plugins
