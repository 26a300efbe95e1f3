#include "sim/watch.h"

#include <algorithm>
#include <utility>

namespace knx::sim {
namespace {

const std::string& IdOf(const k8s::Pod& pod) { return pod.meta.uid; }
const std::string& IdOf(const k8s::Node& node) { return node.meta.name; }

Ptr<k8s::Pod> Visible(const Ptr<k8s::Pod>& pod) {
  return pod != nullptr && pod->status.phase != k8s::PodPhase::kFailed ? pod : nullptr;
}
Ptr<k8s::Node> Visible(const Ptr<k8s::Node>& node) { return node; }

}  // namespace

template <class T>
void Watch<T>::Start(Duration age) {
  ++life_;
  started_ = connected_ = true;
  pending_.clear();
  told_.clear();
  last_told_ = 0;
  List(VersionAt(age));
}

template <class T>
void Watch<T>::Stop() {
  ++life_;
  started_ = connected_ = false;
  pending_.clear();
  told_.clear();
}

template <class T>
void Watch<T>::OnWrite(const Write<T>& write) {
  Change change{write.version, agenda_.now(), Visible(write.before), Visible(write.after),
                write.after != nullptr ? write.after : write.before};
  if (change.before == nullptr && change.after == nullptr) return;
  if (history_span_ > Duration{}) {
    history_.push_back(change);
    while (history_.front().written + history_span_ < agenda_.now()) history_.pop_front();
  }
  if (started_ && connected_) Enqueue(std::move(change));
}

template <class T>
void Watch<T>::Enqueue(Change change) {
  Time due = agenda_.now() + timing_.watch;
  if (agenda_.now() < late_until_) due = due + late_by_;
  if (!pending_.empty()) due = std::max(due, pending_.back().due);
  pending_.push_back({std::move(change), due});
  agenda_.At(due, [this, life = life_] { DeliverDue(life); });
}

template <class T>
void Watch<T>::DeliverDue(std::uint64_t life) {
  if (life != life_ || pending_.empty() || pending_.front().due > agenda_.now()) return;
  const Change change = std::move(pending_.front().change);
  pending_.pop_front();
  last_told_ = std::max(last_told_, change.version);
  const bool gone = change.after == nullptr;
  const Ptr<T>& object = gone ? change.last : change.after;
  Tell(object, gone);
  if (duplicates_ > 0) {
    --duplicates_;
    Tell(object, gone);
  }
}

template <class T>
void Watch<T>::Tell(const Ptr<T>& object, bool gone) {
  if (gone) {
    told_.erase(IdOf(*object));
  } else {
    told_[IdOf(*object)] = object;
  }
  deliver_(object, gone);
}

// ---- lists ----

template <class T>
std::uint64_t Watch<T>::VersionAt(Duration age) const {
  std::uint64_t version = store_.version();
  const Time then = agenda_.now() - age;
  for (auto change = history_.rbegin(); change != history_.rend(); ++change) {
    if (change->written <= then) break;
    version = change->version - 1;
  }
  return version;
}

template <class T>
typename Watch<T>::Objects Watch<T>::ListAt(std::uint64_t version) const {
  Objects objects;
  for (const auto& [key, object] : store_.template All<T>()) {
    if (const Ptr<T> visible = Visible(object)) objects[IdOf(*visible)] = visible;
  }
  for (auto change = history_.rbegin(); change != history_.rend(); ++change) {
    if (change->version <= version) break;
    if (change->before != nullptr) {
      objects[IdOf(*change->before)] = change->before;
    } else {
      objects.erase(IdOf(*change->after));
    }
  }
  return objects;
}

// Tells the difference between what was told and the list, then what happened after it.
template <class T>
void Watch<T>::List(std::uint64_t version) {
  version = std::max(version, last_told_);
  last_told_ = version;
  pending_.clear();
  for (const Change& change : history_) {
    if (change.version > version) Enqueue(change);
  }
  const Objects listed = ListAt(version);
  const Objects told = told_;
  for (const auto& [id, object] : told) {
    if (!listed.contains(id)) Tell(object, true);
  }
  for (const auto& [id, object] : listed) {
    const auto known = told.find(id);
    if (known == told.end() || known->second != object) Tell(object, false);
  }
  listed_();
}

// ---- faults ----

template <class T>
void Watch<T>::BeLate(Duration by, Duration for_how_long) {
  late_by_ = by;
  late_until_ = agenda_.now() + for_how_long;
}

template <class T>
void Watch<T>::Disconnect(Duration for_how_long, Duration age) {
  if (!started_) return;
  connected_ = false;
  // What was on its way is told still; the list that follows knows of it.
  agenda_.After(for_how_long, [this, life = life_, age] {
    if (life != life_ || connected_) return;
    ++life_;
    connected_ = true;
    List(VersionAt(age));
  });
}

template <class T>
std::uint64_t Watch<T>::told_version() const {
  if (!pending_.empty()) return pending_.front().change.version - 1;
  return connected_ ? store_.version() : last_told_;
}

template class Watch<k8s::Pod>;
template class Watch<k8s::Node>;

}  // namespace knx::sim
