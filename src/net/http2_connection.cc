#include "net/http2_connection.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace knx::net {
namespace {

// How much the server may send before we have taken it: large, because we always take it at once.
constexpr std::int32_t kStreamWindow = 4 << 20;
constexpr std::int32_t kConnectionWindow = 32 << 20;
// Requests at a time on one connection, whatever the server would take.
constexpr std::uint32_t kMostStreams = 1000;
// What may wait for a slow server before no more is made ready to be sent.
constexpr std::size_t kEnoughUnsent = std::size_t{1} << 20;
// Of one response; what comes after is left out.
constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;

nghttp2_nv ToNv(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

// What nghttp2 calls, with the connection as its word.
struct Http2Callbacks {
  static Http2Connection& Of(void* user) { return *static_cast<Http2Connection*>(user); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
    auto& streams = Of(user).streams_;
    const auto found = streams.find(frame->hd.stream_id);
    if (found == streams.end()) return 0;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    Http2Connection::Stream& stream = found->second;
    if (key == ":status") {
      stream.status = 0;
      stream.headers.clear();  // those of an answer that was not the last
      std::from_chars(text.data(), text.data() + text.size(), stream.status);
    } else {
      stream.header_bytes += key.size() + text.size();
      if (stream.header_bytes <= kMostHeaderBytes) stream.headers.emplace_back(key, text);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Connection& connection = Of(user);
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      connection.going_away_ = true;
    } else if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
      connection.ping_unanswered_ = false;
    } else if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
      connection.heard_ = true;
      connection.callbacks_.room();
    } else if (frame->hd.type == NGHTTP2_HEADERS) {
      const auto found = connection.streams_.find(frame->hd.stream_id);
      constexpr int kFirstFinal = 200;
      if (found == connection.streams_.end() || found->second.status < kFirstFinal) return 0;
      if (!std::exchange(found->second.head_told, true)) {
        found->second.sink->OnHead(found->second.status, found->second.headers);
      }
    }
    return 0;
  }

  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
    auto& streams = Of(user).streams_;
    const auto found = streams.find(id);
    if (found == streams.end()) return 0;
    found->second.sink->OnData({reinterpret_cast<const char*>(data), size});
    return 0;
  }

  static int OnStreamClosed(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    Http2Connection& connection = Of(user);
    const auto found = connection.streams_.find(id);
    const bool answered = found != connection.streams_.end() && found->second.head_told;
    if (code == NGHTTP2_NO_ERROR && answered) {
      connection.Finish(id, Ok(), false);
    } else {
      const Error error{ErrorKind::kUnavailable,
                        fmt::format("{}: the server ended the request: {}", connection.authority_,
                                    nghttp2_http2_strerror(code)),
                        {}};
      connection.Finish(id, error, code == NGHTTP2_REFUSED_STREAM);
    }
    return 0;
  }

  static int BeforeSend(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    auto& streams = Of(user).streams_;
    if (const auto found = streams.find(frame->hd.stream_id); found != streams.end()) {
      found->second.sent = true;
    }
    return 0;
  }

  // A request that waited within HTTP/2 until the server took no more.
  static int OnNotSent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Http2Connection& connection = Of(user);
    connection.Finish(frame->hd.stream_id,
                      Error{ErrorKind::kUnavailable,
                            connection.authority_ + ": the server takes no more requests",
                            {}},
                      true);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& streams = Of(user).streams_;
    const auto found = streams.find(id);
    if (found == streams.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    Http2Connection::Stream& stream = found->second;
    const std::size_t count =
        stream.body.copy(reinterpret_cast<char*>(buffer), size, stream.body_sent);
    stream.body_sent += count;
    if (stream.body_sent == stream.body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
};

Http2Connection::Http2Connection(EventLoop& loop, const Endpoint& endpoint, const Timing& timing,
                                 Callbacks callbacks)
    : loop_(loop),
      authority_(endpoint.ToString()),
      scheme_(endpoint.tls == nullptr ? "http" : "https"),
      callbacks_(std::move(callbacks)),
      timing_(timing) {
  nghttp2_session_callbacks* table = nullptr;
  nghttp2_session_callbacks_new(&table);
  nghttp2_session_callbacks_set_on_header_callback(table, &Http2Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, &Http2Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, &Http2Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, &Http2Callbacks::OnStreamClosed);
  nghttp2_session_callbacks_set_before_frame_send_callback(table, &Http2Callbacks::BeforeSend);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(table, &Http2Callbacks::OnNotSent);
  nghttp2_session_client_new(&session_, table, this);
  nghttp2_session_callbacks_del(table);
  transport_ = std::make_unique<Transport>(
      loop, endpoint, timing_.connect,
      Transport::Callbacks{.connected = [this] { OnConnected(); },
                           .received = [this](std::string_view bytes) { OnReceived(bytes); },
                           .drained = [this] { Flush(); },
                           .closed = [this](const Error& error) { OnClosed(error); }});
}

Http2Connection::~Http2Connection() {
  *alive_ = false;
  loop_.Cancel(ping_);
  for (auto& [id, stream] : streams_) loop_.Cancel(stream.timeout);
  nghttp2_session_del(session_);
}

// ---- the connection ----

void Http2Connection::OnConnected() {
  connected_ = true;
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  Flush();
  ping_ = loop_.After(timing_.ping_every, [this] { Ping(); });
}

void Http2Connection::Ping() {
  ping_ = {};
  if (ping_unanswered_) return Fail("the server does not answer");
  ping_unanswered_ = true;
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  Flush();
  ping_ = loop_.After(timing_.ping_every, [this] { Ping(); });
}

void Http2Connection::OnReceived(std::string_view bytes) {
  if (!connected_) return;
  ping_unanswered_ = false;
  const auto alive = alive_;
  const auto taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!*alive) return;
  if (taken < 0) return Fail(nghttp2_strerror(static_cast<int>(taken)));
  // Not at once: every record of the server's comes by itself, and what many of them lead to is
  // better sent in one.
  FlushSoon();
}

void Http2Connection::FlushSoon() {
  if (std::exchange(flush_planned_, true)) return;
  // Requests made in one go leave in one go.
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    flush_planned_ = false;
    Flush();
  });
}

void Http2Connection::Flush() {
  if (!connected_) return;
  const auto alive = alive_;
  // All frames at once: each write is a record of its own, here and for the server.
  std::string frames;
  while (transport_->unsent() + frames.size() < kEnoughUnsent) {
    const std::uint8_t* data = nullptr;
    const auto size = nghttp2_session_mem_send(session_, &data);
    if (!*alive) return;
    if (size < 0) return Fail(nghttp2_strerror(static_cast<int>(size)));
    if (size == 0) break;
    frames.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  if (!frames.empty()) transport_->Write(frames);
  if (!*alive || !connected_) return;
  const bool over =
      nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
  if (over || (going_away_ && streams_.empty())) {
    Fail(heard_ ? "the server ended the connection" : "the server does not speak HTTP/2");
  }
}

void Http2Connection::Fail(std::string_view why) {
  connected_ = false;
  going_away_ = true;
  loop_.Post([this, alive = alive_, message = fmt::format("{}: {}", authority_, why)] {
    if (*alive) OnClosed({ErrorKind::kUnavailable, message, {}});
  });
}

void Http2Connection::OnClosed(const Error& error) {
  if (transport_ == nullptr) return;
  connected_ = false;
  going_away_ = true;
  transport_.reset();
  loop_.Cancel(ping_);
  const auto alive = alive_;
  while (*alive && !streams_.empty()) {
    const auto& [id, stream] = *streams_.begin();
    Finish(id, error, !stream.sent);
  }
  if (!*alive) return;
  const auto closed = std::move(callbacks_.closed);  // which may destroy us, and it with us
  closed(error);
}

// ---- requests ----

std::size_t Http2Connection::room() const {
  if (!connected_ || going_away_ || !heard_) return 0;
  const std::uint32_t most = std::min(
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
      kMostStreams);
  return most > streams_.size() ? most - streams_.size() : 0;
}

Http2Connection::StreamId Http2Connection::Send(const Request& request,
                                                std::unique_ptr<ResponseSink>& sink) {
  std::vector<nghttp2_nv> headers = {ToNv(":method", request.method), ToNv(":scheme", scheme_),
                                     ToNv(":authority", authority_), ToNv(":path", request.path)};
  for (const auto& [name, value] : request.headers) headers.push_back(ToNv(name, value));
  nghttp2_data_provider body{};
  body.read_callback = &Http2Callbacks::ReadBody;
  const StreamId id = nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(),
                                             request.body.empty() ? nullptr : &body, nullptr);
  // Numbers of requests run out after a thousand million of them.
  if (id < 0) {
    going_away_ = true;
    FlushSoon();
    return id;
  }
  Stream& kept = streams_[id];
  kept.sink = std::move(sink);
  kept.body = request.body;
  if (request.timeout > Duration{}) {
    kept.timeout = loop_.After(request.timeout, [this, id, timeout = request.timeout] {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
      FlushSoon();
      Finish(id,
             Error{ErrorKind::kUnavailable,
                   fmt::format("{}: no answer within {}", authority_, FormatDuration(timeout)),
                   {}},
             false);
    });
  }
  FlushSoon();
  return id;
}

void Http2Connection::Cancel(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  loop_.Cancel(found->second.timeout);
  loop_.Post([last_word = std::shared_ptr<ResponseSink>(std::move(found->second.sink))] {});
  streams_.erase(found);
  if (!connected_) return;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  FlushSoon();
  RoomSoon();
}

void Http2Connection::RoomSoon() {
  loop_.Post([this, alive = alive_] {
    if (*alive && connected_) callbacks_.room();
  });
}

void Http2Connection::Finish(StreamId id, const Status& outcome, bool unsent) {
  auto found = streams_.extract(id);
  if (found.empty()) return;
  loop_.Cancel(found.mapped().timeout);
  const auto alive = alive_;
  found.mapped().sink->OnDone(outcome, unsent);
  if (*alive && connected_) callbacks_.room();
}

}  // namespace knx::net
