// Requests to one server, over a few connections that are opened when they are needed: another one
// once the server takes no more requests over those that are there. Requests wait while there is no
// room; none is sent twice. When no connection can be had, all that wait are told, and the next
// attempt is made later and later, so that a server that is down is not stormed, nor one that takes
// connections and no requests. When nothing could
// be sent for too long, who waits is told what for. A sink may send and cancel, but never destroy
// the client.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "net/backoff.h"
#include "net/event_loop.h"
#include "net/http2_connection.h"
#include "net/http_message.h"
#include "net/transport.h"

namespace knx::net {

class HttpClient {
 public:
  struct Options {
    Endpoint endpoint;
    std::size_t connections = 1;  // at most, but for those that the server is about to close
    Http2Connection::Timing timing = {};
    // For room, of requests that have no time-out of their own.
    Duration longest_wait = Duration::Seconds(30);
  };
  HttpClient(EventLoop& loop, Options options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  using RequestId = std::uint64_t;
  // The sink is not called from within. While nothing at all can be sent the request waits, but not
  // for longer than its time-out; the time that others before it take does not count.
  RequestId Send(Request request, std::unique_ptr<ResponseSink> sink);
  // The sink hears nothing more, and goes away soon: it may be the one who calls this.
  void Cancel(RequestId id);
  // Opens the first connection before there is a request for it.
  void Prepare();
  // From now on connections are made to this one; those that are there are used until their
  // requests are answered. For a client who has become another.
  void Replace(Endpoint endpoint);
  // Sent or waiting.
  [[nodiscard]] std::size_t outstanding() const {
    return urgent_.size() + patient_.size() + sent_.size();
  }

 private:
  // A server that hangs hangs for these, and goes on with the others.
  static constexpr std::size_t kFewPatient = 50;
  class Forwarder;
  struct Waiting {
    RequestId id;
    Request request;
    std::unique_ptr<ResponseSink> sink;
    Time since;
  };
  struct Link {
    std::unique_ptr<Http2Connection> connection;
    Time opened = {};
    bool outdated = false;  // gets no new requests
    bool used = false;      // has carried a request
  };
  using Links = std::list<Link>;
  struct Sent {
    Links::iterator link;
    Http2Connection::StreamId stream;
    bool urgent;
    Time when;
  };

  void Pump();
  // False: none waits that may be sent.
  bool SendNext(Links::iterator link);
  // It was answered, or failed (`well` says which), or is not waited for any more.
  void NoteOver(RequestId id, bool well);
  // Where answers are slow or do not come, those that are not urgent leave most of the room alone.
  [[nodiscard]] bool MaySendPatient() const;
  [[nodiscard]] bool AnyMayBeSent() const {
    return !urgent_.empty() || (!patient_.empty() && MaySendPatient());
  }
  void OpenAnother();
  [[nodiscard]] static bool Usable(const Link& link);
  void OnRoom(Links::iterator link);
  void SweepSoon();
  void OnClosed(Links::iterator link, const Error& error);
  [[nodiscard]] static bool WasGood(const Link& link);
  [[nodiscard]] Duration LongestWait(const Request& request) const;
  [[nodiscard]] Time GivesUpAt(const Waiting& waiting) const;
  void LookAgainAt(Time when);
  void GiveUpWhoIsLate();
  std::optional<Waiting> TakeLate(Time now);
  [[nodiscard]] std::string WhyNotSent() const;

  EventLoop& loop_;
  Options options_;
  Links links_;
  std::deque<Waiting> urgent_, patient_;  // waiting
  std::map<RequestId, Sent> sent_;
  std::size_t patient_sent_ = 0;
  std::size_t patient_window_ = kFewPatient;  // so many of them at a time
  RequestId last_ = 0;
  Time last_sent_;           // when a request last found a place
  EventLoop::TimerId look_;  // at who has waited for too long
  Backoff backoff_{Duration::Milliseconds(100), Duration::Seconds(5)};  // of attempts to connect
  EventLoop::TimerId retry_;
  std::string no_connection_;  // why the last attempt failed; empty: it did not
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
