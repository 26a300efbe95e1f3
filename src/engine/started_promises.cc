#include "engine/started_promises.h"

#include <iterator>
#include <utility>

namespace knx::engine {

using cluster::GangId;
using cluster::NodeRow;
using cluster::PodId;

namespace {

constexpr Duration kGivenBack = Duration::Seconds(60);

}  // namespace

void StartedPromises::Keep(Promise promise) {
  started_.insert_or_assign(KeyOf(promise.pod, promise.gang), std::move(promise));
}

std::optional<Promise> StartedPromises::TakeBack(PodId pod, GangId gang, Time now) {
  const auto found = started_.extract(KeyOf(pod, gang));
  if (found.empty() || now - found.mapped().tried > kGivenBack) return std::nullopt;
  return std::move(found.mapped());
}

void StartedPromises::NoteBound(PodId pod) {
  for (auto entry = started_.begin(); entry != started_.end();) {
    auto& places = entry->second.places;
    std::erase_if(places, [pod](const auto& place) { return place.first == pod; });
    entry = places.empty() ? started_.erase(entry) : std::next(entry);
  }
}

void StartedPromises::Forget(PodId pod) {
  std::erase_if(started_, [pod](const auto& entry) { return entry.second.HasPlaceFor(pod); });
}

void StartedPromises::Forget(GangId gang) { started_.erase(KeyOf({}, gang)); }

void StartedPromises::ForgetNode(NodeRow row) {
  std::erase_if(started_, [row](const auto& entry) { return entry.second.IsOn(row); });
}

std::size_t StartedPromises::bytes() const {
  return started_.size() * sizeof(decltype(started_)::value_type);
}

}  // namespace knx::engine
