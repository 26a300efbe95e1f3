#include "oracle/request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "k8s/read_object.h"

namespace knx::oracle {
namespace {

using simdjson::dom::element;

std::string TextOf(const element& request, std::string_view field) {
  std::string_view text;
  return request[field].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

Status ReadObjects(const element& request, std::vector<k8s::Object>& objects) {
  simdjson::dom::array list;
  if (request["objects"].get(list) != simdjson::SUCCESS) {
    return InvalidError("objects: a list of Kubernetes objects is missing");
  }
  std::size_t position = 0;
  for (const element& item : list) {
    auto object = k8s::ReadJsonObject(simdjson::minify(item));
    if (!object.ok()) {
      return InvalidError(fmt::format("objects[{}]: {}", position, object.error().ToString()));
    }
    objects.push_back(std::move(*object));
    ++position;
  }
  return Done{};
}

}  // namespace

Result<Request> ReadRequest(std::string_view line) {
  simdjson::dom::parser parser;
  element root;
  const simdjson::padded_string padded(line);
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return InvalidError(fmt::format("not a line of JSON: {}", simdjson::error_message(error)));
  }
  if (!root.is_object()) return InvalidError("a request is a JSON object");
  Request request;
  request.id = TextOf(root, "id");
  request.config = TextOf(root, "config");
  KNX_TRY_DONE(ReadObjects(root, request.objects));
  simdjson::dom::array pods;
  if (root["pods"].get(pods) != simdjson::SUCCESS) {
    return InvalidError("pods: a list of \"namespace/name\" is missing");
  }
  for (const element& item : pods) {
    std::string_view name;
    if (item.get(name) != simdjson::SUCCESS) return InvalidError("pods: every entry is a text");
    request.pods.emplace_back(name);
  }
  bool preempt = false;
  if (root["preempt"].get(preempt) == simdjson::SUCCESS) request.preempt = preempt;
  return request;
}

}  // namespace knx::oracle
