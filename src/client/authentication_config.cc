#include "client/authentication_config.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

namespace knx::client {

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
  std::string complaint;
  if (!outcome.ok()) {
    complaint = fmt::format(
        "who may vouch for clients cannot be read from the configmap "
        "kube-system/extension-apiserver-authentication, so {}: {}",
        known_pem_.empty() ? "their certificates say nothing" : "what was read before still holds",
        outcome.error().message);
  }
  if (!complaint.empty() && complaint != last_complaint_ && options_.log) options_.log(complaint);
  last_complaint_ = std::move(complaint);
  if (!std::exchange(answered_, true) && options_.first_read) options_.first_read(outcome);
}

Status AuthenticationConfig::TakeOver(const Result<Response>& response) {
  if (!response.ok()) return response.error();
  if (!response->ok()) return ErrorOf(*response);
  simdjson::dom::parser parser;
  std::string_view pem;
  if (parser.parse(response->body)["data"]["client-ca-file"].get(pem) != simdjson::SUCCESS) {
    return InvalidError("it has no client-ca-file");
  }
  if (pem == known_pem_) return Ok();
  KNX_TRY(auto authorities, net::ClientAuthorities::Make(std::string(pem)));
  known_pem_ = std::string(pem);
  options_.changed(std::move(authorities));
  return Ok();
}

}  // namespace knx::client
