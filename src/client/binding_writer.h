// Binds pods, and finds out what became of a binding whose answer was lost. The connection may end,
// or the server may fail, after the binding was done or while it is being done: a room that is
// given to somebody else then is taken twice. So nothing is said of such a binding before the
// server says of the pod itself where it is, and, while it is nowhere, not before the server has
// certainly given up. The same for a conflict, which may be one with an attempt of our own,
// and for a success that is not said in the server's words. What
// the server certainly did not do, such as what it puts off with 429, has failed at once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "client/pod_writer.h"
#include "net/event_loop.h"

namespace knx::client {

struct BindingPatience {
  // So long after its answer was lost, the server does nothing more about a binding: longer than it
  // is given for one (ApiClient::Options::server_timeout).
  Duration given_up_after = kWritesAreOver;
  // Between two looks at a pod, doubled each time.
  Duration first_pause = Duration::Milliseconds(100), longest_pause = Duration::Seconds(5);
};

class BindingWriter {
 public:
  using Done = std::function<void(const Status& outcome)>;

  BindingWriter(net::EventLoop& loop, ApiClient& api, BindingPatience patience = {})
      : loop_(loop), api_(api), pods_(api), patience_(patience) {}
  ~BindingWriter() { *alive_ = false; }
  BindingWriter(const BindingWriter&) = delete;
  BindingWriter& operator=(const BindingWriter&) = delete;

  // `wanted`: asked right before it is sent; see ApiClient::Call.
  void Bind(const PodName& pod, const std::string& node, Done done,
            std::function<bool()> wanted = {});
  // Bindings of which nobody knows yet what became of them.
  [[nodiscard]] std::size_t uncertain() const { return uncertain_; }

 private:
  struct Doubt;

  void Look(const std::shared_ptr<Doubt>& doubt);
  void OnSeen(const std::shared_ptr<Doubt>& doubt, Result<Response> response);
  void LookAgain(const std::shared_ptr<Doubt>& doubt);
  void Settle(const std::shared_ptr<Doubt>& doubt, const Status& outcome);

  net::EventLoop& loop_;
  ApiClient& api_;
  PodWriter pods_;
  BindingPatience patience_;
  std::size_t uncertain_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
