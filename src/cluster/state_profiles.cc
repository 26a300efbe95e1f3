// What the pods of the cluster are for, and what their namespaces say about that.
#include "cluster/state.h"

namespace knx::cluster {

void State::SetNamespaceProfile(const k8s::Object& object, bool there) {
  const auto* const space = std::get_if<k8s::Namespace>(&object);
  if (profile_rules_ == nullptr || space == nullptr) return;
  const Symbol name = words_.Intern(space->meta.name);
  const auto known = namespace_profiles_.find(name);
  const bool was_known = known != namespace_profiles_.end();
  const ProfileFindings before = was_known ? known->second : ProfileFindings{};
  const ProfileFindings now = there ? profile_rules_->LookAt(*space, words_) : ProfileFindings{};
  if (now == before) return;
  ++namespace_profile_changes_;
  if (now == ProfileFindings{}) {
    namespace_profiles_.erase(name);
  } else {
    namespace_profiles_[name] = now;
  }
}

WorkloadProfile State::profile_of(PodId id) const {
  if (profile_rules_ == nullptr) return {};
  const Pod& pod = pods_.Get(id);
  const auto known = namespace_profiles_.find(pod.namespace_);
  const ProfileFindings space =
      known == namespace_profiles_.end() ? ProfileFindings{} : known->second;
  return profile_rules_->Judge(pod.profile, space, pod.namespace_, pod.gang != nullptr);
}

}  // namespace knx::cluster
