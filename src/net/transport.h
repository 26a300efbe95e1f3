// A TCP connection, with TLS or without, that never blocks: bytes go in at any time and come out
// through callbacks. Made by the side that connects.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/tls_context.h"

namespace knx::net {

// Passes bytes on to the endpoint when it is asked to, by HTTP's CONNECT.
struct ProxyServer {
  std::string host;  // empty: there is no proxy
  int port = 0;
  std::shared_ptr<const TlsContext> tls = {};  // between us and the proxy; empty: without TLS
  std::string authorization = {};              // the value of Proxy-Authorization, if it wants one
};

struct Endpoint {
  std::string host;  // a name or an address
  int port = 0;
  std::shared_ptr<const TlsContext> tls = {};  // empty: without TLS
  std::string server_name = {};                // who the other side must be; empty: `host`
  ProxyServer proxy = {};
  // Asked right before bytes are handed to the system; empty: always. A "no" ends the connection
  // with a reset, so that what the system still holds does not leave either.
  std::function<bool()> may_send = {};

  [[nodiscard]] std::string ToString() const;
};

class Transport {
 public:
  struct Callbacks {
    std::function<void()> connected;
    std::function<void(std::string_view)> received;
    // All that was given to Write() has been handed to the system.
    std::function<void()> drained;
    // Once, and then nothing more is called; not after the Transport was destroyed.
    std::function<void(const Error&)> closed;
  };
  // Connects, which must be done within `timeout`.
  Transport(EventLoop& loop, Endpoint endpoint, Duration timeout, Callbacks callbacks);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void Write(std::string_view bytes);
  // Bytes that wait to be sent.
  [[nodiscard]] std::size_t unsent() const { return out_.size() - sent_; }

 private:
  enum class Phase {
    kResolving,
    kConnecting,
    kMeetingProxy,  // TLS with the proxy
    kAskingProxy,
    kShakingHands,
    kOpen,
    kClosed
  };
  struct Resolution;

  void Resolve();
  void OnResolved();
  void ConnectNext();
  void OnReady(std::uint32_t readiness);
  void OnConnected();
  void MeetProxy();
  void AskProxy();
  void HearProxy();
  void OnProxyAnswer();
  void BeginTls();
  void ShakeHands();
  void Open();
  void Receive();
  // Whether there is more that was read from the socket already, of which it does not tell.
  [[nodiscard]] bool HoldsMore(bool read_was_full) const;
  // Bytes read; 0: none now, or it has failed.
  std::size_t ReadSome(char* into, std::size_t size);
  void Send();
  // False: nothing more can be sent now.
  bool SendSome();
  void WatchFor();
  void Fail(std::string what, ErrorKind kind = ErrorKind::kUnavailable);
  void FailTls(std::string_view doing, int error);
  void FailPlain(std::string what);
  void CloseSocket();

  EventLoop& loop_;
  Endpoint endpoint_;
  Callbacks callbacks_;
  std::shared_ptr<Resolution> resolution_;
  std::size_t next_address_ = 0;
  Phase phase_ = Phase::kResolving;
  Duration limit_;
  EventLoop::TimerId timeout_;
  EventLoop::TimerId next_attempt_;  // when this address has had its share of the time
  int socket_ = -1;
  ssl_st* ssl_ = nullptr;
  ssl_st* proxy_ssl_ = nullptr;  // what `ssl_` runs inside of
  std::string proxy_answer_;
  std::uint32_t watched_for_ = 0;
  bool handshake_wants_write_ = false;
  bool heard_ = false;  // something of the server itself
  std::string out_;
  std::size_t sent_ = 0;
  std::string last_failure_;
  // Told by what runs later whether there is still somebody to be told.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
