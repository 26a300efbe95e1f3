#include "framework/extender_config.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <algorithm>

#include "framework/config.h"

namespace knx::framework {
namespace {

using k8s::FieldReader;

// Kubernetes' rule for both halves of a name: letters and digits at the ends, a few more between.
bool IsWord(std::string_view word, std::string_view between, bool upper_case) {
  const auto plain = [&](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
           absl::ascii_islower(static_cast<unsigned char>(c)) ||
           (upper_case && absl::ascii_isupper(static_cast<unsigned char>(c)));
  };
  return !word.empty() && plain(word.front()) && plain(word.back()) &&
         std::all_of(word.begin(), word.end(),
                     [&](char c) { return plain(c) || between.find(c) != std::string_view::npos; });
}

bool IsSubdomain(std::string_view text) {
  constexpr std::size_t kMaxLength = 253;
  if (text.size() > kMaxLength) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsWord(text.substr(0, dot), "-", false)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

void ReadBytes(FieldReader& fields, std::string_view key, std::string& out) {
  std::string text;
  if (!fields.Read(key, text)) return;
  if (!absl::Base64Unescape(text, &out)) fields.Fail(key, "is not base64");
}

void ReadTls(FieldReader& fields, ExtenderTls& out) {
  fields.Read("insecure", out.insecure);
  fields.Read("serverName", out.server_name);
  fields.Read("certFile", out.cert_file);
  fields.Read("keyFile", out.key_file);
  fields.Read("caFile", out.ca_file);
  ReadBytes(fields, "certData", out.cert_data);
  ReadBytes(fields, "keyData", out.key_data);
  ReadBytes(fields, "caData", out.ca_data);
  const bool has_ca = !out.ca_file.empty() || !out.ca_data.empty();
  if (out.insecure && has_ca) {
    fields.Fail("insecure", "contradicts the certificate authority beside it");
  }
}

void ReadManagedResource(FieldReader& fields, ExtenderResource& out) {
  fields.Require("name", out.name);
  fields.Read("ignoredByScheduler", out.ignored_by_scheduler);
  if (fields.ok() && !IsExtendedResourceName(out.name)) {
    fields.Fail("name", fmt::format("{:?} is not the name of an extended resource, such as "
                                    "example.com/gpu",
                                    out.name.substr(0, 80)));
  }
}

}  // namespace

bool IsExtendedResourceName(std::string_view name) {
  constexpr std::string_view kQuotaPrefix = "requests.";
  constexpr std::size_t kMaxWord = 63, kMaxDomain = 253;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = name.substr(0, slash), word = name.substr(slash + 1);
  // With the prefix in front it must still be a name, because quotas call it so.
  return IsSubdomain(domain) && domain.size() + kQuotaPrefix.size() <= kMaxDomain &&
         word.size() <= kMaxWord && IsWord(word, "-_.", true) &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with(kQuotaPrefix);
}

std::vector<Extender> AskingOrder(std::vector<Extender> extenders) {
  std::stable_partition(extenders.begin(), extenders.end(),
                        [](const Extender& extender) { return !extender.ignorable; });
  return extenders;
}

bool IsInterested(const Extender& extender, const k8s::PodSpec& pod) {
  if (extender.managed_resources.empty()) return true;
  const auto manages = [&](const k8s::ResourceList& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& entry) {
      return std::any_of(extender.managed_resources.begin(), extender.managed_resources.end(),
                         [&](const ExtenderResource& r) { return r.name == entry.first; });
    });
  };
  const auto asks = [&](const std::vector<k8s::Container>& containers) {
    return std::any_of(containers.begin(), containers.end(), [&](const k8s::Container& container) {
      return manages(container.resources.requests) || manages(container.resources.limits);
    });
  };
  return asks(pod.containers) || asks(pod.init_containers);
}

std::vector<std::string> IgnoredResources(const std::vector<Extender>& extenders) {
  std::vector<std::string> out;
  for (const Extender& extender : extenders) {
    for (const ExtenderResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) out.push_back(resource.name);
    }
  }
  return out;
}

void ReadExtender(FieldReader& fields, Extender& out) {
  out.place = fields.path();
  fields.Read("urlPrefix", out.url_prefix);
  fields.Read("filterVerb", out.filter_verb);
  fields.Read("preemptVerb", out.preempt_verb);
  fields.Read("prioritizeVerb", out.prioritize_verb);
  fields.Read("bindVerb", out.bind_verb);
  fields.Read("weight", out.weight);
  fields.Read("enableHTTPS", out.enable_https);
  fields.Map("tlsConfig", [&](FieldReader& tls) { ReadTls(tls, out.tls.emplace()); });
  Duration timeout;
  if (fields.Read("httpTimeout", timeout)) {
    if (timeout < Duration{} || timeout > kMaxConfiguredDuration) {
      fields.Fail("httpTimeout", "must not be negative, and at most a year");
    }
    if (timeout > Duration{}) out.http_timeout = timeout;
  }
  fields.Read("nodeCacheCapable", out.node_cache_capable);
  fields.ForEach("managedResources", [&](FieldReader& item) {
    ReadManagedResource(item, out.managed_resources.emplace_back());
  });
  fields.Read("ignorable", out.ignorable);
}

void CheckExtenders(FieldReader& fields, const std::vector<Extender>& extenders) {
  std::size_t next = 0;
  std::optional<std::size_t> binder;
  absl::flat_hash_set<std::string> managed;
  fields.ForEach("extenders", [&](FieldReader& item) {
    const std::size_t at = next++;
    const Extender& extender = extenders[at];
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      item.Fail("weight", "must be positive for an extender with a prioritizeVerb");
    }
    if (!extender.bind_verb.empty()) {
      if (binder) {
        item.Fail("bindVerb",
                  fmt::format("only one extender can bind, and extenders[{}] does", *binder));
      }
      binder = at;
    }
    std::size_t next_resource = 0;
    item.ForEach("managedResources", [&](FieldReader& resource) {
      const std::string& name = extender.managed_resources[next_resource++].name;
      if (!managed.insert(name).second) {
        resource.Fail("name", fmt::format("{:?} is managed by an extender already", name));
      }
    });
  });
}

}  // namespace knx::framework
