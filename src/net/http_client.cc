#include "net/http_client.h"

#include <algorithm>
#include <utility>

namespace knx::net {
// Keeps account of what is outstanding.
class HttpClient::Forwarder final : public ResponseSink {
 public:
  Forwarder(HttpClient& client, RequestId id, std::unique_ptr<ResponseSink> sink)
      : client_(client), id_(id), sink_(std::move(sink)) {}

  void OnHead(int status, const Headers& headers) override { sink_->OnHead(status, headers); }
  void OnData(std::string_view bytes) override { sink_->OnData(bytes); }
  void OnDone(const Status& outcome, bool unsent) override {
    client_.sent_.erase(id_);
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
}

HttpClient::RequestId HttpClient::Send(Request request, std::unique_ptr<ResponseSink> sink) {
  (request.urgent ? urgent_ : patient_).push_back({++last_, std::move(request), std::move(sink)});
  Pump();
  return last_;
}

void HttpClient::Cancel(RequestId id) {
  if (const auto sent = sent_.find(id); sent != sent_.end()) {
    const Sent at = sent->second;
    sent_.erase(sent);
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
  std::deque<Waiting>& queue = urgent_.empty() ? patient_ : urgent_;
  if (queue.empty()) return false;
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
  const Http2Connection::StreamId stream = link->connection->Send(next.request, sink);
  if (stream >= 0) {
    sent_[next.id] = {link, stream};
  } else {
    next.sink = kept.TakeBack();
    queue.push_front(std::move(next));
  }
  return true;
}

bool HttpClient::Usable(const Link& link) {
  return !link.outdated && link.connection->takes_requests();
}

void HttpClient::Pump() {
  for (auto link = links_.begin(); link != links_.end(); ++link) {
    while (link->ready && Usable(*link) && link->connection->room() > 0 && SendNext(link)) {
    }
  }
  if (!urgent_.empty() || !patient_.empty()) OpenAnother();
}

void HttpClient::OpenAnother() {
  if (retry_.valid()) return;
  std::size_t count = 0;
  for (const Link& link : links_) {
    if (!Usable(link)) continue;
    if (!link.ready) return;  // one is on the way
    ++count;
  }
  if (count >= options_.connections) return;
  const auto link = links_.emplace(links_.end());
  link->connection = std::make_unique<Http2Connection>(
      loop_, options_.endpoint, options_.timing,
      Http2Connection::Callbacks{
          .ready = [this, link] { OnReady(link); },
          .room = [this, link] { OnRoom(link); },
          .closed = [this, link](const Error& error) { OnClosed(link, error); }});
}

void HttpClient::OnReady(Links::iterator link) {
  link->ready = true;
  Pump();
}

void HttpClient::OnRoom(Links::iterator link) {
  if (link->connection->heard()) backoff_.Reset();
  if (link->outdated) SweepSoon();
  Pump();
}

void HttpClient::OnClosed(Links::iterator link, const Error& error) {
  const bool was_good = link->connection->heard();
  links_.erase(link);
  if (was_good) return Pump();
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

}  // namespace knx::net
