#include "client/pod_writer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "base/quoted_text.h"
#include "client/condition_json.h"
#include "client/proto_bodies.h"
#include "k8s/proto_writer.h"

namespace knx::client {
namespace {

std::string PathOf(const PodName& pod) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", pod.namespace_, pod.name);
}

constexpr int kStatusCreated = 201;

bool SaysThatItIsBound(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::element answer;
  std::string_view kind, status;
  if (parser.parse(body).get(answer) != simdjson::SUCCESS) return false;
  if (answer["kind"].get(kind) != simdjson::SUCCESS) return false;
  if (kind == "Binding") return true;
  return kind == "Status" && answer["status"].get(status) == simdjson::SUCCESS &&
         status == "Success";
}

// An API server answers 201. Another success may be somebody else's, such as a proxy that shows a
// page to log in.
Status OutcomeOfBinding(const Result<Response>& response) {
  if (!response.ok()) return response.error();
  if (response->status == kStatusCreated) return Ok();
  if (!response->ok()) return ErrorOf(*response);
  if (SaysThatItIsBound(response->body)) return Ok();
  return ErrorOf(*response).Within("the answer does not say that it was done");
}

}  // namespace

void PodWriter::Bind(const PodName& pod, const std::string& node, Done done,
                     std::function<bool()> wanted) {
  api_.Send({.method = "POST",
             .path = PathOf(pod) + "/binding",
             .body = BindingBody(pod, node),
             .content_type = std::string(k8s::kProtobufType),
             .wanted = std::move(wanted)},
            ApiClient::Done([done = std::move(done)](const Result<Response>& response) {
              done(OutcomeOfBinding(response));
            }));
}

void PodWriter::PatchStatus(const PodName& pod, const std::optional<PodCondition>& condition,
                            const std::optional<std::string>& nominated_node, Time now, Done done) {
  std::string status;
  if (condition) {
    status = fmt::format(
        R"("conditions":[{{"type":{},"status":{},"reason":{},"message":{},"lastProbeTime":null,)"
        R"("lastTransitionTime":{},"observedGeneration":{}}}])",
        QuotedText(condition->type), QuotedText(condition->status), QuotedText(condition->reason),
        QuotedText(condition->message), ConditionMoment(now), condition->observed_generation);
  }
  if (nominated_node) {
    if (!status.empty()) status += ',';
    status += fmt::format(R"("nominatedNodeName":{})",
                          nominated_node->empty() ? "null" : QuotedText(*nominated_node));
  }
  api_.Send({.method = "PATCH",
             .path = PathOf(pod) + "/status",
             .body = fmt::format(R"({{"metadata":{{"uid":{}}},"status":{{{}}}}})",
                                 QuotedText(pod.uid), status),
             .content_type = "application/strategic-merge-patch+json",
             .repeatable = true},
            std::move(done));
}

void PodWriter::Delete(const PodName& pod, Done done) {
  api_.Send({.method = "DELETE",
             .path = PathOf(pod),
             .body = fmt::format(
                 R"({{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{{"uid":{}}}}})",
                 QuotedText(pod.uid))},
            std::move(done));
}

}  // namespace knx::client
