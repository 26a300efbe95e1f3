// What a scheduler writes about PodGroups of Kubernetes: the condition that says whether their pods
// have their places.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "client/api_client.h"
#include "k8s/objects.h"

namespace knx::client {

struct PodGroupName {
  std::string namespace_, name, uid;  // another one of that name is left alone
  std::string version;                // in which the server has the kind
};

class PodGroupWriter {
 public:
  using Done = std::function<void(const Status& outcome)>;

  explicit PodGroupWriter(ApiClient& api) : api_(api) {}

  // Other conditions stay as they are.
  void PatchStatus(const PodGroupName& group, const k8s::PodGroupCondition& condition, Done done);

 private:
  ApiClient& api_;
};

}  // namespace knx::client
