// One client of a server: reads a request, waits for its answer, sends it, and then looks at the
// next request. Requests that were sent ahead wait in the socket. A client that is slow at anything
// is left after a while.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/http_exchange.h"
#include "net/http_request_parser.h"

namespace knx::net {

struct HttpServerLimits {
  HttpRequestParser::Limits request;
  std::size_t connections = 256;
  Duration handshake = Duration::Seconds(10);
  Duration idle = Duration::Seconds(90);          // until a request begins
  Duration receive = Duration::Seconds(30);       // from its first byte to its last
  Duration answer = Duration::Seconds(60);        // until the handler answers
  Duration send = Duration::Seconds(30);          // until the client has taken all of it
  Duration linger = Duration::Milliseconds(500);  // for the client to read the last answer
};

class HttpServerConnection {
 public:
  struct Client {
    int socket;                             // that was accepted
    std::string address;                    // with the port
    std::shared_ptr<const TlsContext> tls;  // to be spoken with it; empty: none
  };
  // Takes over the socket. `ended` is called once, from the loop; the connection can be destroyed
  // then, and at any other time that is not within a call of the handler.
  HttpServerConnection(EventLoop& loop, const Client& client, const HttpServerLimits& limits,
                       const RequestHandler& handler, std::function<void()> ended);
  ~HttpServerConnection();
  HttpServerConnection(const HttpServerConnection&) = delete;
  HttpServerConnection& operator=(const HttpServerConnection&) = delete;

  // Nothing was asked that is not answered.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] Time idle_since() const { return phase_since_; }
  // What was asked is still answered, then the connection ends.
  void Drain();

 private:
  enum class Phase { kWaiting, kReceiving, kAnswering, kSending, kLingering, kEnded };
  struct Exchange;

  void OnReceived(std::string_view bytes);
  void OnSent();
  void OnTooSlow();
  void Proceed();
  // False: more bytes are needed.
  bool TakeIn();
  void Ask();
  void Answer(const ServerResponse& response);
  void Refuse(int status, const std::string& reason);
  void Await();
  void Linger();
  void End();
  void Enter(Phase phase, Duration most);

  EventLoop& loop_;
  const HttpServerLimits& limits_;
  const RequestHandler& handler_;
  std::function<void()> ended_;
  std::string peer_;
  Phase phase_ = Phase::kWaiting;
  Time phase_since_;
  EventLoop::TimerId too_slow_;
  std::string incoming_;
  std::unique_ptr<HttpRequestParser> parser_;
  std::shared_ptr<Exchange> exchange_;  // with who will answer
  bool head_only_ = false;              // the answer goes without its body
  bool keep_ = true;                    // for another request
  bool proceeding_ = false;
  ByteStream stream_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
