// What a scheduler writes about reservations: their status.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "k8s/objects.h"

namespace knx::client {

struct ReservationStatus {
  std::string namespace_, name, uid;       // whose; another one of that name is left alone
  std::vector<k8s::Condition> conditions;  // all that it has
  std::vector<std::pair<std::string, std::string>> pods;
};

class ReservationWriter {
 public:
  using Done = std::function<void(const Status& outcome)>;

  explicit ReservationWriter(ApiClient& api) : api_(api) {}

  // `now` stands for times of transition that are not known.
  void PatchStatus(const ReservationStatus& status, Time now, Done done);

 private:
  ApiClient& api_;
};

}  // namespace knx::client
