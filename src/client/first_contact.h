// The first call to an API server, before anything else is asked of it: finds out what no waiting
// can mend, such as a certificate that is not trusted, and waits for a server that is only down.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "client/api_access.h"
#include "client/api_client.h"
#include "net/backoff.h"
#include "net/event_loop.h"

namespace knx::client {

class FirstContact {
 public:
  struct OurCredentials {
    bool may_change = false;  // by themselves, so that a 401 is waited out
    FieldPlace place = {};    // where they stand, for errors
  };
  // `patience`: how long a server is waited for; 0: without end.
  // `done` is told once: the server answers, or why it never will.
  FirstContact(net::EventLoop& loop, ApiClient& api, OurCredentials credentials, Duration patience,
               std::function<void(const Status& outcome)> done);
  ~FirstContact();
  FirstContact(const FirstContact&) = delete;
  FirstContact& operator=(const FirstContact&) = delete;

 private:
  void Ask();
  void OnAnswer(const Result<Response>& response);
  void AskLater(const Error& error);
  [[nodiscard]] bool IsPatient() const;

  net::EventLoop& loop_;
  ApiClient& api_;
  OurCredentials credentials_;
  Duration patience_;
  Time began_ = net::EventLoop::Now();
  std::function<void(const Status& outcome)> done_;
  net::Backoff backoff_{Duration::Milliseconds(500), Duration::Seconds(10)};
  net::EventLoop::TimerId retry_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
