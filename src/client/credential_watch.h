// Who we are at an API server, kept up to date on an event loop: what a TokenSource gives, the
// descriptor of a plugin that runs, and certificates that become others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "client/api_client.h"
#include "client/token_source.h"
#include "net/event_loop.h"

namespace knx::client {

class CredentialWatch {
 public:
  struct Callbacks {
    // New connections are to be made with these.
    std::function<void(const Credentials&)> certificate_changed;
    // There are none, or no newer ones: why.
    std::function<void(std::string_view)> trouble;
  };
  // `first` is what the source gave before; it and the loop outlive this.
  CredentialWatch(net::EventLoop& loop, TokenSource& source, const Credentials& first,
                  std::function<Time()> wall);
  ~CredentialWatch();
  CredentialWatch(const CredentialWatch&) = delete;
  CredentialWatch& operator=(const CredentialWatch&) = delete;

  void set_callbacks(Callbacks callbacks) { callbacks_ = std::move(callbacks); }
  // For ApiClient::Options.
  Authorization Current();
  void Refused(std::uint64_t generation) { source_.Refused(generation); }

 private:
  void Take(const Credentials& credentials);
  void Unwatch();

  net::EventLoop& loop_;
  TokenSource& source_;
  Credentials newest_;
  std::function<Time()> wall_;
  Callbacks callbacks_;
  int watched_ = -1;
};

}  // namespace knx::client
