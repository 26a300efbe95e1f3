#include "client/reservation_writer.h"

#include <fmt/format.h>

#include "base/quoted_text.h"

namespace knx::client {
namespace {

std::string ToJson(const k8s::Condition& condition, Time now) {
  constexpr std::int64_t kSecond = 1'000'000'000;  // times of conditions are whole seconds
  const Time since = condition.last_transition.value_or(now);
  return fmt::format(
      R"({{"type":{},"status":{},"reason":{},"message":{},"lastTransitionTime":{}}})",
      QuotedText(condition.type), QuotedText(condition.status), QuotedText(condition.reason),
      QuotedText(condition.message), QuotedText(FormatTime(Time{since.ns / kSecond * kSecond})));
}

}  // namespace

void ReservationWriter::PatchStatus(const ReservationStatus& status, Time now, Done done) {
  std::string conditions, pods;
  for (const k8s::Condition& condition : status.conditions) {
    conditions += (conditions.empty() ? "" : ",") + ToJson(condition, now);
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
