#include "engine/started_promises.h"

#include <iterator>

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

constexpr Duration kGivenBack = Duration::Seconds(60);

}  // namespace

void StartedPromises::Keep(Promise promise, Time now) {
  const Key key = KeyOf(promise.pod, promise.gang);
  started_.try_emplace(key, Started{now}).first->second.promise = std::move(promise);
}

std::optional<Promise> StartedPromises::TakeBack(PodId pod, GangId gang, Time now) {
  const auto found = started_.find(KeyOf(pod, gang));
  if (found == started_.end()) return std::nullopt;
  if (now - found->second.since <= kGivenBack) return std::exchange(found->second.promise, {});
  started_.erase(found);
  return std::nullopt;
}

void StartedPromises::NoteBound(PodId pod) {
  for (auto entry = started_.begin(); entry != started_.end();) {
    auto& [key, started] = *entry;
    bool all = key.first == pod;
    if (started.promise) {
      auto& places = started.promise->places;
      std::erase_if(places, [pod](const auto& place) { return place.first == pod; });
      all = places.empty();
    }
    entry = all ? started_.erase(entry) : std::next(entry);
  }
}

void StartedPromises::Forget(PodId pod) {
  std::erase_if(started_, [pod](const auto& entry) {
    const std::optional<Promise>& promise = entry.second.promise;
    return entry.first.first == pod || (promise && promise->HasPlaceFor(pod));
  });
}

void StartedPromises::Forget(GangId gang) { started_.erase(KeyOf({}, gang)); }

void StartedPromises::ForgetNode(NodeRow row) {
  std::erase_if(started_, [row](const auto& entry) {
    const std::optional<Promise>& promise = entry.second.promise;
    return promise && promise->IsOn(row);
  });
}

std::size_t StartedPromises::bytes() const {
  return started_.size() * sizeof(decltype(started_)::value_type);
}

}  // namespace knx::engine
