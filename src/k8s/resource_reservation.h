// A ResourceReservation: room that is kept for pods which have yet to come. Included by objects.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "k8s/object_meta.h"

namespace knx::k8s {

// So many places in one object are beyond what a cluster is asked for at once; keeps a hostile
// object from costing more than its size.
inline constexpr std::int32_t kMaxReservedPlaces = 10'000;

// Room on one node.
struct ReservedPlace {
  std::string name;  // unique in the reservation
  std::string node;  // empty: any
  ResourceList resources;
  friend bool operator==(const ReservedPlace&, const ReservedPlace&) = default;
};

struct ResourceReservation {
  ObjectMeta meta;
  std::string pod_group;  // whose pods may use it; empty: those with the app-id of the reservation
  std::string owner;      // who asked for it, for people
  std::vector<ReservedPlace> places;  // sorted by name
  std::optional<Time> start;          // nullopt: when it was created
  std::optional<Duration> duration;   // nullopt: as long as the scheduler gives to those
  std::vector<Condition> conditions;  // as its status says
  std::vector<std::string> unread;    // fields of its spec that nobody reads, as misspelt ones are
  friend bool operator==(const ResourceReservation&, const ResourceReservation&) = default;
};

// What pods ask for by this name, or by "gpu", which people say for short. nullopt: nothing.
std::optional<std::string_view> ReservedResource(std::string_view name);
inline constexpr std::string_view kReservedResources =
    "cpu, memory, gpu, ephemeral-storage, hugepages-2Mi and the like, or a name with a domain is "
    "wanted";

}  // namespace knx::k8s
