// What a scheduler writes about volumes: which claim gets one, and for which node one is to be
// made.
#pragma once

#include <functional>
#include <string>

#include "client/api_client.h"

namespace knx::client {

struct ClaimName {
  std::string namespace_, name, uid;
};

class VolumeWriter {
 public:
  using Done = std::function<void(const Status& outcome)>;

  explicit VolumeWriter(ApiClient& api) : api_(api) {}

  // Both are refused if the object is another by now than `resource_version` says.
  void SetAside(const std::string& volume, const ClaimName& claim, bool bound_by_controller,
                const std::string& resource_version, Done done);
  void SelectNode(const ClaimName& claim, const std::string& node,
                  const std::string& resource_version, Done done);

 private:
  void Patch(std::string path, std::string body, Done done);

  ApiClient& api_;
};

}  // namespace knx::client
