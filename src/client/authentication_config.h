// Who may vouch for the clients of this cluster: the API server writes it into the configmap
// kube-system/extension-apiserver-authentication. Read at the start and every few minutes, since
// authorities are renewed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/access_review.h"
#include "net/client_authorities.h"
#include "net/event_loop.h"

namespace knx::client {

class AuthenticationConfig {
 public:
  struct Options {
    // Told when there is an authority, and whenever it becomes another one.
    std::function<void(std::shared_ptr<const net::ClientAuthorities> authorities)> changed;
    // Told once how the first attempt went; may be empty. Who cannot do without
    // (--authentication-tolerate-lookup-failure=false) gives up here.
    std::function<void(const Status& outcome)> first_read = {};
    std::function<void(std::string_view line)> log = {};  // what is wrong, once
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
  Status TakeOver(const Result<Response>& response);

  net::EventLoop& loop_;
  SendCall send_;
  Options options_;
  std::string known_pem_;
  std::string last_complaint_;
  bool answered_ = false;
  net::EventLoop::TimerId again_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
