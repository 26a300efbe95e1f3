#include "net/http_server_connection.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace knx::net {
namespace {

constexpr int kNoContent = 204, kUnavailableStatus = 503;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// As HTTP writes times, whatever the locale.
std::string HttpDate(std::time_t now) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                     kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string HeadOf(const ServerResponse& response, bool keep, bool http_1_0) {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, ReasonPhrase(response.status));
  for (const auto& [name, value] : response.headers) out += fmt::format("{}: {}\r\n", name, value);
  out += fmt::format("date: {}\r\n", HttpDate(std::time(nullptr)));
  if (response.status != kNoContent) {
    out += fmt::format("content-length: {}\r\n", response.body.size());
  }
  if (!keep) {
    out += "connection: close\r\n";
  } else if (http_1_0) {
    out += "connection: keep-alive\r\n";
  }
  return out + "\r\n";
}

}  // namespace

// Outlives the connection where somebody is still to answer.
struct HttpServerConnection::Exchange {
  HttpServerConnection* connection = nullptr;  // null: gone, or answered
};

HttpServerConnection::HttpServerConnection(EventLoop& loop, const Client& client,
                                           const HttpServerLimits& limits,
                                           const RequestHandler& handler,
                                           std::function<void()> ended)
    : loop_(loop),
      limits_(limits),
      handler_(handler),
      ended_(std::move(ended)),
      peer_(client.address),
      parser_(std::make_unique<HttpRequestParser>(limits.request)),
      stream_(loop, client.socket, client.tls, limits.handshake,
              {.received = [this](std::string_view bytes) { OnReceived(bytes); },
               .drained = [this] { OnSent(); },
               .closed = [this](const Error&) { End(); }}) {
  // Shaking hands, which has a limit of its own, counts as waiting.
  Enter(Phase::kWaiting, limits_.idle);
}

HttpServerConnection::~HttpServerConnection() {
  *alive_ = false;
  loop_.Cancel(too_slow_);
  if (exchange_ != nullptr) exchange_->connection = nullptr;
}

bool HttpServerConnection::idle() const {
  return phase_ != Phase::kAnswering && phase_ != Phase::kSending;
}

void HttpServerConnection::Drain() {
  keep_ = false;
  if (phase_ == Phase::kWaiting) Linger();
}

void HttpServerConnection::Enter(Phase phase, Duration most) {
  phase_ = phase;
  phase_since_ = EventLoop::Now();
  loop_.Cancel(too_slow_);
  too_slow_ = loop_.After(most, [this] {
    too_slow_ = {};
    OnTooSlow();
  });
}

void HttpServerConnection::OnTooSlow() {
  if (phase_ != Phase::kAnswering) return End();
  keep_ = false;
  Refuse(kUnavailableStatus, "nobody has answered in time");
}

// ---- a request ----

void HttpServerConnection::OnReceived(std::string_view bytes) {
  if (phase_ != Phase::kWaiting && phase_ != Phase::kReceiving) return;
  incoming_ += bytes;
  Proceed();
}

// A loop rather than calls from call to call: a client may send thousands of requests at once.
void HttpServerConnection::Proceed() {
  if (std::exchange(proceeding_, true)) return;
  while ((phase_ == Phase::kWaiting || phase_ == Phase::kReceiving) && !incoming_.empty()) {
    if (!TakeIn()) break;
  }
  proceeding_ = false;
}

bool HttpServerConnection::TakeIn() {
  if (phase_ == Phase::kWaiting) Enter(Phase::kReceiving, limits_.receive);
  incoming_.erase(0, parser_->Parse(incoming_));
  if (const auto& refusal = parser_->refusal()) {
    keep_ = false;
    Refuse(refusal->status, refusal->reason);
    return true;
  }
  if (parser_->complete()) {
    Ask();
    return true;
  }
  if (parser_->TakeExpectation()) stream_.Write(kContinue);
  return false;
}

void HttpServerConnection::Ask() {
  stream_.Pause();
  Enter(Phase::kAnswering, limits_.answer);
  keep_ = keep_ && parser_->keep_alive();
  ServerRequest request = parser_->Take();
  head_only_ = request.method == "HEAD";
  request.peer = peer_;
  request.client_certificates = stream_.PeerCertificates();
  exchange_ = std::make_shared<Exchange>(Exchange{this});
  handler_(std::move(request), [exchange = exchange_](const ServerResponse& response) {
    HttpServerConnection* connection = exchange->connection;
    if (connection != nullptr) connection->Answer(response);
  });
}

// ---- its answer ----

void HttpServerConnection::Answer(const ServerResponse& response) {
  if (exchange_ != nullptr) exchange_->connection = nullptr;
  exchange_.reset();
  Enter(Phase::kSending, limits_.send);
  std::string bytes = HeadOf(response, keep_, parser_->http_1_0());
  if (!head_only_ && response.status != kNoContent) bytes += response.body;
  stream_.Write(bytes);
}

void HttpServerConnection::Refuse(int status, const std::string& reason) {
  stream_.Pause();
  Answer({.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"}},
          .body = fmt::format("{} {}: {}", status, ReasonPhrase(status), reason)});
}

void HttpServerConnection::OnSent() {
  if (phase_ != Phase::kSending) return;
  if (!keep_) return Linger();
  Await();
}

void HttpServerConnection::Await() {
  parser_ = std::make_unique<HttpRequestParser>(limits_.request);
  head_only_ = false;
  Enter(Phase::kWaiting, limits_.idle);
  stream_.Resume();
  Proceed();
}

// ---- the end ----

// Who closes a socket in which unread bytes are left takes back what was sent last.
void HttpServerConnection::Linger() {
  Enter(Phase::kLingering, limits_.linger);
  incoming_.clear();
  stream_.EndWriting();
  stream_.Resume();
}

void HttpServerConnection::End() {
  if (phase_ == Phase::kEnded) return;
  phase_ = Phase::kEnded;
  loop_.Cancel(too_slow_);
  too_slow_ = {};
  if (exchange_ != nullptr) exchange_->connection = nullptr;
  // Not from within a call of ours, or of the stream's: whoever is told destroys us.
  loop_.Post([this, alive = alive_] {
    if (*alive) ended_();
  });
}

}  // namespace knx::net
