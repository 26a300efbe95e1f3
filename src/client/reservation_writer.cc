#include "client/reservation_writer.h"

#include <fmt/format.h>

#include "base/quoted_text.h"
#include "client/condition_json.h"

namespace knx::client {

void ReservationWriter::PatchStatus(const ReservationStatus& status, Time now, Done done) {
  std::string conditions, pods;
  for (const k8s::Condition& condition : status.conditions) {
    conditions += (conditions.empty() ? "" : ",") + ConditionJson(condition, now);
  }
  for (const auto& [place, pod] : status.pods) {
    pods += fmt::format("{}{}:{}", pods.empty() ? "" : ",", QuotedText(place), QuotedText(pod));
  }
  api_.Send(
      {.method = "PATCH",
       .path = fmt::format(
           "/apis/scheduling.kubenexus.io/v1alpha1/namespaces/{}/resourcereservations/{}/status",
           status.namespace_, status.name),
       .body = fmt::format(
           R"({{"metadata":{{"uid":{}}},"status":{{"conditions":[{}],"pods":{{{}}}}}}})",
           QuotedText(status.uid), conditions, pods),
       .content_type = "application/merge-patch+json"},
      std::move(done));
}

}  // namespace knx::client
