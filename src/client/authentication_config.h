// Who may vouch for the clients of this cluster: the API server writes it into the configmap
// kube-system/extension-apiserver-authentication. Read at the start and every few minutes, since
// authorities are renewed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/access_review.h"
#include "client/trusted_proxies.h"
#include "net/client_authorities.h"
#include "net/event_loop.h"

namespace knx::client {

class AuthenticationConfig {
 public:
  struct Options {
    // Told when there is an authority, and whenever it becomes another one. May be empty.
    std::function<void(std::shared_ptr<const net::ClientAuthorities> authorities)> changed;
    // The same of proxies. May be empty.
    std::function<void(TrustedProxies proxies)> proxies_changed = {};
    // Told once how the first attempt went; may be empty. Who cannot do without
    // (--authentication-tolerate-lookup-failure=false) gives up here.
    std::function<void(const Status& outcome)> first_read = {};
    std::function<void(std::string_view line)> log = {};   // what is wrong, once
    std::function<void(std::string_view line)> note = {};  // that there is no such configmap, once
    Duration again = Duration::Minutes(5);
    Duration after_failure = Duration::Seconds(30);
  };
  AuthenticationConfig(net::EventLoop& loop, SendCall send, Options options);
  ~AuthenticationConfig();
  AuthenticationConfig(const AuthenticationConfig&) = delete;
  AuthenticationConfig& operator=(const AuthenticationConfig&) = delete;

  void Read();

 private:
  void OnAnswer(const Result<Response>& response);
  [[nodiscard]] std::string ComplaintOf(const Error& error, bool absent) const;
  Status TakeOver(const Result<Response>& response);
  Status TakeOverClients(const std::map<std::string, std::string>& data);
  Status TakeOverProxies(const std::map<std::string, std::string>& data);

  net::EventLoop& loop_;
  SendCall send_;
  Options options_;
  std::string known_pem_;
  std::map<std::string, std::string> known_proxies_;  // what is said of them
  std::string last_complaint_;
  bool answered_ = false;
  net::EventLoop::TimerId again_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
