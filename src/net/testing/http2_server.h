// A server of our own that speaks HTTP/2 as well or as badly as a test wants. Lives on the loop of
// the test and listens on loopback only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "net/event_loop.h"
#include "net/http_message.h"

namespace knx::net::testing {

class Http2Server {
 public:
  struct Options {
    std::string cert_pem = {}, key_pem = {};  // both, or none: without TLS
    std::string client_ca_pem = {};  // not empty: asks for client certificates and checks them
    std::uint32_t most_streams = 0;  // what it advertises; 0: nothing
    bool grants_window = true;       // false: takes 65535 bytes of bodies and then no more
    bool answers_pings = true;
    std::string greeting = {};  // says this to whoever connects, in place of HTTP/2
    bool says_nothing = false;  // takes connections and what comes, and never speaks
    bool hangs_up = false;      // closes every connection as soon as it is made
  };
  // A request that came whole.
  struct Asked {
    std::uint64_t connection = 0;
    std::int32_t stream = 0;
    std::string method, path;
    Headers headers;
    std::string body;
  };
  using Handler = std::function<void(const Asked& asked)>;

  Http2Server(EventLoop& loop, Options options, Handler handler);
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  [[nodiscard]] int port() const { return port_; }
  // Connections that were ever made, and those that still are.
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::size_t connected() const { return connections_.size(); }
  // Streams that the client has reset.
  [[nodiscard]] int cancelled() const { return cancelled_; }

  void Answer(const Asked& asked, int status, std::string_view body, const Headers& headers = {});
  // An answer in pieces.
  void Begin(const Asked& asked, int status, const Headers& headers = {});
  void Write(const Asked& asked, std::string_view bytes);
  void End(const Asked& asked);
  // Ends a stream with an error code of HTTP/2; 7 is REFUSED_STREAM.
  void Reset(const Asked& asked, std::uint32_t code);
  // Says that nothing above `last_stream` was or will be looked at.
  void GoAway(std::uint64_t connection, std::int32_t last_stream);
  // Bytes that are no frames, outside of all that HTTP/2 has to say.
  void Garbage(std::uint64_t connection, std::string_view bytes);
  void Cut(std::uint64_t connection);
  void CutAll();
  // Nobody listens any more; what is connected stays.
  void StopListening();

 private:
  friend struct ServerCallbacks;
  struct Connection;

  void Accept();
  void OnReady(std::uint64_t number, std::uint32_t readiness);
  void Take(Connection& connection, std::string_view bytes);
  // False: the connection is gone.
  bool TakePlain(Connection& connection, std::string_view bytes);
  void Flush(Connection& connection);
  void FlushSoon(std::uint64_t number);
  Connection* Find(std::uint64_t number);

  EventLoop& loop_;
  Options options_;
  Handler handler_;
  void* tls_ = nullptr;
  int listener_ = -1, port_ = 0;
  std::uint64_t accepted_ = 0;
  int cancelled_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net::testing
