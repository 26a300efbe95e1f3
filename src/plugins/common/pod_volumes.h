// What the plugins about volumes have in common: what they ask about the claims of a pod, and the
// words for what is not there.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cluster/volumes.h"
#include "framework/cluster_event.h"
#include "k8s/objects.h"

namespace knx::plugins {

// "data" of "shop/data".
std::string_view NameOfClaim(std::string_view key);

// As the API machinery says it.
std::string ClaimNotFound(std::string_view key);
std::string VolumeNotFound(std::string_view name);
std::string StorageClassNotFound(std::string_view name);

// The claim was made for the pod of this class, and for no other.
bool IsMadeFor(const cluster::PodClass& pod_class, const k8s::PersistentVolumeClaim& claim);

// The pod names the claim that the event is about; with `ephemeral` also one that is made for it.
bool UsesClaimOf(const framework::ClusterEvent& event, const cluster::PodClass& pod_class,
                 bool ephemeral);

// The object of an event and what it was before; nullptr if it is of another kind or was not there.
template <class T>
const T* ObjectOf(const framework::ClusterEvent& event) {
  return event.object == nullptr ? nullptr : std::get_if<T>(event.object);
}
template <class T>
const T* ObjectBefore(const framework::ClusterEvent& event) {
  return event.object_before == nullptr ? nullptr : std::get_if<T>(event.object_before);
}

}  // namespace knx::plugins
