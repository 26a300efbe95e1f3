// What PodGroup objects of Kubernetes say about whether their pods have their places: what each
// says, what it should say, and when that is written. Once it says that they have, it says so for
// good, as with kube-scheduler. Of the same refusal in other words it is written only now and then,
// so that a group that is tried often is not written as often.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "cluster/gang_key.h"
#include "engine/actions.h"
#include "k8s/objects.h"

namespace knx::engine {

class GroupConditions {
 public:
  // The object is there, and says so.
  void Upsert(const cluster::GangKey& key, const k8s::PodGroup& object, Time now);
  void Remove(const cluster::GangKey& key);
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  // Nothing is to be said of it, ever again: it has started, or it is not there.
  [[nodiscard]] bool IsSettled(const cluster::GangKey& key) const;

  // What it should say from now on.
  void Say(const cluster::GangKey& key, std::string_view status, std::string_view reason,
           std::string message, Time now);
  [[nodiscard]] Time NextWrite() const { return due_.empty() ? kNever : due_.begin()->first; }
  // One that is to be written by now; nullopt: none. Whoever takes it says by which action.
  std::optional<PatchPodGroup> TakeWrite(ActionId action, Time now);
  // How one ended. Nothing if it was none of ours.
  void OnWritten(const ActionFinished& finished, Time now);

 private:
  struct Group {
    std::string namespace_, name, uid, version;
    std::int64_t generation = 0;
    std::optional<k8s::PodGroupCondition> says;    // the object, as far as is known
    std::optional<k8s::PodGroupCondition> wanted;  // what it should say
    std::optional<k8s::PodGroupCondition> sent;    // what was last written, or is being written
    Time sent_at;
    ActionId writing = 0;  // nobody has answered yet
    bool failed = false;   // the last time
    Time due = kNever;
    [[nodiscard]] bool has_started() const { return says && says->said.status == "True"; }
  };
  [[nodiscard]] static Time DueOf(const Group& group, Time now);
  void Plan(const cluster::GangKey& key, Group& group, Time now);

  std::map<cluster::GangKey, Group> groups_;
  std::map<ActionId, cluster::GangKey> writing_;
  std::set<std::pair<Time, cluster::GangKey>> due_;
};

}  // namespace knx::engine
