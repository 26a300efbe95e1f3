#include "live/watched_kinds.h"

namespace knx::live {

std::vector<client::Collection> WatchedCollections() {
  return {
      {"/api/v1/nodes", ""},
      {"/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed"},
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
  };
}

}  // namespace knx::live
