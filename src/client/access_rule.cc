#include "client/access_rule.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace knx::client {
namespace {

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

struct Target {
  std::string_view group;
  std::string resource;  // with the part of an object: "pods/binding"
  bool one_object = false;
  bool watched = false;
};

// Of "/api/v1/namespaces/a/pods/b/binding" and its like; without a resource if it is something
// else.
Target TargetOf(std::string_view path) {
  const std::size_t query = std::min(path.find('?'), path.size());
  std::vector<std::string_view> parts = PartsOf(path.substr(0, query));
  Target target;
  target.watched = path.substr(query).find("watch=true") != std::string_view::npos;
  const bool in_group = !parts.empty() && parts[0] == "apis";
  const std::size_t before = in_group ? 3 : 2;  // "apis", group, version; or "api", version
  if (parts.size() <= before || (!in_group && parts[0] != "api")) return target;
  if (in_group) target.group = parts[1];
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(before));
  // "namespaces/a/pods" are pods, "namespaces/a" is a namespace.
  if (parts[0] == "namespaces" && parts.size() > 2) parts.erase(parts.begin(), parts.begin() + 2);
  target.resource = parts[0];
  target.one_object = parts.size() > 1;
  if (parts.size() > 2) target.resource += fmt::format("/{}", parts[2]);
  return target;
}

struct Verbs {
  std::string_view said, needed;
};

Verbs VerbsOf(std::string_view method, bool one_object, bool watched) {
  if (method == "POST") return {"create", "create"};
  if (method == "PUT") return {"update", "update"};
  if (method == "PATCH") return {"patch", "patch"};
  if (method == "DELETE") return {"delete", "delete"};
  if (one_object) return {"get", "get"};
  // Whoever needs one of them needs the other.
  return {watched ? "watch" : "list", "list, watch"};
}

}  // namespace

std::string NotAllowed(std::string_view method, std::string_view path) {
  const Target target = TargetOf(path);
  const Verbs verbs = VerbsOf(method, target.one_object, target.watched);
  if (target.resource.empty()) {
    const std::string_view url = path.substr(0, path.find('?'));
    std::string verb(method);
    absl::AsciiStrToLower(&verb);
    return fmt::format(
        "not allowed to {0} {1}: the ClusterRole needs nonResourceURLs: [\"{1}\"], verbs: [{0}]",
        verb, url);
  }
  return fmt::format(
      "not allowed to {} {}: the ClusterRole needs apiGroups: [\"{}\"], resources: [{}], "
      "verbs: [{}]",
      verbs.said, target.resource, target.group, target.resource, verbs.needed);
}

std::string NotAllowedLease(std::string_view method, std::string_view namespace_,
                            std::string_view name) {
  // A right to create cannot be one to create something of a certain name.
  const bool creates = method == "POST";
  return fmt::format(
      "not allowed to {} leases in {}: the Role there needs apiGroups: [\"coordination.k8s.io\"], "
      "resources: [leases], {}",
      VerbsOf(method, true, false).said, namespace_,
      creates ? "verbs: [create]" : fmt::format("resourceNames: [{}], verbs: [get, update]", name));
}

}  // namespace knx::client
