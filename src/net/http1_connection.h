// One HTTP/1.1 connection to a server: one request at a time, and the next over the same connection
// if the server keeps it. A response is given as a whole, and bounded in size.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/transport.h"

namespace knx::net {

struct Http1Response {
  int status = 0;
  Headers headers;
  std::string body;
};

class Http1Connection {
 public:
  struct Limits {
    Duration connect = Duration::Seconds(30);
    std::uint32_t header_bytes = 64 * 1024;
    std::uint64_t body_bytes = std::uint64_t{64} << 20;
  };
  // Neither is called from within a call. The connection must not be destroyed from within them.
  struct Callbacks {
    // `keeps`: another request can be sent.
    std::function<void(Http1Response response, bool keeps)> answered;
    // Once, and then nothing more is called.
    std::function<void(const Error&)> closed;
  };
  // `authority` is what the header Host says.
  Http1Connection(EventLoop& loop, const Endpoint& endpoint, std::string authority, Limits limits,
                  Callbacks callbacks);
  ~Http1Connection();
  Http1Connection(const Http1Connection&) = delete;
  Http1Connection& operator=(const Http1Connection&) = delete;

  // At any time before the first answer, and after an answer if the connection keeps. Headers have
  // no line ends in them. One that is not wanted when bytes can leave ends the connection instead.
  void Send(const Request& request);
  // Nothing is called any more.
  void Silence() { silent_ = over_ = true; }
  // Something of an answer to the last request has arrived.
  [[nodiscard]] bool answering() const { return answering_; }

 private:
  struct Parser;

  void OnConnected();
  void Leave();
  void OnReceived(std::string_view bytes);
  void OnClosed(const Error& error);
  void Parse();
  void Answer();
  void Fail(std::string_view what);
  void End(Error error);

  EventLoop& loop_;
  std::string place_, authority_;
  Limits limits_;
  Callbacks callbacks_;
  std::unique_ptr<Parser> parser_;  // set while an answer is awaited
  std::string received_;            // and not parsed yet
  std::string request_;             // until it leaves
  std::function<bool()> wanted_;    // what it asks then; may be empty
  bool connected_ = false, answering_ = false, over_ = false, silent_ = false;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
