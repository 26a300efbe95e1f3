#include "client/first_contact.h"

#include <fmt/format.h>

#include <utility>

#include "base/quoted_text.h"
#include "base/shortened.h"

namespace knx::client {
namespace {

constexpr Duration kFirstTimeout = Duration::Seconds(15);

// An API server does not; who asks for more would be sent away as often as it asks.
bool IsRedirection(int status) {
  constexpr int kFirst = 300, kEnd = 400;
  return status >= kFirst && status < kEnd;
}

Error SentAway(const Response& response) {
  const std::string_view where = net::FindHeader(response.headers, "location");
  return InvalidError(fmt::format(
      "what answers is no API server: asked for /version it sends us elsewhere ({}), to {}",
      response.status, where.empty() ? "nowhere" : QuotedText(Shortened(where, kLongestName))));
}

bool IsDown(int status) {
  constexpr int kTooMany = 429, kFirstOfServer = 500;
  return status == kTooMany || status >= kFirstOfServer;
}

}  // namespace

FirstContact::FirstContact(net::EventLoop& loop, ApiClient& api, OurCredentials credentials,
                           Duration patience, std::function<void(const Status& outcome)> done)
    : loop_(loop),
      api_(api),
      credentials_(std::move(credentials)),
      patience_(patience),
      done_(std::move(done)) {
  Ask();
}

FirstContact::~FirstContact() {
  *alive_ = false;
  loop_.Cancel(retry_);
}

void FirstContact::Ask() {
  // Not urgent: who ends us does not wait for it.
  api_.Send({.path = "/version", .timeout = kFirstTimeout, .urgent = false, .attempts = 1},
            ApiClient::Done([this, alive = alive_](const Result<Response>& response) {
              if (*alive) OnAnswer(response);
            }));
}

void FirstContact::OnAnswer(const Result<Response>& response) {
  if (!response.ok()) {
    if (response.error().kind == ErrorKind::kInvalid) return done_(response.error());
    return AskLater(response.error());
  }
  constexpr int kNotKnown = 401;
  if (response->status == kNotKnown) {
    const FieldPlace& where = credentials_.place;
    const Error error = InvalidError(
        fmt::format("{}{}the API server does not accept our credentials: {}", where.field,
                    where.field.empty() ? "" : ": ", ErrorOf(*response).message),
        where.place);
    return credentials_.may_change ? AskLater(error) : done_(error);
  }
  if (IsRedirection(response->status)) return done_(SentAway(*response));
  if (IsDown(response->status)) return AskLater(ErrorOf(*response));
  api_.troubles().ServerWorks();
  done_(Ok());
}

bool FirstContact::IsPatient() const {
  return patience_ == Duration{} || net::EventLoop::Now() - began_ < patience_;
}

void FirstContact::AskLater(const Error& error) {
  if (!IsPatient()) {
    return done_(Error{error.kind,
                       fmt::format("waited {} for the API server: {}", FormatDuration(patience_),
                                   error.ToString()),
                       {}});
  }
  api_.troubles().ReportServer(fmt::format("waiting for the API server: {}", error.ToString()));
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Ask();
  });
}

}  // namespace knx::client
