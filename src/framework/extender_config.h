// The extenders of a configuration: HTTP services that are asked about nodes. Only how they are
// configured; calling them is for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace knx::framework {

struct ExtenderTls {
  bool insecure = false;
  std::string server_name;
  std::string cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // decoded; they win over the files
};

struct ExtenderResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

// An empty verb: the extender is not asked for that.
struct Extender {
  std::string place;  // in the configuration: "extenders[1]"
  std::string url_prefix;
  std::string filter_verb, preempt_verb, prioritize_verb, bind_verb;
  std::int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  Duration http_timeout = Duration::Seconds(5);
  bool node_cache_capable = false;
  std::vector<ExtenderResource> managed_resources;  // empty: asked about every pod
  bool ignorable = false;
};

// Extenders score up to this; their scores are stretched to those of plugins.
inline constexpr std::int64_t kMaxExtenderScore = 10;

// A rejection by an extender is recorded under this name, as if it were that of a plugin.
inline constexpr std::string_view kExtenderPlugin = "Extender";

void ReadExtender(k8s::FieldReader& fields, Extender& out);

// What no extender alone can get wrong. `fields` is the configuration the extenders were read from.
void CheckExtenders(k8s::FieldReader& fields, const std::vector<Extender>& extenders);

// The order in which extenders are asked: those that can be done without come last.
std::vector<Extender> AskingOrder(std::vector<Extender> extenders);

// Whether the extender is asked about a pod: it manages something that the pod asks for, or
// everything.
bool IsInterested(const Extender& extender, const k8s::PodSpec& pod);

// Resources that extenders account for, so that no plugin has to.
std::vector<std::string> IgnoredResources(const std::vector<Extender>& extenders);

// The name of an extended resource, as Kubernetes has it: with a domain, and not one of Kubernetes'
// own.
bool IsExtendedResourceName(std::string_view name);

}  // namespace knx::framework
