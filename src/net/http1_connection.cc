#include "net/http1_connection.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace knx::net {

namespace http = boost::beast::http;

struct Http1Connection::Parser {
  explicit Parser(const Limits& limits) {
    response.header_limit(limits.header_bytes);
    response.body_limit(limits.body_bytes);
    response.eager(true);
  }
  http::response_parser<http::string_body> response;
};

Http1Connection::Http1Connection(EventLoop& loop, const Endpoint& endpoint, std::string authority,
                                 Limits limits, Callbacks callbacks)
    : loop_(loop),
      place_(endpoint.ToString()),
      authority_(std::move(authority)),
      limits_(limits),
      callbacks_(std::move(callbacks)) {
  transport_ = std::make_unique<Transport>(
      loop, endpoint, limits.connect,
      Transport::Callbacks{.connected = [this] { OnConnected(); },
                           .received = [this](std::string_view bytes) { OnReceived(bytes); },
                           .drained = [] {},
                           .closed = [this](const Error& error) { OnClosed(error); }});
}

Http1Connection::~Http1Connection() { *alive_ = false; }

void Http1Connection::Send(const Request& request) {
  request_ =
      fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\n", request.method, request.path, authority_);
  for (const auto& [name, value] : request.headers) {
    request_ += fmt::format("{}: {}\r\n", name, value);
  }
  request_ += fmt::format("content-length: {}\r\n\r\n", request.body.size());
  request_ += request.body;
  wanted_ = request.wanted;
  parser_ = std::make_unique<Parser>(limits_);
  answering_ = false;
  if (connected_) Leave();
}

void Http1Connection::OnConnected() {
  connected_ = true;
  if (!request_.empty()) Leave();
}

void Http1Connection::Leave() {
  const std::string out = std::exchange(request_, {});
  if (wanted_ && !wanted_()) return End({ErrorKind::kConflict, std::string(kNotWanted), {}});
  transport_->Write(out);
}

void Http1Connection::OnReceived(std::string_view bytes) {
  if (over_) return;
  if (parser_ == nullptr) return Fail("the server speaks without having been asked");
  answering_ = true;
  received_ += bytes;
  Parse();
}

void Http1Connection::Parse() {
  auto& response = parser_->response;
  while (!received_.empty() && !response.is_done()) {
    boost::system::error_code error;
    const std::size_t used =
        response.put(boost::asio::buffer(received_.data(), received_.size()), error);
    received_.erase(0, used);
    if (error == http::error::need_more) break;
    if (error) return Fail(fmt::format("no HTTP: {}", error.message()));
    if (used == 0) break;
    constexpr int kFirstFinalStatus = 200;
    if (response.is_done() && response.get().result_int() < kFirstFinalStatus) {
      // Only says that the answer is still to come.
      parser_ = std::make_unique<Parser>(limits_);
      return Parse();
    }
  }
  if (response.is_done()) Answer();
}

void Http1Connection::Answer() {
  auto& response = parser_->response;
  const bool keeps = response.keep_alive() && received_.empty() && !over_;
  Http1Response out;
  out.status = static_cast<int>(response.get().result_int());
  for (const auto& field : response.get()) {
    out.headers.emplace_back(
        absl::AsciiStrToLower({field.name_string().data(), field.name_string().size()}),
        std::string(field.value()));
  }
  out.body = std::move(response.get().body());
  parser_.reset();
  if (!keeps) over_ = true;
  loop_.Post([this, alive = alive_, out = std::move(out), keeps]() mutable {
    if (*alive && !silent_) callbacks_.answered(std::move(out), keeps);
  });
}

// A response without a length ends with the connection.
void Http1Connection::OnClosed(const Error& error) {
  if (over_) return;
  over_ = true;
  if (parser_ != nullptr && parser_->response.is_header_done() && parser_->response.need_eof()) {
    boost::system::error_code failed;
    parser_->response.put_eof(failed);
    if (!failed && parser_->response.is_done()) return Answer();
  }
  callbacks_.closed(error);
}

void Http1Connection::Fail(std::string_view what) {
  End({ErrorKind::kUnavailable, fmt::format("{}: {}", place_, what), {}});
}

void Http1Connection::End(Error error) {
  over_ = true;
  loop_.Post([this, alive = alive_, error = std::move(error)] {
    if (*alive && !silent_) callbacks_.closed(error);
  });
}

}  // namespace knx::net
