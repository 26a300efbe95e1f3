#include "client/api_client.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "client/access_rule.h"
#include "k8s/read_proto.h"

namespace knx::client {
namespace {

constexpr int kLongestWaitSeconds = 60;
// More than there are watches: each has a place, even where a server, or a proxy in front of it,
// takes one request at a time over a connection. Mostly one connection is enough for all.
constexpr std::size_t kMostReadConnections = 32;
// Before what was not sent, or put off, is sent again: doubled each time, as where to may have gone
// for longer. A server that says "later" and names no time has as much to do as any other.
// A server that puts something off for longer than this is worth a line.
constexpr Duration kWorthALine = Duration::Seconds(2);
constexpr Duration kFirstWait = Duration::Milliseconds(20), kLongestWait = Duration::Seconds(1);
// Looks at credentials that are being fetched, and their number.
constexpr Duration kWaitForCredentials = Duration::Milliseconds(100);
constexpr int kMostCredentialWaits = 600;
constexpr int kMostDoublings = 10;
// So many calls on their way keep a server busy for far longer than answers are left unread then.
constexpr std::size_t kManyCalls = 64;
constexpr std::string_view kMayNotSend = "this process may not write any more";
constexpr int kStatusUnauthorized = 401, kStatusForbidden = 403, kStatusNotFound = 404,
              kStatusConflict = 409, kStatusTooMany = 429, kStatusServerError = 500;
class WholeAnswer final : public net::ResponseSink {
 public:
  struct Limit {
    std::size_t bytes;
    std::function<void()> exceeded;  // what comes of it is of no use, and is not to be sent
  };
  using Done = std::function<void(Result<Response>, bool unsent)>;
  WholeAnswer(Limit limit, Done done) : limit_(std::move(limit)), done_(std::move(done)) {}

  void OnHead(int status, const net::Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
  }
  void OnData(std::string_view bytes) override {
    if (response_.body.size() + bytes.size() > limit_.bytes) return limit_.exceeded();
    response_.body += bytes;
  }
  void OnDone(const Status& outcome, bool unsent) override {
    if (outcome.ok()) {
      done_(std::move(response_), false);
    } else {
      done_(outcome.error(), unsent);
    }
  }

 private:
  Limit limit_;
  Done done_;
  Response response_;
};

// Whether the server may have acted upon what was answered like this.
bool MayBeDone(const Result<Response>& response, bool unsent) {
  if (!response.ok()) return !unsent;
  return response->ok() || response->status >= kStatusServerError;
}

// After so many attempts.
Duration PauseAfter(int attempts) {
  const int doublings = std::clamp(attempts - 1, 0, kMostDoublings);
  return std::min(kFirstWait * (std::int64_t{1} << doublings), kLongestWait);
}

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

bool Reads(const ApiClient::Call& call) { return call.method == "GET"; }

// As every API server says that a user lacks a right; else somebody objects to the object: a quota,
// or the namespace goes.
bool IsMissingRight(int status, std::string_view message) {
  return status == kStatusForbidden && message.find("\" cannot ") != std::string_view::npos;
}

ErrorKind KindOf(int status, std::string_view message) {
  if (IsMissingRight(status, message)) return ErrorKind::kForbidden;
  if (status == kStatusNotFound) return ErrorKind::kNotFound;
  if (status == kStatusConflict) return ErrorKind::kConflict;
  return status == kStatusTooMany || status >= kStatusServerError ? ErrorKind::kUnavailable
                                                                  : ErrorKind::kInvalid;
}

}  // namespace

Error ErrorOf(const Response& response) {
  simdjson::dom::parser parser;
  std::string_view message;
  const auto status = k8s::ReadProtoStatus(response.body);
  bool by_server = true;
  if (status.ok()) {
    message = status->message;
  } else if (parser.parse(response.body)["message"].get(message) != simdjson::SUCCESS) {
    message = response.body;
    by_server = false;
  }
  constexpr std::size_t kEnough = 1000;
  std::string text(message.substr(0, kEnough));
  // What is no text at all stays readable as part of a line.
  std::replace_if(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  const bool says_nothing = text.find_first_not_of(' ') == std::string::npos;
  if (says_nothing) text = fmt::format("the server answers {}", response.status);
  // An API server names the user and the right; whoever reads this need not look at roles.
  if (response.status == kStatusForbidden && !by_server) {
    text =
        fmt::format("something between us and the API server refuses what we ask (403): {}", text);
  }
  return {KindOf(response.status, message), std::move(text), {}};
}

bool IsFromTheFuture(std::string_view message) {
  return message.find("Too large resource version") != std::string_view::npos;
}

struct ApiClient::Attempt {
  Call call;
  Done done;
  int count = 0;
  Time began = {};               // of the first one
  std::uint64_t generation = 0;  // of the credentials that were sent
  bool refused = false;          // with those before
  int credential_waits = 0;
  bool may_be_done = false;  // by one that was sent
  net::HttpClient::RequestId request = 0;
};

// Notices that a watch is not let in.
class ApiClient::Watcher final : public net::ResponseSink {
 public:
  Watcher(ApiClient& api, std::string path, std::uint64_t generation,
          std::unique_ptr<net::ResponseSink> sink)
      : api_(api), path_(std::move(path)), generation_(generation), sink_(std::move(sink)) {}

  void OnHead(int status, const net::Headers& headers) override {
    if (status == kStatusUnauthorized) api_.OnRefused(generation_);
    refusal_.status = status;
    sink_->OnHead(status, headers);
  }
  void OnData(std::string_view bytes) override {
    const bool forbidden = refusal_.status == kStatusForbidden;
    if (forbidden && refusal_.body.size() < kEnoughOfARefusal) refusal_.body += bytes;
    sink_->OnData(bytes);
  }
  void OnDone(const Status& outcome, bool unsent) override {
    if (refusal_.status == kStatusForbidden) api_.OnForbidden({.path = path_}, refusal_);
    sink_->OnDone(outcome, unsent);
  }

 private:
  static constexpr std::size_t kEnoughOfARefusal = 64 * 1024;
  ApiClient& api_;
  std::string path_;
  std::uint64_t generation_;
  std::unique_ptr<net::ResponseSink> sink_;
  Response refusal_;  // its body only where it is one for lack of a right
};

ApiClient::ApiClient(net::EventLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      watches_(loop, {.endpoint = options_.endpoint,
                      .connections = kMostReadConnections,
                      .timing = options_.timing}),
      urgent_limit_(options_.calls_per_second, options_.burst),
      patient_limit_(options_.calls_per_second, options_.burst),
      troubles_(options_.log, &net::EventLoop::Now, options_.missing_right) {
  writes_.emplace(loop, net::HttpClient::Options{.endpoint = Guarded(options_.endpoint),
                                                 .connections = options_.write_connections,
                                                 .timing = options_.timing});
}

ApiClient::~ApiClient() {
  *alive_ = false;
  if (busy_) loop_.EndBusy();
}

net::Endpoint ApiClient::Guarded(net::Endpoint endpoint) const {
  endpoint.may_send = [this] { return MayWrite(); };
  return endpoint;
}

bool ApiClient::MayWrite() const {
  return !stopped_ && (!options_.may_send || options_.may_send());
}

bool ApiClient::MaySend(const Call& call) const {
  return Reads(call) || (MayWrite() && (!call.wanted || call.wanted()));
}

void ApiClient::ExpectWrites() {
  if (writes_ && MayWrite()) writes_->Prepare();
}

void ApiClient::StopSending() {
  stopped_ = true;
  writes_.reset();
}

void ApiClient::Replace(const net::Endpoint& endpoint) {
  watches_.Replace(endpoint);
  if (writes_) writes_->Replace(Guarded(endpoint));
}

net::Headers ApiClient::CommonHeaders(std::string accept, std::uint64_t& generation) const {
  net::Headers headers = {{"accept", std::move(accept)}, {"user-agent", options_.user_agent}};
  if (options_.authorization) {
    Authorization now = options_.authorization();
    generation = now.generation;
    if (!now.header.empty()) headers.emplace_back("authorization", std::move(now.header));
  }
  return headers;
}

void ApiClient::OnRefused(std::uint64_t generation) const {
  if (options_.refused) options_.refused(generation);
}

void ApiClient::Send(Call call, Done done) {
  CountCall(call.urgent, 1);
  RateLimit& limit = call.urgent ? urgent_limit_ : patient_limit_;
  const auto attempt = std::make_shared<Attempt>(Attempt{std::move(call), std::move(done)});
  const Duration wait = limit.Take(net::EventLoop::Now());
  wait > Duration{} ? SendAfter(wait, attempt) : Send(attempt);
}

void ApiClient::CountCall(bool urgent, int more) {
  (urgent ? urgent_calls_ : patient_calls_) += static_cast<std::size_t>(more);
  const bool busy = urgent_calls_ + patient_calls_ >= kManyCalls;
  if (busy == std::exchange(busy_, busy)) return;
  busy ? loop_.BeginBusy() : loop_.EndBusy();
}

void ApiClient::SendAfter(Duration wait, const std::shared_ptr<Attempt>& attempt) {
  loop_.After(wait, [this, alive = alive_, attempt] {
    if (*alive) Send(attempt);
  });
}

// Others are sent meanwhile, however many wait like that.
void ApiClient::PutOff(Duration wait, const std::shared_ptr<Attempt>& attempt) {
  if (!attempt->call.urgent) return SendAfter(wait, attempt);
  CountCall(true, -1);
  ++put_off_;
  loop_.After(wait, [this, alive = alive_, attempt] {
    if (!*alive) return;
    --put_off_;
    CountCall(true, 1);
    Send(attempt);
  });
}

void ApiClient::Finish(const std::shared_ptr<Attempt>& attempt, Result<Response> response) {
  CountCall(attempt->call.urgent, -1);
  may_be_done_ = attempt->may_be_done;
  attempt->done(std::move(response));
}

void ApiClient::Send(Call call, std::function<void(const Status& outcome)> done) {
  Send(std::move(call), Done([done = std::move(done)](Result<Response> response) {
         if (!response.ok()) return done(response.error());
         done(response->ok() ? Ok() : Status(ErrorOf(*response)));
       }));
}

std::string ApiClient::EndOf(const std::string& path) const {
  const char before = path.find('?') == std::string::npos ? '?' : '&';
  return fmt::format("{}timeout={}", before, FormatDuration(options_.server_timeout()));
}

void ApiClient::Send(const std::shared_ptr<Attempt>& attempt) {
  if (!MaySend(attempt->call)) {
    return loop_.Post([this, alive = alive_, attempt] {
      if (!*alive) return;
      Finish(attempt, MayWrite() ? Error{ErrorKind::kConflict, std::string(net::kNotWanted), {}}
                                 : Error{ErrorKind::kUnavailable, std::string(kMayNotSend), {}});
    });
  }
  if (attempt->count++ == 0) attempt->began = net::EventLoop::Now();
  const Call& call = attempt->call;
  net::Request request;
  request.method = call.method;
  request.path = options_.base_path + call.path;
  if (options_.server_timeout && !Reads(call)) {
    request.path_end = [this, path = request.path] { return EndOf(path); };
  }
  request.headers = CommonHeaders(call.accept, attempt->generation);
  if (!call.body.empty()) request.headers.emplace_back("content-type", call.content_type);
  if (!call.etag.empty()) request.headers.emplace_back("if-none-match", call.etag);
  request.body = call.body;
  request.timeout = call.timeout;
  request.urgent = call.urgent;
  request.wanted = call.wanted;
  // Who may not write may still look, so that goes another way.
  net::HttpClient& way = Reads(call) ? watches_ : *writes_;
  WholeAnswer::Limit limit{options_.longest_answer, [this, &way, attempt] {
                             way.Cancel(attempt->request);
                             OnTooLong(attempt);
                           }};
  attempt->request =
      way.Send(std::move(request),
               std::make_unique<WholeAnswer>(
                   std::move(limit), [this, attempt](Result<Response> response, bool unsent) {
                     OnAnswer(attempt, std::move(response), unsent);
                   }));
}

void ApiClient::OnTooLong(const std::shared_ptr<Attempt>& attempt) {
  const Call& call = attempt->call;
  answer_too_long_ = true;
  OnAnswer(
      attempt,
      InvalidError(fmt::format("{} {}: an answer of more than {} bytes", call.method,
                               call.path.substr(0, call.path.find('?')), options_.longest_answer)),
      false);
  answer_too_long_ = false;
}

void ApiClient::OnAnswer(const std::shared_ptr<Attempt>& attempt, Result<Response> response,
                         bool unsent) {
  if (options_.answered) {
    options_.answered(attempt->call.method, response.ok() ? response->status : 0);
  }
  not_sent_because_ = !response.ok() && unsent ? response.error().message : "";
  attempt->may_be_done |= MayBeDone(response, unsent);
  const Duration pause = PauseAfter(attempt->count);
  std::optional<Duration> wait;
  if (response.ok()) {
    if (const auto asked = RetryAfter(*response)) {
      wait = std::max(*asked, pause);
      if (*asked > kWorthALine && attempt->count < attempt->call.attempts) {
        troubles_.Report(
            fmt::format("the API server puts off what it is asked (status {}): that is sent again "
                        "after {}, as the server asks",
                        response->status, FormatDuration(*asked)));
      }
    }
    if (response->status == kStatusUnauthorized && !std::exchange(attempt->refused, true)) {
      OnRefused(attempt->generation);
      if (SendWithOthers(attempt)) return;
    }
    if (response->status == kStatusForbidden) OnForbidden(attempt->call, *response);
  } else if ((unsent || attempt->call.repeatable) &&
             net::EventLoop::Now() - attempt->began < attempt->call.timeout) {
    wait = pause;
  }
  if (wait && attempt->count < attempt->call.attempts && MaySend(attempt->call)) {
    return PutOff(*wait, attempt);
  }
  Finish(attempt, std::move(response));
}

void ApiClient::OnForbidden(const Call& call, const Response& response) {
  if (call.says_what_is_forbidden || ErrorOf(response).kind != ErrorKind::kForbidden) return;
  troubles_.ReportMissing(NotAllowed(call.method, call.path));
}

bool ApiClient::SendWithOthers(const std::shared_ptr<Attempt>& attempt) {
  if (!options_.authorization) return false;
  const Authorization now = options_.authorization();
  if (now.generation != attempt->generation) {
    Send(attempt);
    return true;
  }
  if (!now.pending || ++attempt->credential_waits > kMostCredentialWaits) return false;
  loop_.After(kWaitForCredentials, [this, alive = alive_, attempt] {
    if (*alive && !SendWithOthers(attempt)) Send(attempt);  // with the old ones, for the answer
  });
  return true;
}

ApiClient::StreamId ApiClient::Open(std::string path, std::string accept,
                                    std::unique_ptr<net::ResponseSink> sink) {
  net::Request request;
  request.path = options_.base_path + path;
  std::uint64_t generation = 0;
  request.headers = CommonHeaders(std::move(accept), generation);
  return watches_.Send(std::move(request), std::make_unique<Watcher>(*this, std::move(path),
                                                                     generation, std::move(sink)));
}

}  // namespace knx::client
