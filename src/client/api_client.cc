#include "client/api_client.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace knx::client {
namespace {

constexpr int kMostAttempts = 10;
constexpr int kLongestWaitSeconds = 60;
constexpr Duration kWaitForConnection = Duration::Milliseconds(500);
constexpr int kStatusNotFound = 404, kStatusConflict = 409, kStatusTooMany = 429,
              kStatusServerError = 500;
// An answer that is longer is no answer to anything that we ask.
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;

class WholeAnswer final : public net::ResponseSink {
 public:
  using Done = std::function<void(Result<Response>, bool unsent)>;
  explicit WholeAnswer(Done done) : done_(std::move(done)) {}

  void OnHead(int status, const net::Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
  }
  void OnData(std::string_view bytes) override {
    if (response_.body.size() + bytes.size() <= kLongestAnswer) response_.body += bytes;
  }
  void OnDone(const Status& outcome, bool unsent) override {
    if (outcome.ok()) {
      done_(std::move(response_), false);
    } else {
      done_(outcome.error(), unsent);
    }
  }

 private:
  Done done_;
  Response response_;
};

// How long the server asks to be left alone before the same is sent again; nullopt: it does not
// ask.
std::optional<Duration> RetryAfter(const Response& response) {
  if (response.status != kStatusTooMany && response.status < kStatusServerError)
    return std::nullopt;
  const std::string_view text = net::FindHeader(response.headers, "retry-after");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || seconds < 0) return std::nullopt;
  return Duration::Seconds(std::min(seconds, kLongestWaitSeconds));
}

ErrorKind KindOf(int status) {
  if (status == kStatusNotFound) return ErrorKind::kNotFound;
  if (status == kStatusConflict) return ErrorKind::kConflict;
  return status == kStatusTooMany || status >= kStatusServerError ? ErrorKind::kUnavailable
                                                                  : ErrorKind::kInvalid;
}

}  // namespace

Error ErrorOf(const Response& response) {
  simdjson::dom::parser parser;
  std::string_view message;
  if (parser.parse(response.body)["message"].get(message) != simdjson::SUCCESS) {
    message = response.body;
  }
  constexpr std::size_t kEnough = 1000;
  const std::string text(message.substr(0, kEnough));
  return {KindOf(response.status),
          text.empty() ? fmt::format("the server answers {}", response.status) : text,
          {}};
}

struct ApiClient::Attempt {
  Call call;
  Done done;
  int count = 0;
};

ApiClient::ApiClient(net::EventLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      watches_(loop, {.endpoint = options_.endpoint, .connections = 1}),
      writes_(loop, {.endpoint = options_.endpoint, .connections = options_.write_connections}) {}

net::Headers ApiClient::CommonHeaders(std::string accept) const {
  net::Headers headers = {{"accept", std::move(accept)}, {"user-agent", options_.user_agent}};
  if (options_.authorization) {
    if (std::string value = options_.authorization(); !value.empty()) {
      headers.emplace_back("authorization", std::move(value));
    }
  }
  return headers;
}

void ApiClient::Send(Call call, Done done) {
  ++(call.urgent ? urgent_calls_ : patient_calls_);
  Send(std::make_shared<Attempt>(Attempt{std::move(call), std::move(done)}));
}

void ApiClient::Send(Call call, std::function<void(const Status& outcome)> done) {
  Send(std::move(call), Done([done = std::move(done)](Result<Response> response) {
         if (!response.ok()) return done(response.error());
         done(response->ok() ? Ok() : Status(ErrorOf(*response)));
       }));
}

void ApiClient::Send(const std::shared_ptr<Attempt>& attempt) {
  ++attempt->count;
  const Call& call = attempt->call;
  net::Request request;
  request.method = call.method;
  request.path = options_.base_path + call.path;
  request.headers = CommonHeaders("application/json");
  if (!call.body.empty()) request.headers.emplace_back("content-type", call.content_type);
  request.body = call.body;
  request.timeout = call.timeout;
  request.urgent = call.urgent;
  writes_.Send(std::move(request), std::make_unique<WholeAnswer>(
                                       [this, attempt](Result<Response> response, bool unsent) {
                                         OnAnswer(attempt, std::move(response), unsent);
                                       }));
}

void ApiClient::OnAnswer(const std::shared_ptr<Attempt>& attempt, Result<Response> response,
                         bool unsent) {
  std::optional<Duration> wait;
  if (response.ok()) {
    wait = RetryAfter(*response);
  } else if (unsent) {
    wait = kWaitForConnection;
  }
  if (wait && attempt->count < kMostAttempts) {
    loop_.After(*wait, [this, alive = alive_, attempt] {
      if (*alive) Send(attempt);
    });
    return;
  }
  --(attempt->call.urgent ? urgent_calls_ : patient_calls_);
  attempt->done(std::move(response));
}

ApiClient::StreamId ApiClient::Open(std::string path, std::string accept,
                                    std::unique_ptr<net::ResponseSink> sink) {
  net::Request request;
  request.path = options_.base_path + path;
  request.headers = CommonHeaders(std::move(accept));
  return watches_.Send(std::move(request), std::move(sink));
}

}  // namespace knx::client
