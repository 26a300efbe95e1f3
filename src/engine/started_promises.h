// Promises to those who have a place by now and are on their way to it. Until they are bound they
// may lose it again, and want their turn back then.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "cluster/state.h"
#include "engine/promise.h"

namespace knx::engine {

class StartedPromises {
 public:
  void Keep(Promise promise);
  // What the pod, or its gang, was promised before it started; nullopt: nothing, or it has lost its
  // place again and again for a minute.
  std::optional<Promise> TakeBack(cluster::PodId pod, cluster::GangId gang, Time now);
  // The pod needs its place no more, is there no more, or is another's now.
  void NoteBound(cluster::PodId pod);
  void Forget(cluster::PodId pod);
  void Forget(cluster::GangId gang);
  void ForgetNode(cluster::NodeRow row);
  [[nodiscard]] std::size_t bytes() const;

 private:
  // Another may come to stand for a gang.
  using Key = std::pair<cluster::PodId, cluster::GangId>;
  static Key KeyOf(cluster::PodId pod, cluster::GangId gang) {
    return {gang.valid() ? cluster::PodId() : pod, gang};
  }

  std::map<Key, Promise> started_;
};

}  // namespace knx::engine
