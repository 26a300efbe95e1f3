#include "client/pod_group_writer.h"

#include <fmt/format.h>

#include <utility>

#include "base/quoted_text.h"

namespace knx::client {
namespace {

std::string ConditionJson(const k8s::PodGroupCondition& condition) {
  constexpr std::int64_t kSecond = 1'000'000'000;  // times of conditions are whole seconds
  const k8s::Condition& said = condition.said;
  const Time since{said.last_transition.value_or(Time{}).ns / kSecond * kSecond};
  return fmt::format(R"({{"type":{},"status":{},"reason":{},"message":{},"lastTransitionTime":{},)"
                     R"("observedGeneration":{}}})",
                     QuotedText(said.type), QuotedText(said.status), QuotedText(said.reason),
                     QuotedText(said.message), QuotedText(FormatTime(since)),
                     condition.observed_generation);
}

}  // namespace

void PodGroupWriter::PatchStatus(const PodGroupName& group, const k8s::PodGroupCondition& condition,
                                 Done done) {
  api_.Send({.method = "PATCH",
             .path = fmt::format("/apis/scheduling.k8s.io/{}/namespaces/{}/podgroups/{}/status",
                                 group.version, group.namespace_, group.name),
             .body = fmt::format(R"({{"metadata":{{"uid":{}}},"status":{{"conditions":[{}]}}}})",
                                 QuotedText(group.uid), ConditionJson(condition)),
             .content_type = "application/strategic-merge-patch+json"},
            std::move(done));
}

}  // namespace knx::client
