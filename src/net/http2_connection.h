// One HTTP/2 connection to a server: many requests at a time, each with a sink for its response.
// When the connection ends, every request that is not complete is told. A sink may send and cancel,
// but never destroy the connection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/transport.h"

struct nghttp2_session;

namespace knx::net {

class Http2Connection {
 public:
  struct Callbacks {
    // More requests than before can be sent. First once the server has said how many it takes.
    std::function<void()> room;
    std::function<void(const Error&)> closed;  // once; the connection can be destroyed then
  };
  struct Timing {
    Duration connect = Duration::Seconds(10);
    // A connection that does not answer is found dead after at most twice this.
    Duration ping_every = Duration::Seconds(15);
  };
  Http2Connection(EventLoop& loop, const Endpoint& endpoint, const Timing& timing,
                  Callbacks callbacks);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  using StreamId = std::int32_t;
  // For when there is room. The sink is taken and not called from within; where the number is
  // negative it is not taken, and the connection takes no more requests.
  StreamId Send(const Request& request, std::unique_ptr<ResponseSink>& sink);
  // The sink hears nothing more, and goes away soon: it may be the one who calls this.
  void Cancel(StreamId stream);
  // Requests that could be sent now; none until the server has said how many it takes.
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] std::size_t open() const { return streams_.size(); }
  // False: no new requests, ever; those that were sent may still be answered.
  [[nodiscard]] bool takes_requests() const { return !going_away_; }
  // Whether the server has ever said something that is HTTP/2.
  [[nodiscard]] bool heard() const { return heard_; }

 private:
  friend struct Http2Callbacks;
  struct Stream {
    std::unique_ptr<ResponseSink> sink;
    std::string body;
    std::size_t body_sent = 0;
    bool sent = false;  // at least the beginning, so that the server may have acted upon it
    int status = 0;
    Headers headers;
    std::size_t header_bytes = 0;
    bool head_told = false;
    EventLoop::TimerId timeout;
  };

  void OnConnected();
  void OnReceived(std::string_view bytes);
  void OnClosed(const Error& error);
  // Hands what HTTP/2 wants to send to the transport.
  void Flush();
  void FlushSoon();
  void Finish(StreamId id, const Status& outcome, bool unsent);
  void RoomSoon();
  void Ping();
  void Fail(std::string_view why);

  EventLoop& loop_;
  std::string authority_, scheme_;
  Callbacks callbacks_;
  nghttp2_session* session_ = nullptr;
  std::unique_ptr<Transport> transport_;
  std::map<StreamId, Stream> streams_;
  Timing timing_;
  bool connected_ = false;
  bool heard_ = false;
  bool going_away_ = false;  // the server takes no new requests on this connection
  bool flush_planned_ = false;
  EventLoop::TimerId ping_;
  bool ping_unanswered_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
