// What PodGroup objects of Kubernetes say of themselves: that their pods have their places, once
// those that must start are bound, or why they have not.
#include <utility>
#include <variant>

#include "base/shortened.h"
#include "engine/core.h"
#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;
using cluster::GangId;
using cluster::GangKey;
using cluster::GangSource;
using cluster::PodId;

void Core::NoteGroupObject(const k8s::Object& object, bool there, Time now) {
  const auto* const group = std::get_if<k8s::PodGroup>(&object);
  if (group == nullptr || group->api != k8s::PodGroupApi::kKubernetes) return;
  const Symbol namespace_ = state_.words().Find(group->meta.namespace_);
  if (!namespace_.valid()) return;
  const GangKey key{namespace_, GangSource::kPodGroup, group->meta.name};
  if (!there) return group_conditions_.Remove(key);
  group_conditions_.Upsert(key, *group, now);
  // Its pods may have come first.
  for (const GangId id : state_.GangsOf(object)) NoteGroupStarted(id, now);
}

void Core::NoteStartedGroups(Time now) {
  if (group_conditions_.empty()) return;
  for (std::uint32_t i = 0; i < state_.gangs().id_limit(); ++i) NoteGroupStarted(GangId{i}, now);
}

void Core::NoteGroupStarted(GangId id, Time now) {
  if (group_conditions_.empty() || !state_.gangs().Contains(id)) return;
  const cluster::Gang& gang = state_.gangs().Get(id);
  const bool speaks = gang.source == GangSource::kPodGroup && !gang.awaits_object();
  if (!speaks || NeededBy(id) > 0 || group_conditions_.IsSettled(gang.key())) return;
  bool ours = false;
  // Those who are bound last are most often those who came last.
  for (auto member = gang.members.rbegin(); member != gang.members.rend(); ++member) {
    const cluster::Pod& pod = state_.pod(*member);
    // It may lose its place yet.
    if (pod.node.valid() && pod.assumed) return;
    ours = ours || judge_.GangPluginOf(*member) != nullptr;
  }
  if (!ours) return;
  group_conditions_.Say(gang.key(), "True", names::kReasonGroupScheduled, "", now);
}

void Core::NoteGroupRefused(PodId id, std::string_view reason, const std::string& message,
                            Time now) {
  // The API server takes no longer ones; nobody reads as much.
  constexpr std::size_t kLongestMessage = 4096;
  const GangId gang = state_.pod(id).gang->id;
  if (group_conditions_.empty() || !gang.valid() || judge_.GangPluginOf(id) == nullptr) return;
  const cluster::Gang& record = state_.gangs().Get(gang);
  if (record.source != GangSource::kPodGroup || NeededBy(gang) == 0) return;
  group_conditions_.Say(record.key(), "False", reason, Shortened(message, kLongestMessage), now);
}

void Core::WriteGroupConditions(Time now) {
  while (auto patch = group_conditions_.TakeWrite(last_action_ + 1, now)) Emit(std::move(*patch));
}

}  // namespace knx::engine
