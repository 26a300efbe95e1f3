#include "client/pod_group_writer.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/quoted_text.h"
#include "client/condition_json.h"

namespace knx::client {

void PodGroupWriter::PatchStatus(const PodGroupName& group, const k8s::PodGroupCondition& condition,
                                 Done done) {
  const std::string generation =
      fmt::format(R"(,"observedGeneration":{})", condition.observed_generation);
  api_.Send({.method = "PATCH",
             .path = fmt::format("/apis/scheduling.k8s.io/{}/namespaces/{}/podgroups/{}/status",
                                 group.version, group.namespace_, group.name),
             .body = fmt::format(R"({{"metadata":{{"uid":{}}},"status":{{"conditions":[{}]}}}})",
                                 QuotedText(group.uid),
                                 ConditionJson(condition.said, Time{}, generation)),
             .content_type = "application/strategic-merge-patch+json"},
            std::move(done));
}

}  // namespace knx::client
