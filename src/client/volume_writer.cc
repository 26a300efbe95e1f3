#include "client/volume_writer.h"

#include <fmt/format.h>

#include <utility>

#include "base/quoted_text.h"
#include "k8s/names.h"

namespace knx::client {

void VolumeWriter::Patch(std::string path, std::string body, Done done) {
  api_.Send({.method = "PATCH",
             .path = std::move(path),
             .body = std::move(body),
             .content_type = "application/merge-patch+json"},
            std::move(done));
}

void VolumeWriter::SetAside(const std::string& volume, const ClaimName& claim,
                            bool bound_by_controller, const std::string& resource_version,
                            Done done) {
  const std::string annotation = bound_by_controller
                                     ? fmt::format(R"(,"annotations":{{{}:"yes"}})",
                                                   QuotedText(k8s::names::kBoundByController))
                                     : "";
  Patch(fmt::format("/api/v1/persistentvolumes/{}", volume),
        fmt::format(
            R"({{"metadata":{{"resourceVersion":{}{}}},"spec":{{"claimRef":{{"apiVersion":"v1",)"
            R"("kind":"PersistentVolumeClaim","namespace":{},"name":{},"uid":{}}}}}}})",
            QuotedText(resource_version), annotation, QuotedText(claim.namespace_),
            QuotedText(claim.name), QuotedText(claim.uid)),
        std::move(done));
}

void VolumeWriter::SelectNode(const ClaimName& claim, const std::string& node,
                              const std::string& resource_version, Done done) {
  Patch(
      fmt::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}", claim.namespace_, claim.name),
      fmt::format(R"({{"metadata":{{"resourceVersion":{},"annotations":{{{}:{}}}}}}})",
                  QuotedText(resource_version), QuotedText(k8s::names::kSelectedNode),
                  QuotedText(node)),
      std::move(done));
}

}  // namespace knx::client
