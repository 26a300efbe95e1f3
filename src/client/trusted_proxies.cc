#include "client/trusted_proxies.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string_view>

#include "base/percent.h"

namespace knx::client {
namespace {

std::vector<std::string> ValuesOf(const net::Headers& headers,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const std::string lower = absl::AsciiStrToLower(name);
    for (const auto& [key, value] : headers) {
      if (key == lower && !value.empty()) out.push_back(value);
    }
  }
  return out;
}

std::string FirstOf(const net::Headers& headers, const std::vector<std::string>& names) {
  const std::vector<std::string> values = ValuesOf(headers, names);
  return values.empty() ? std::string() : values.front();
}

bool IsProxy(const TrustedProxies& proxies, const std::vector<std::string>& certificates) {
  if (proxies.authorities == nullptr || certificates.empty()) return false;
  const auto subject = proxies.authorities->Verify(certificates);
  const std::vector<std::string>& allowed = proxies.allowed_names;
  return subject.ok() && (allowed.empty() || std::find(allowed.begin(), allowed.end(),
                                                       subject->common_name) != allowed.end());
}

}  // namespace

std::optional<Caller> CallerBehind(const TrustedProxies& proxies,
                                   const std::vector<std::string>& certificates,
                                   const net::Headers& headers) {
  if (!IsProxy(proxies, certificates)) return std::nullopt;
  Caller out;
  out.user = FirstOf(headers, proxies.user_headers);
  if (out.user.empty()) return std::nullopt;
  out.uid = FirstOf(headers, proxies.uid_headers);
  out.groups = ValuesOf(headers, proxies.group_headers);
  for (const std::string& prefix : proxies.extra_prefixes) {
    const std::string lower = absl::AsciiStrToLower(prefix);
    for (const auto& [name, value] : headers) {
      // Every header begins with nothing, a token's too.
      if (lower.empty() || !name.starts_with(lower)) continue;
      const std::string key = name.substr(lower.size());
      out.extra[DecodePercent(key).value_or(key)].push_back(value);
    }
  }
  return out;
}

}  // namespace knx::client
