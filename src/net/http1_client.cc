#include "net/http1_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace knx::net {

Http1Client::Http1Client(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)) {}

Http1Client::~Http1Client() {
  *alive_ = false;
  for (const Link& link : links_) {
    if (link.job) loop_.Cancel(link.job->timeout);
  }
}

void Http1Client::Send(Request request, bool repeatable, Done done) {
  ++outstanding_;
  waiting_.push_back({.number = ++last_,
                      .request = std::move(request),
                      .repeatable = repeatable,
                      .done = std::move(done),
                      .timeout = {}});
  Pump();
}

void Http1Client::Pump() {
  while (!waiting_.empty()) {
    auto link = std::find_if(links_.begin(), links_.end(),
                             [](const Link& known) { return !known.job.has_value(); });
    if (link == links_.end() && links_.size() < options_.connections) link = Open();
    if (link == links_.end()) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    Begin(link, std::move(job));
  }
}

Http1Client::Links::iterator Http1Client::Open() {
  const auto link = links_.emplace(links_.end());
  link->connection = std::make_unique<Http1Connection>(
      loop_, options_.endpoint, options_.authority, options_.limits,
      Http1Connection::Callbacks{
          .answered = [this, link](Http1Response response,
                                   bool keeps) { OnAnswered(link, std::move(response), keeps); },
          .closed = [this, link](const Error& error) { OnClosed(link, error); }});
  return link;
}

void Http1Client::Begin(Links::iterator link, Job job) {
  if (job.request.timeout > Duration{} && !job.timeout.valid()) {
    job.timeout =
        loop_.After(job.request.timeout, [this, number = job.number] { OnTimeout(number); });
  }
  link->connection->Send(job.request);
  link->job = std::move(job);
}

void Http1Client::OnAnswered(Links::iterator link, Http1Response response, bool keeps) {
  const Job job = *std::exchange(link->job, std::nullopt);
  link->used = true;
  if (!keeps) Retire(link);
  Finish(job, {std::move(response)});
}

void Http1Client::OnClosed(Links::iterator link, const Error& error) {
  std::optional<Job> job = std::exchange(link->job, std::nullopt);
  const bool was_stale = link->used && !link->connection->answering();
  Retire(link);
  if (!job) return;
  if (was_stale && job->repeatable) {
    job->repeatable = false;
    waiting_.push_front(*std::move(job));
    return Pump();
  }
  Finish(*job, {error});
}

void Http1Client::OnTimeout(std::uint64_t number) {
  const auto link = std::find_if(links_.begin(), links_.end(), [&](const Link& known) {
    return known.job && known.job->number == number;
  });
  // One that is to be sent again has to wait for a connection.
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Job& known) { return known.number == number; });
  std::optional<Job> job;
  if (link != links_.end()) {
    job = std::exchange(link->job, std::nullopt);
    Retire(link);
  } else {
    job = std::move(*waiting);
    waiting_.erase(waiting);
  }
  job->timeout = {};
  const Duration limit = job->request.timeout;
  Finish(*job, {Error{ErrorKind::kUnavailable,
                      fmt::format("{}: no answer within {}", options_.endpoint.ToString(),
                                  FormatDuration(limit)),
                      {}},
                true});
}

void Http1Client::Retire(Links::iterator link) {
  if (retired_.empty()) {
    loop_.Post([this, alive = alive_] {
      if (*alive) retired_.clear();
    });
  }
  link->connection->Silence();
  retired_.push_back(std::move(link->connection));
  links_.erase(link);
}

void Http1Client::Finish(const Job& job, Outcome outcome) {
  --outstanding_;
  loop_.Cancel(job.timeout);
  const auto alive = alive_;
  job.done(std::move(outcome));
  if (*alive) Pump();
}

}  // namespace knx::net
