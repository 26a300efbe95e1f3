// A server of HTTP/1.1 on a loop, with TLS or without. A bounded number of clients at a time: when
// there are too many, the one that has been idle for longest makes room, so that nobody can keep
// others out by doing nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http_exchange.h"
#include "net/http_server_connection.h"
#include "net/tls_context.h"

namespace knx::net {

class HttpServer {
 public:
  struct Options {
    std::string address = "0.0.0.0";             // one of ours; "::" is all of them, of both kinds
    int port = 0;                                // 0: any that is free
    std::shared_ptr<const TlsContext> tls = {};  // empty: without TLS
    HttpServerLimits limits = {};
  };
  // Listens from now on. The error says where it cannot, and why.
  static Result<std::unique_ptr<HttpServer>> Listen(EventLoop& loop, Options options,
                                                    RequestHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const { return options_.port; }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  // For connections from now on: certificates are renewed while we run.
  void UseTls(std::shared_ptr<const TlsContext> tls) { options_.tls = std::move(tls); }
  // No new connections; what was asked is still answered, then the connections end.
  void Drain();

 private:
  using Connections = std::map<std::uint64_t, std::unique_ptr<HttpServerConnection>>;

  HttpServer(EventLoop& loop, Options options, RequestHandler handler);
  Status Open();
  void WatchListener();
  void AcceptSome();
  // False: try again later.
  bool AcceptOne();
  bool MakeRoom();

  EventLoop& loop_;
  Options options_;
  RequestHandler handler_;
  int listener_ = -1;
  EventLoop::TimerId try_again_;
  Connections connections_;
  std::uint64_t last_connection_ = 0;
};

}  // namespace knx::net
