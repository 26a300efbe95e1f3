#include "live/watched_kinds.h"

#include <variant>

#include "cluster/gang_declaration.h"

namespace knx::live {
namespace {

// Of pods that have done their work only those of gangs are of use: nobody has to start in their
// stead. There may be many others. Whether operators' pods are gangs is for the engine to know.
bool IsOver(const k8s::Object& object) {
  const auto* const pod = std::get_if<k8s::Pod>(&object);
  return pod != nullptr && pod->status.phase == k8s::PodPhase::kSucceeded &&
         !cluster::ReadGangDeclaration(*pod, cluster::OperatorGangs::kRead);
}

}  // namespace

std::vector<client::Collection> WatchedCollections() {
  return {
      {"/api/v1/nodes", ""},
      {"/api/v1/pods", "status.phase!=Failed", false, {}, false, IsOver},
      {"/api/v1/namespaces", ""},
      {"/api/v1/services", ""},
      {"/api/v1/replicationcontrollers", ""},
      {"/apis/apps/v1/replicasets", ""},
      {"/apis/apps/v1/statefulsets", ""},
      {"/apis/policy/v1/poddisruptionbudgets", ""},
      {"/api/v1/persistentvolumeclaims", ""},
      {"/api/v1/persistentvolumes", ""},
      {"/apis/storage.k8s.io/v1/storageclasses", ""},
      {"/apis/storage.k8s.io/v1/csinodes", ""},
      {"/apis/storage.k8s.io/v1/csidrivers", ""},
      {"/apis/storage.k8s.io/v1/csistoragecapacities", ""},
      {"/apis/storage.k8s.io/v1/volumeattachments", ""},
      // Not every cluster has these.
      {"/apis/scheduling.k8s.io/v1beta1/podgroups", "", true, {"v1alpha3", "v1alpha2"}, true},
      {"/apis/scheduling.k8s.io/v1alpha1/workloads", "", true, {}, true},
      {"/apis/scheduling.x-k8s.io/v1alpha1/podgroups", "", true, {}, true},
      {"/apis/scheduling.volcano.sh/v1beta1/podgroups", "", true, {}, true},
      {"/apis/scheduling.kubenexus.io/v1alpha1/resourcereservations", "", true, {}, true},
  };
}

}  // namespace knx::live
