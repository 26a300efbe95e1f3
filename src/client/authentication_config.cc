#include "client/authentication_config.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

namespace knx::client {
namespace {

std::map<std::string, std::string> DataOf(const std::string& configmap) {
  std::map<std::string, std::string> out;
  simdjson::dom::parser parser;
  simdjson::dom::object data;
  if (parser.parse(configmap)["data"].get(data) != simdjson::SUCCESS) return out;
  for (const auto& [key, value] : data) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) out.emplace(key, text);
  }
  return out;
}

// What is there as '["a","b"]'; nothing if it is not there.
Result<std::vector<std::string>> ListOf(const std::string& key,
                                        const std::map<std::string, std::string>& data) {
  std::vector<std::string> out;
  const auto found = data.find(key);
  if (found == data.end()) return out;
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  bool good = parser.parse(found->second).get(array) == simdjson::SUCCESS;
  if (good) {
    for (const simdjson::dom::element one : array) {
      std::string_view text;
      good = good && one.get(text) == simdjson::SUCCESS;
      out.emplace_back(text);
    }
  }
  if (!good) return InvalidError(fmt::format("its {} is no list of texts", key));
  return out;
}

}  // namespace

AuthenticationConfig::AuthenticationConfig(net::EventLoop& loop, SendCall send, Options options)
    : loop_(loop), send_(std::move(send)), options_(std::move(options)) {}

AuthenticationConfig::~AuthenticationConfig() {
  *alive_ = false;
  loop_.Cancel(again_);
}

void AuthenticationConfig::Read() {
  ApiClient::Call call;
  call.path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  call.says_what_is_forbidden = true;
  send_(std::move(call), [this, alive = alive_](const Result<Response>& response) {
    if (*alive) OnAnswer(response);
  });
}

void AuthenticationConfig::OnAnswer(const Result<Response>& response) {
  const Status outcome = TakeOver(response);
  again_ = loop_.After(outcome.ok() ? options_.again : options_.after_failure, [this] { Read(); });
  // Not every API server has one.
  const bool absent = !outcome.ok() && outcome.error().kind == ErrorKind::kNotFound;
  std::string complaint = outcome.ok() ? "" : ComplaintOf(outcome.error(), absent);
  const auto& say = absent ? options_.note : options_.log;
  if (!complaint.empty() && complaint != last_complaint_ && say) say(complaint);
  last_complaint_ = std::move(complaint);
  if (!std::exchange(answered_, true) && options_.first_read) options_.first_read(outcome);
}

std::string AuthenticationConfig::ComplaintOf(const Error& error, bool absent) const {
  const std::string_view so =
      known_pem_.empty() ? "their certificates say nothing" : "what was read before still holds";
  if (absent) {
    return fmt::format(
        "there is no configmap kube-system/extension-apiserver-authentication that says who may "
        "vouch for clients, so {}; clients with a token are known all the same",
        so);
  }
  return fmt::format(
      "who may vouch for clients cannot be read from the configmap "
      "kube-system/extension-apiserver-authentication, so {}: {}",
      so, error.message);
}

Status AuthenticationConfig::TakeOver(const Result<Response>& response) {
  if (!response.ok()) return response.error();
  if (!response->ok()) return ErrorOf(*response);
  const std::map<std::string, std::string> data = DataOf(response->body);
  Status proxies = options_.proxies_changed ? TakeOverProxies(data) : Ok();
  if (options_.changed) {
    KNX_TRY_DONE(TakeOverClients(data));
  }
  return proxies;
}

Status AuthenticationConfig::TakeOverClients(const std::map<std::string, std::string>& data) {
  const auto pem = data.find("client-ca-file");
  if (pem == data.end()) return NotFoundError("it has no client-ca-file");
  if (pem->second == known_pem_) return Ok();
  KNX_TRY(auto authorities, net::ClientAuthorities::Make(pem->second));
  known_pem_ = pem->second;
  options_.changed(std::move(authorities));
  return Ok();
}

Status AuthenticationConfig::TakeOverProxies(const std::map<std::string, std::string>& data) {
  std::map<std::string, std::string> said;
  for (const auto& [key, value] : data) {
    if (key.starts_with("requestheader-")) said.emplace(key, value);
  }
  if (said == known_proxies_) return Ok();
  TrustedProxies proxies;
  if (const auto pem = said.find("requestheader-client-ca-file"); pem != said.end()) {
    KNX_TRY(proxies.authorities, net::ClientAuthorities::Make(pem->second));
    const std::pair<const char*, std::vector<std::string>*> lists[] = {
        {"requestheader-allowed-names", &proxies.allowed_names},
        {"requestheader-username-headers", &proxies.user_headers},
        {"requestheader-uid-headers", &proxies.uid_headers},
        {"requestheader-group-headers", &proxies.group_headers},
        {"requestheader-extra-headers-prefix", &proxies.extra_prefixes}};
    for (const auto& [key, list] : lists) {
      KNX_TRY(*list, ListOf(key, said));
    }
  }
  known_proxies_ = std::move(said);
  options_.proxies_changed(std::move(proxies));
  return Ok();
}

}  // namespace knx::client
