// What a scheduler writes about pods: bindings, conditions, evictions. Each is done once its
// callback was called; nothing is tried again here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"

namespace knx::client {

struct PodName {
  std::string namespace_, name, uid;
};

struct PodCondition {
  std::string type, status, reason, message;
  std::int64_t observed_generation = 0;
};

class PodWriter {
 public:
  using Done = std::function<void(const Status& outcome)>;

  explicit PodWriter(ApiClient& api) : api_(api) {}

  // `wanted`: asked right before it is sent; see ApiClient::Call.
  void Bind(const PodName& pod, const std::string& node, Done done,
            std::function<bool()> wanted = {});
  // `nominated_node`: nullopt leaves it, empty clears it. Without a condition only that is written.
  void PatchStatus(const PodName& pod, const std::optional<PodCondition>& condition,
                   const std::optional<std::string>& nominated_node, Time now, Done done);
  void Delete(const PodName& pod, Done done);

 private:
  ApiClient& api_;
};

}  // namespace knx::client
