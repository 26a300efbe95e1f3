#include "plugins/kube/default_preemption/default_preemption.h"

#include "plugins/common/args.h"

namespace knx::plugins {

Result<std::unique_ptr<framework::Plugin>> DefaultPreemption::Make(
    const framework::PluginArgs& args) {
  framework::PreemptionArgs read;
  KNX_TRY_DONE(ReadArgs(args, "DefaultPreemptionArgs", [&](k8s::FieldReader& fields) {
    fields.Read("minCandidateNodesPercentage", read.min_candidates_percent,
                k8s::IntegerLimits{.min = 0, .max = 100});
    fields.Read("minCandidateNodesAbsolute", read.min_candidates, k8s::IntegerLimits{.min = 0});
    if (fields.ok() && read.min_candidates_percent == 0 && read.min_candidates == 0) {
      fields.FailHere(
          "minCandidateNodesPercentage and minCandidateNodesAbsolute cannot both be zero");
    }
  }));
  return std::unique_ptr<framework::Plugin>(std::make_unique<DefaultPreemption>(read));
}

framework::Outcome DefaultPreemption::PreEnqueue(const framework::PodView& pod) const {
  if (!pod.id.valid() || !pod.state.pod(pod.id).making_room) return framework::Outcome::Success();
  return framework::Outcome::Unresolvable("waiting for the preemption for this pod to be finished");
}

framework::PostFilterResult DefaultPreemption::PostFilter(
    const framework::PodView& /*pod*/, const framework::Rejections& /*rejections*/) const {
  framework::PostFilterResult result;
  result.preempt = args_;
  return result;
}

}  // namespace knx::plugins
