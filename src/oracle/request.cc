#include "oracle/request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "k8s/kind_name.h"
#include "k8s/priority_classes.h"
#include "k8s/read_object.h"
#include "k8s/yaml_tree.h"

namespace knx::oracle {
namespace {

using simdjson::dom::element;

constexpr std::array<std::string_view, 6> kFields = {"id",      "config", "scheduler",
                                                     "objects", "pods",   "preempt"};

// Absent leaves `out` as it is.
Status ReadText(const element& request, std::string_view field, std::string& out) {
  const auto found = request[field];
  if (found.error() != simdjson::SUCCESS) return Ok();
  std::string_view text;
  if (found.get(text) != simdjson::SUCCESS) {
    return InvalidError(fmt::format("{}: expected a text", field));
  }
  out = std::string(text);
  return Ok();
}

// A text that holds YAML or JSON, or the configuration itself.
Status ReadConfig(const element& request, std::string& out) {
  element found;
  if (request["config"].get(found) != simdjson::SUCCESS || found.is_null()) return Ok();
  if (found.is_string()) return ReadText(request, "config", out);
  if (!found.is_object()) {
    return InvalidError("config: a configuration is a text or an object");
  }
  out = simdjson::minify(found);
  return Ok();
}

// What there is so far, to find what is there twice.
class Seen {
 public:
  // The kubelet, the API server and our caches tell pods apart by their uid.
  Status Add(k8s::Object& object) {
    k8s::ObjectMeta& meta = MetaOf(object);
    const std::string_view kind = KindName(object);
    if (!names_.emplace(kind, meta.namespace_, meta.name).second) {
      return InvalidError(fmt::format("{} is there twice", NameOf(object)));
    }
    if (meta.uid.empty()) meta.uid = fmt::format("{}/{}", meta.namespace_, meta.name);
    if (!std::holds_alternative<k8s::Pod>(object)) return Ok();
    const auto [other, is_new] = pods_.try_emplace(meta.uid, NameOf(object));
    if (is_new) return Ok();
    return InvalidError(fmt::format("{} has the uid of {}", NameOf(object), other->second));
  }

 private:
  static std::string NameOf(const k8s::Object& object) {
    const k8s::ObjectMeta& meta = MetaOf(object);
    const std::string_view slash = meta.namespace_.empty() ? "" : "/";
    return fmt::format("{} {}{}{}", KindName(object), meta.namespace_, slash, meta.name);
  }

  std::set<std::tuple<std::string_view, std::string, std::string>> names_;
  std::map<std::string, std::string> pods_;  // by uid
};

// Gives pods without a priority that of their class, as the API server does.
Status AdmitPriorities(std::vector<k8s::Object>& objects) {
  std::map<std::string, k8s::PriorityClass> classes;
  const k8s::PriorityClass* fallback = nullptr;
  for (const k8s::PriorityClass& known : k8s::SystemPriorityClasses()) {
    classes[known.meta.name] = known;
  }
  for (const k8s::Object& object : objects) {
    const auto* known = std::get_if<k8s::PriorityClass>(&object);
    if (known == nullptr) continue;
    classes[known->meta.name] = *known;
    const bool lowest = fallback == nullptr || known->value < fallback->value;
    if (known->global_default && lowest) fallback = known;
  }
  for (k8s::Object& object : objects) {
    auto* pod = std::get_if<k8s::Pod>(&object);
    if (pod == nullptr || pod->spec.priority.has_value()) continue;
    const k8s::PriorityClass* own = fallback;
    if (const std::string& name = pod->spec.priority_class_name; !name.empty()) {
      const auto found = classes.find(name);
      if (found == classes.end()) {
        return InvalidError(fmt::format("pod {}/{}: no PriorityClass with name {} was found",
                                        pod->meta.namespace_, pod->meta.name, name));
      }
      own = &found->second;
    }
    pod->spec.priority = own == nullptr ? 0 : own->value;
    if (own != nullptr && own->preemption_policy == k8s::PreemptionPolicy::kNever) {
      pod->spec.preemption_policy = own->preemption_policy;
    }
  }
  return Ok();
}

Status ReadObjects(const element& request, std::vector<k8s::Object>& objects) {
  simdjson::dom::array list;
  if (request["objects"].get(list) != simdjson::SUCCESS) {
    return InvalidError("objects: a list of Kubernetes objects is missing");
  }
  Seen seen;
  for (const element& item : list) {
    const std::string path = fmt::format("objects[{}]", objects.size());
    auto object = k8s::ReadJsonObject(simdjson::minify(item));
    if (!object.ok()) {
      return InvalidError(fmt::format("{}: {}", path, object.error().ToString()));
    }
    if (auto added = seen.Add(*object); !added.ok()) return std::move(added).error().Within(path);
    objects.push_back(std::move(*object));
  }
  return AdmitPriorities(objects);
}

Status ReadPods(const element& request, std::vector<std::string>& out) {
  simdjson::dom::array pods;
  if (request["pods"].get(pods) != simdjson::SUCCESS) {
    return InvalidError("pods: a list of \"namespace/name\" is missing");
  }
  for (const element& item : pods) {
    std::string_view name;
    if (item.get(name) != simdjson::SUCCESS) return InvalidError("pods: every entry is a text");
    out.emplace_back(name);
  }
  return Ok();
}

Status CheckFields(const simdjson::dom::object& request) {
  for (const auto& field : request) {
    if (std::find(kFields.begin(), kFields.end(), field.key) != kFields.end()) continue;
    return InvalidError(fmt::format("{}: is not a field of a request", k8s::Shown(field.key)));
  }
  return Ok();
}

}  // namespace

Status ReadRequest(std::string_view line, Request& request) {
  simdjson::dom::parser parser;
  element root;
  const simdjson::padded_string padded(line);
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return InvalidError(fmt::format("not a line of JSON: {}", simdjson::error_message(error)));
  }
  simdjson::dom::object fields;
  if (root.get(fields) != simdjson::SUCCESS) return InvalidError("a request is a JSON object");
  KNX_TRY_DONE(ReadText(root, "id", request.id));
  KNX_TRY_DONE(CheckFields(fields));
  KNX_TRY_DONE(ReadConfig(root, request.config));
  KNX_TRY_DONE(ReadText(root, "scheduler", request.scheduler));
  KNX_TRY_DONE(ReadObjects(root, request.objects));
  KNX_TRY_DONE(ReadPods(root, request.pods));
  const auto preempt = root["preempt"];
  if (preempt.error() == simdjson::SUCCESS && preempt.get(request.preempt) != simdjson::SUCCESS) {
    return InvalidError("preempt: expected true or false");
  }
  return Ok();
}

}  // namespace knx::oracle
