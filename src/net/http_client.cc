#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace knx::net {
namespace {

// One that ends sooner, and never carried a request, was of no use.
constexpr Duration kLongEnoughForALink = Duration::Seconds(1);
// An answer that takes longer is slow.
constexpr Duration kSlow = Duration::Seconds(1);

}  // namespace

// Keeps account of what is outstanding.
class HttpClient::Forwarder final : public ResponseSink {
 public:
  Forwarder(HttpClient& client, RequestId id, std::unique_ptr<ResponseSink> sink)
      : client_(client), id_(id), sink_(std::move(sink)) {}

  void OnHead(int status, const Headers& headers) override { sink_->OnHead(status, headers); }
  void OnData(std::string_view bytes) override { sink_->OnData(bytes); }
  void OnDone(const Status& outcome, bool unsent) override {
    client_.NoteOver(id_, outcome.ok());
    sink_->OnDone(outcome, unsent);
  }

  std::unique_ptr<ResponseSink> TakeBack() { return std::move(sink_); }

 private:
  HttpClient& client_;
  RequestId id_;
  std::unique_ptr<ResponseSink> sink_;
};

HttpClient::HttpClient(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {}

HttpClient::~HttpClient() {
  *alive_ = false;
  loop_.Cancel(retry_);
  loop_.Cancel(look_);
}

HttpClient::RequestId HttpClient::Send(Request request, std::unique_ptr<ResponseSink> sink) {
  const Time now = EventLoop::Now();
  const Duration longest = LongestWait(request);
  const RequestId id = ++last_;
  (request.urgent ? urgent_ : patient_).push_back({id, std::move(request), std::move(sink), now});
  Pump();
  if (!urgent_.empty() || !patient_.empty()) LookAgainAt(now + longest);
  return id;
}

void HttpClient::Cancel(RequestId id) {
  if (const auto sent = sent_.find(id); sent != sent_.end()) {
    const Sent at = sent->second;
    NoteOver(id, false);
    at.link->connection->Cancel(at.stream);
    return;
  }
  for (std::deque<Waiting>* queue : {&urgent_, &patient_}) {
    const auto found = std::find_if(queue->begin(), queue->end(),
                                    [id](const Waiting& waiting) { return waiting.id == id; });
    if (found == queue->end()) continue;
    queue->erase(found);
    return;
  }
}

void HttpClient::Prepare() {
  if (links_.empty()) OpenAnother();
}

void HttpClient::Replace(Endpoint endpoint) {
  options_.endpoint = std::move(endpoint);
  for (Link& link : links_) link.outdated = true;
  SweepSoon();
  Pump();
}

// Not from within a call of a connection.
void HttpClient::SweepSoon() {
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    std::erase_if(links_,
                  [](const Link& link) { return link.outdated && link.connection->open() == 0; });
  });
}

bool HttpClient::SendNext(Links::iterator link) {
  if (!AnyMayBeSent()) return false;
  std::deque<Waiting>& queue = urgent_.empty() ? patient_ : urgent_;
  Waiting next = std::move(queue.front());
  queue.pop_front();
  if (next.request.wanted && !next.request.wanted()) {
    loop_.Post([alive = alive_, sink = std::shared_ptr<ResponseSink>(std::move(next.sink))] {
      const Error error{ErrorKind::kConflict, std::string(kNotWanted), {}};
      if (*alive) sink->OnDone(error, true);
    });
    return true;
  }
  auto forwarder = std::make_unique<Forwarder>(*this, next.id, std::move(next.sink));
  Forwarder& kept = *forwarder;
  std::unique_ptr<ResponseSink> sink = std::move(forwarder);
  const std::size_t path_size = next.request.path.size();
  if (next.request.path_end) next.request.path += next.request.path_end();
  const Http2Connection::StreamId stream = link->connection->Send(next.request, sink);
  if (stream >= 0) {
    last_sent_ = EventLoop::Now();
    const bool urgent = &queue == &urgent_;
    sent_[next.id] = {link, stream, urgent, last_sent_};
    patient_sent_ += urgent ? 0U : 1U;
    link->used = true;
    backoff_.Reset();
  } else {
    next.sink = kept.TakeBack();
    next.request.path.resize(path_size);
    queue.push_front(std::move(next));
  }
  return true;
}

void HttpClient::NoteOver(RequestId id, bool well) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) return;
  const Sent sent = found->second;
  sent_.erase(found);
  if (sent.urgent) return;
  --patient_sent_;
  const bool quick = well && EventLoop::Now() - sent.when < kSlow;
  patient_window_ = quick ? patient_window_ + 1 : kFewPatient;
}

bool HttpClient::MaySendPatient() const {
  std::size_t room = 0;
  for (const Link& link : links_) {
    if (Usable(link)) room += link.connection->open() + link.connection->room();
  }
  const std::size_t share = std::max<std::size_t>(room * 3 / 4, 1);
  return patient_sent_ < std::min(patient_window_, share);
}

bool HttpClient::Usable(const Link& link) {
  return !link.outdated && link.connection->takes_requests();
}

void HttpClient::Pump() {
  for (auto link = links_.begin(); link != links_.end(); ++link) {
    while (Usable(*link) && link->connection->room() > 0 && SendNext(link)) {
    }
  }
  if (AnyMayBeSent()) OpenAnother();
}

void HttpClient::OpenAnother() {
  if (retry_.valid()) return;
  std::size_t count = 0;
  for (const Link& link : links_) {
    if (!Usable(link)) continue;
    if (!link.connection->heard()) return;  // one is on the way
    ++count;
  }
  if (count >= options_.connections) return;
  const auto link = links_.emplace(links_.end());
  link->opened = EventLoop::Now();
  link->connection = std::make_unique<Http2Connection>(
      loop_, options_.endpoint, options_.timing,
      Http2Connection::Callbacks{
          .room = [this, link] { OnRoom(link); },
          .closed = [this, link](const Error& error) { OnClosed(link, error); }});
}

void HttpClient::OnRoom(Links::iterator link) {
  if (link->connection->heard()) no_connection_.clear();
  if (link->outdated) SweepSoon();
  Pump();
}

// To be heard of is not enough: a server that sheds load greets us, takes nothing and hangs up. One
// that was merely not needed is no failure.
bool HttpClient::WasGood(const Link& link) {
  return link.connection->heard() &&
         (link.used || EventLoop::Now() - link.opened >= kLongEnoughForALink);
}

void HttpClient::OnClosed(Links::iterator link, const Error& error) {
  const bool was_good = WasGood(*link);
  links_.erase(link);
  if (was_good) return Pump();
  no_connection_ = error.message;
  loop_.Cancel(retry_);
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Pump();
  });
  const bool others = std::any_of(links_.begin(), links_.end(), [](const Link& other) {
    return Usable(other) && other.connection->heard();
  });
  if (others) return;
  const auto alive = alive_;
  for (std::deque<Waiting>* queue : {&urgent_, &patient_}) {
    for (Waiting& waiting : std::exchange(*queue, {})) {
      waiting.sink->OnDone(error, true);
      if (!*alive) return;
    }
  }
}

// ---- who waits for too long ----

Duration HttpClient::LongestWait(const Request& request) const {
  return request.timeout > Duration{} ? request.timeout : options_.longest_wait;
}

// Where others are sent, its turn comes; where nobody is, something is wrong.
Time HttpClient::GivesUpAt(const Waiting& waiting) const {
  return std::max(waiting.since, last_sent_) + LongestWait(waiting.request);
}

void HttpClient::LookAgainAt(Time when) {
  if (look_.valid() && look_.when <= when) return;
  loop_.Cancel(look_);
  look_ = loop_.After(when - EventLoop::Now(), [this] {
    look_ = {};
    GiveUpWhoIsLate();
  });
}

std::optional<HttpClient::Waiting> HttpClient::TakeLate(Time now) {
  for (std::deque<Waiting>* queue : {&urgent_, &patient_}) {
    const auto late = std::find_if(queue->begin(), queue->end(), [&](const Waiting& waiting) {
      return GivesUpAt(waiting) <= now;
    });
    if (late == queue->end()) continue;
    Waiting out = std::move(*late);
    queue->erase(late);
    return out;
  }
  return std::nullopt;
}

void HttpClient::GiveUpWhoIsLate() {
  const Time now = EventLoop::Now();
  const std::string why = WhyNotSent();
  const auto alive = alive_;
  // One at a time: a sink that is told may cancel another.
  while (auto late = TakeLate(now)) {
    const Error error{ErrorKind::kUnavailable,
                      fmt::format("{}: not sent within {}: {}", options_.endpoint.ToString(),
                                  FormatDuration(LongestWait(late->request)), why),
                      {}};
    late->sink->OnDone(error, true);
    if (!*alive) return;
  }
  Time next = kNever;
  for (const std::deque<Waiting>* queue : {&urgent_, &patient_}) {
    for (const Waiting& waiting : *queue) next = std::min(next, GivesUpAt(waiting));
  }
  if (next != kNever) LookAgainAt(next);
}

std::string HttpClient::WhyNotSent() const {
  std::size_t connections = 0, open = 0;
  for (const Link& link : links_) {
    if (!Usable(link) || !link.connection->heard()) continue;
    ++connections;
    open += link.connection->open();
  }
  if (connections == 0) {
    return no_connection_.empty() ? "waited for a connection"
                                  : fmt::format("waited for a connection: {}", no_connection_);
  }
  return fmt::format(
      "waited for room: the server takes no more than {} at a time over {}",
      open == 1 ? "1 request" : fmt::format("{} requests", open),
      connections == 1 ? "1 connection" : fmt::format("{} connections", connections));
}

}  // namespace knx::net
