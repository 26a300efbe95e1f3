// The objects of the embedded cluster, every version of them immutable, and who is told of changes.
// Knows no rule of the API server (that is api_server.h): it keeps versions, uids, times and
// indexes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "k8s/kind_name.h"
#include "k8s/objects.h"
#include "sim/agenda.h"
#include "sim/random.h"

namespace knx::sim {

// Who writes. The invariants hold the scheduler to what it was allowed to do.
enum class Actor : std::uint8_t { kUser, kScheduler, kForeignScheduler, kController, kKubelet };

template <class T>
using Ptr = std::shared_ptr<const T>;
using PodPtr = Ptr<k8s::Pod>;
using NodePtr = Ptr<k8s::Node>;

// One change: a new object has no `before`, one that is gone has no `after`.
template <class T>
struct Write {
  std::uint64_t version = 0;
  Ptr<T> before, after;
  Actor by = Actor::kUser;
  [[nodiscard]] const T& any() const { return after ? *after : *before; }
};

// Told of every write at once, in the order of registration. Must not write itself: it puts on the
// agenda what it wants to do about it.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void OnWrite(const Write<k8s::Pod>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::Node>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::Workload>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::Job>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::PodDisruptionBudget>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::Namespace>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::PriorityClass>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::Service>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::PersistentVolumeClaim>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::PersistentVolume>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::StorageClass>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::CsiNode>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::CsiDriver>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::CsiStorageCapacity>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::VolumeAttachment>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::PodGroup>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::GroupWorkload>& /*write*/) {}
  virtual void OnWrite(const Write<k8s::ResourceReservation>& /*write*/) {}
};

// "namespace/name"; workloads have their kind in front and pod groups their API, because names are
// unique per kind only.
std::string PodKey(std::string_view namespace_, std::string_view name);
std::string WorkloadKey(k8s::WorkloadKind kind, std::string_view namespace_, std::string_view name);
std::string PodGroupKey(k8s::PodGroupApi api, std::string_view namespace_, std::string_view name);
template <class T>
std::string KeyOf(const T& object) {
  if (object.meta.namespace_.empty()) return object.meta.name;
  return PodKey(object.meta.namespace_, object.meta.name);
}
inline std::string KeyOf(const k8s::Workload& workload) {
  return WorkloadKey(workload.kind, workload.meta.namespace_, workload.meta.name);
}
inline std::string KeyOf(const k8s::PodGroup& group) {
  return PodGroupKey(group.api, group.meta.namespace_, group.meta.name);
}

class Store {
 public:
  Store(const Agenda& agenda, std::uint64_t seed) : agenda_(agenda), random_(seed) {}
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void Listen(StoreListener& listener) { listeners_.push_back(&listener); }

  template <class T>
  using Table = std::map<std::string, Ptr<T>>;
  // Everything of a kind, by key.
  template <class T>
  [[nodiscard]] const Table<T>& All() const {
    return std::get<Table<T>>(tables_);
  }
  // nullptr if there is none.
  template <class T>
  [[nodiscard]] Ptr<T> Find(const std::string& key) const {
    const auto& table = All<T>();
    const auto found = table.find(key);
    return found == table.end() ? nullptr : found->second;
  }
  // The pod, if it is still the one with that uid.
  [[nodiscard]] PodPtr FindPod(const std::string& key, std::string_view uid) const;

  // Creates or replaces; gives version, and to a new object creation time and a uid, unless it
  // brings one that nobody had (manifests read from a cluster refer to each other by uid).
  template <class T>
  Ptr<T> Put(T object, Actor by) {
    const std::string key = KeyOf(object);
    Ptr<T>& slot = std::get<Table<T>>(tables_)[key];
    Stamp(object.meta, slot == nullptr);
    Write<T> write{version_, slot, std::make_shared<const T>(std::move(object)), by};
    slot = write.after;
    Index(write);
    for (StoreListener* listener : listeners_) listener->OnWrite(write);
    return write.after;
  }
  // Does nothing if it is not there.
  template <class T>
  void Erase(const std::string& key, Actor by) {
    auto& table = std::get<Table<T>>(tables_);
    const auto found = table.find(key);
    if (found == table.end()) return;
    const Write<T> write{++version_, found->second, nullptr, by};
    table.erase(found);
    Index(write);
    for (StoreListener* listener : listeners_) listener->OnWrite(write);
  }

  // Keys of pods, finished ones too.
  [[nodiscard]] const std::set<std::string>& PodsOn(const std::string& node) const;
  [[nodiscard]] const std::set<std::string>& PodsOf(const std::string& owner_uid) const;

  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] Time now() const { return agenda_.now(); }
  std::string NewUid();
  // A name that begins with `prefix` and is taken by no pod: five characters as Kubernetes picks.
  std::string NewPodName(std::string_view namespace_, std::string_view prefix);

 private:
  void Stamp(k8s::ObjectMeta& meta, bool is_new);
  template <class T>
  void Index(const Write<T>& /*write*/) {}
  void Index(const Write<k8s::Pod>& write);

  const Agenda& agenda_;
  Random random_;
  std::uint64_t version_ = 0;
  std::set<std::string> uids_;  // ever given
  std::tuple<Table<k8s::Pod>, Table<k8s::Node>, Table<k8s::Workload>, Table<k8s::Job>,
             Table<k8s::PodDisruptionBudget>, Table<k8s::Namespace>, Table<k8s::PriorityClass>,
             Table<k8s::Service>, Table<k8s::PersistentVolumeClaim>, Table<k8s::PersistentVolume>,
             Table<k8s::StorageClass>, Table<k8s::CsiNode>, Table<k8s::CsiDriver>,
             Table<k8s::CsiStorageCapacity>, Table<k8s::VolumeAttachment>, Table<k8s::PodGroup>,
             Table<k8s::GroupWorkload>, Table<k8s::ResourceReservation>>
      tables_;
  std::map<std::string, std::set<std::string>> by_node_, by_owner_;
  std::vector<StoreListener*> listeners_;
};

// `length` characters of those that Kubernetes uses in generated names.
std::string NameSuffix(Random& random, int length);

// The condition of that type; nullptr if there is none.
const k8s::Condition* FindCondition(const std::vector<k8s::Condition>& conditions,
                                    std::string_view type);
// Adds or replaces; the time of transition changes with the status only.
void SetCondition(std::vector<k8s::Condition>& conditions, k8s::Condition condition, Time now);

bool IsFinished(const k8s::Pod& pod);
bool IsReady(const k8s::Pod& pod);

}  // namespace knx::sim
