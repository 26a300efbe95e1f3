#include "client/reflector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "base/shortened.h"
#include "client/json_watch.h"
#include "client/list_pages.h"
#include "client/resource_version.h"
#include "client/url.h"
#include "k8s/kind_name.h"
#include "k8s/proto_frames.h"

namespace knx::client {
namespace {

constexpr int kOk = 200, kBadRequest = 400, kForbidden = 403, kMissing = 404, kGone = 410,
              kUnprocessable = 422;
constexpr Duration kSayAgainAfter = Duration::Minutes(5);
// Of objects that cannot be read; with more of them, some are told of again.
constexpr std::size_t kMostRefusals = 1000;
// In a row. One may be by chance, such as a server that is about to end.
constexpr int kEarlyEndsToSay = 3, kForgottenToSay = 3;

std::string KeyOf(const k8s::Object& object) {
  const k8s::ObjectMeta& meta = MetaOf(object);
  return fmt::format("{}/{}", meta.namespace_, meta.name);
}

// What came instead of a watch, such as a page to log in.
Error NoWatch(std::string_view type, std::string_view begin) {
  return InvalidError(fmt::format("what came is no watch but {}: {}", QuotedText(type),
                                  Printable(Shortened(begin, kLongestValue))));
}

}  // namespace

// Cuts what arrives into frames.
class Reflector::Sink final : public net::ResponseSink {
 public:
  explicit Sink(Reflector& reflector) : reflector_(reflector) {}

  void OnHead(int status, const net::Headers& headers) override {
    status_ = status;
    json_ = IsJson(headers);
    type_ = net::FindHeader(headers, "content-type");
    if (status_ == kOk) reflector_.OnLetIn();
  }
  void OnData(std::string_view bytes) override {
    if (status_ != kOk) {
      if (refusal_.size() < kLongestRefusal) refusal_ += bytes;
      return;
    }
    json_ ? TakeApart(lines_, bytes) : TakeApart(frames_, bytes);
  }
  void OnDone(const Status& outcome, bool) override {
    reflector_.OnWatchEnd(outcome, status_, refusal_);
  }

 private:
  template <class Splitter>
  void TakeApart(Splitter& splitter, std::string_view bytes) {
    if (broken_) return;
    splitter.Append(bytes);
    for (;;) {
      const auto frame = splitter.Next();
      if (!frame.ok()) {
        broken_ = true;
        const bool known = json_ || type_.empty() || type_.starts_with(k8s::kProtobufType);
        return reflector_.OnBroken(known ? frame.error() : NoWatch(type_, bytes));
      }
      if (!frame->has_value()) return;
      reflector_.OnFrame(**frame, json_);
    }
  }

  static constexpr std::size_t kLongestRefusal = 64 * 1024;
  Reflector& reflector_;
  k8s::FrameSplitter frames_;
  LineSplitter lines_{k8s::kMaxFrameBytes};
  bool json_ = false, broken_ = false;
  int status_ = 0;
  std::string type_, refusal_;
};

Reflector::Reflector(net::EventLoop& loop, ApiClient& api, Collection collection,
                     Callbacks callbacks, const ReflectorTiming& timing)
    : loop_(loop),
      api_(api),
      collection_(std::move(collection)),
      callbacks_(std::move(callbacks)),
      located_(!collection_.optional),
      timing_(timing),
      backoff_(timing.first_pause, timing.longest_pause) {
  Open();
}

Reflector::~Reflector() {
  *alive_ = false;
  loop_.Cancel(retry_);
  loop_.Cancel(silence_);
  api_.Close(stream_);
}

// ---- the stream ----

std::string Reflector::Selection() const {
  return collection_.field_selector.empty()
             ? ""
             : "&fieldSelector=" + UrlEscaped(collection_.field_selector);
}

std::string Reflector::Query() const {
  const std::string query = "watch=true&allowWatchBookmarks=true" + Selection();
  return version_.empty() ? query + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                          : query + "&resourceVersion=" + UrlEscaped(version_);
}

void Reflector::Open() {
  if (!located_) return;
  if (collection_.path.empty()) return OnMissing();
  if (callbacks_.opened) callbacks_.opened(version_.empty());
  if (!version_.empty()) return OpenWatch();
  Begin();
  telling_all_ = true;
  ++round_;
  paging_ = api_.lists_by_pages();
  pages_ = {};
  busy_ = false;
  waiting_.reset();
  paging_ ? AskPage("") : OpenWatch();
}

void Reflector::Begin() {
  let_in_ = ending_ = brought_news_ = forgotten_ = false;
  opened_ = net::EventLoop::Now();
}

void Reflector::OpenWatch() {
  Begin();
  stream_ = api_.Open(fmt::format("{}?{}", collection_.path, Query()),
                      collection_.json
                          ? "application/json"
                          : "application/vnd.kubernetes.protobuf;stream=watch,application/json",
                      std::make_unique<Sink>(*this));
  if (!telling_all_) return;
  heard_ = opened_;
  AwaitEnd(timing_.longest_silence);
}

// Some servers, or what stands in front of them, tell what is there and not that this was all.
void Reflector::AwaitEnd(Duration wait) {
  loop_.Cancel(silence_);
  silence_ = loop_.After(wait, [this] {
    silence_ = {};
    if (!telling_all_ || paging_ || stream_ == 0) return;
    const Duration left = heard_ + timing_.longest_silence - net::EventLoop::Now();
    if (left > Duration{}) return AwaitEnd(left);
    api_.Close(std::exchange(stream_, 0));
    api_.troubles().Report(
        "the API server does not say when a watch has told everything; it is asked for lists "
        "instead");
    api_.set_lists_by_pages();
    Open();
  });
}

void Reflector::TellAnew() {
  api_.Close(std::exchange(stream_, 0));  // whatever is about to end it has nothing to do any more
  loop_.Cancel(std::exchange(retry_, {}));
  version_.clear();
  refusals_.clear();
  synced_ = false;
  Open();
}

void Reflector::MoveTo(const std::string& path) {
  if (std::exchange(located_, true) && path == collection_.path) return;
  collection_.path = path;
  TellAnew();
}

void Reflector::OpenLater() {
  const Duration lived = net::EventLoop::Now() - opened_;
  // To tell everything anew is work for the server: who forgets every few seconds gets no more than
  // a little of it.
  const bool good = let_in_ && (forgotten_ ? brought_news_ || lived >= timing_.longest_pause
                                           : lived >= timing_.long_enough);
  if (good) backoff_.Reset();
  if (good && !forgotten_) forgotten_in_a_row_ = 0;
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Open();
  });
}

// What comes after cannot be understood, so the stream is opened again from the last good place.
void Reflector::OnBroken(const Error& error) {
  Say(error);
  EndSoon();
}

void Reflector::EndSoon() {
  ending_ = true;
  loop_.Post([this, stream = stream_, alive = alive_] {
    if (!*alive || stream != stream_) return;
    api_.Close(stream_);
    OnEnd(Ok(), kOk, "");
  });
}

void Reflector::OnWatchEnd(const Status& outcome, int status, const std::string& refusal) {
  const bool early = net::EventLoop::Now() - opened_ < timing_.long_enough;
  const bool by_server = outcome.ok() && status == kOk && !ending_;
  // A server ends the watches of those that it cannot tell things as fast as they happen. What was
  // told before is no news: who tells it again and again is not followed at once.
  if (by_server && brought_news_ && !telling_all_) {
    early_ends_ = forgotten_in_a_row_ = 0;
    backoff_.Reset();
    stream_ = 0;
    return Open();
  }
  // A watch that is let in goes on for minutes, whether anything happens or not.
  if (!early || !by_server) {
    early_ends_ = 0;
  } else if (++early_ends_ < kEarlyEndsToSay) {
    CountFailure();
  } else {
    Say({ErrorKind::kUnavailable,
         fmt::format("watches are let in and ended within {}, again and again, so that changes are "
                     "noticed late; look at what is between us and the API server: a proxy or load "
                     "balancer that does not pass on answers without an end",
                     FormatDuration(timing_.long_enough)),
         {}});
  }
  OnEnd(outcome, status, refusal);
}

void Reflector::OnEnd(const Status& outcome, int status, const std::string& refusal) {
  stream_ = 0;
  const bool no_streaming =
      telling_all_ && !paging_ && (status == kBadRequest || status == kUnprocessable);
  // Where not everything was told, what comes next begins at the beginning.
  if (telling_all_ || status == kGone) version_.clear();
  if (status == kGone) OnForgotten();
  if (no_streaming) {
    api_.set_lists_by_pages();
    return Open();
  }
  // A kind that may not be read is none, rather than what everything waits for; the client says so.
  const bool none = status == kMissing || (status == kForbidden && !synced_);
  if (none && collection_.optional) return OnMissing();
  if (status != 0 && status != kOk && status != kGone) {
    const Error error = ErrorOf({status, {}, refusal});
    if (IsFromTheFuture(error.message)) version_.clear();
    // Of a right that is missing the client tells, better.
    error.kind == ErrorKind::kForbidden ? CountFailure() : Say(error);
  } else if (!outcome.ok()) {
    CountFailure();
    api_.troubles().ReportServer(outcome.error().message);
  }
  OpenLater();
}

// There is no such kind: nothing of it, for now.
void Reflector::OnMissing() {
  version_.clear();
  ++round_;
  OnInitialEnd();
  if (collection_.path.empty()) return;
  retry_ = loop_.After(timing_.look_for_optional, [this] {
    retry_ = {};
    Open();
  });
}

// Once is nothing: where nothing happened for a while, or the server was away.
void Reflector::OnForgotten() {
  forgotten_ = true;
  if (net::EventLoop::Now() - opened_ >= timing_.longest_pause) forgotten_in_a_row_ = 0;
  if (++forgotten_in_a_row_ < kForgottenToSay) return CountFailure();
  Say({ErrorKind::kUnavailable,
       fmt::format("the server has forgotten what it told us last, {} times in a row, so that "
                   "everything is told anew each time, and changes are noticed late",
                   kForgottenToSay),
       {}});
}

void Reflector::CountFailure() {
  if (callbacks_.failed) callbacks_.failed();
}

void Reflector::Say(const Error& error) {
  CountFailure();
  const Time now = net::EventLoop::Now();
  if (error.message == said_ && now - said_at_ < kSayAgainAfter) return;
  said_ = error.message;
  said_at_ = now;
  callbacks_.trouble(collection_.path, error);
}

// ---- events ----

void Reflector::OnLetIn() {
  let_in_ = true;
  api_.troubles().ServerWorks();
}

void Reflector::OnFrame(std::string_view frame, bool json) {
  auto event = json ? ReadJsonEvent(frame) : k8s::ReadProtoEvent(frame);
  if (!event.ok()) return OnUndecodable(event.error());
  std::visit([this](auto&& what) { OnEvent(std::forward<decltype(what)>(what)); },
             *std::move(event));
}

// One warning for many: who wants to know how many looks at the number.
void Reflector::OnUndecodable(const Error& error) {
  CountFailure();
  const Time now = net::EventLoop::Now();
  const bool news = undecodable_++ == 0 || now - undecodable_said_at_ >= kSayAgainAfter;
  if (!news) return;
  undecodable_said_at_ = now;
  callbacks_.trouble(
      collection_.path,
      Error(error).Within(fmt::format("left out {} that cannot be read, the last", undecodable_)));
}

void Reflector::OnEvent(const k8s::ApiStatus& status) {
  if (status.code == kGone || IsFromTheFuture(status.message)) version_.clear();
  if (status.code == kGone) {
    OnForgotten();
  } else {
    Say({ErrorKind::kUnavailable,
         status.message.empty()
             ? fmt::format("the server ends the watch: {} {}", status.code, status.reason)
             : status.message,
         {}});
  }
  EndSoon();
}

void Reflector::OnEvent(const k8s::Bookmark& bookmark) {
  if (telling_all_ && !bookmark.initial_events_end) return;
  Reach(bookmark.resource_version);
  if (telling_all_) OnInitialEnd();
}

// To go on from there. What has no version leads nowhere, and not back to the beginning either.
// True: it is later than anything before.
bool Reflector::Reach(const std::string& version) {
  if (version.empty()) return false;
  version_ = version;
  if (!IsLaterVersion(version, latest_)) return false;
  latest_ = version;
  return true;
}

void Reflector::OnEvent(k8s::ObjectChange change) {
  // Until everything was told, there is no place to go on from.
  if (telling_all_) {
    heard_ = net::EventLoop::Now();
  } else {
    brought_news_ |= Reach(change.object.resource_version);
  }
  Take(change.type, std::move(change.object));
}

void Reflector::Take(k8s::ChangeType type, k8s::ReceivedObject object) {
  if (const auto* refused = std::get_if<k8s::RefusedObject>(&object.read)) {
    return TakeRefused(type, *refused);
  }
  k8s::Object& whole = std::get<k8s::Object>(object.read);
  type == k8s::ChangeType::kDeleted ? OnDeleted(whole) : OnUpserted(std::move(whole));
}

// It stays what it was when it could be read last, until it goes.
void Reflector::TakeRefused(k8s::ChangeType type, const k8s::RefusedObject& refused) {
  const std::string name = fmt::format("{}/{}", refused.namespace_, refused.name);
  const bool goes = type == k8s::ChangeType::kDeleted;
  if (goes) {
    refusals_.erase(refused.uid);
  } else {
    SayRefused(name, refused);
  }
  const auto known = known_.find(name);
  if (known == known_.end() || known->second.uid != refused.uid) return;
  known->second.round = round_;
  if (goes) LeaveOut(name);
}

void Reflector::SayRefused(const std::string& name, const k8s::RefusedObject& refused) {
  if (!callbacks_.refused) return OnUndecodable(Error(refused.why).Within(name));
  ++undecodable_;
  callbacks_.refused(refused, IsNews(refused));
}

bool Reflector::IsNews(const k8s::RefusedObject& refused) {
  const auto said = refusals_.find(refused.uid);
  if (said != refusals_.end() && said->second == refused.why.message) return false;
  if (refusals_.size() >= kMostRefusals) refusals_.clear();
  refusals_[refused.uid] = refused.why.message;
  return true;
}

void Reflector::OnUpserted(k8s::Object object) {
  if (collection_.left_out && collection_.left_out(object)) return LeaveOut(KeyOf(object));
  Known& known = known_[KeyOf(object)];
  known.round = round_;
  // One that was deleted and made again while nobody watched is another one.
  const std::string& uid = MetaOf(object).uid;
  refusals_.erase(uid);
  if (!known.uid.empty() && known.uid != uid) Forget(KeyOf(object), known);
  known.uid = uid;
  const bool many =
      std::holds_alternative<k8s::Pod>(object) || std::holds_alternative<k8s::Node>(object);
  known.object = many ? nullptr : std::make_unique<const k8s::Object>(object);
  is_pods_ = std::holds_alternative<k8s::Pod>(object);
  callbacks_.upserted(std::move(object));
}

void Reflector::LeaveOut(const std::string& key) {
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  Forget(known->first, known->second);
  known_.erase(known);
}

void Reflector::OnDeleted(const k8s::Object& object) {
  const auto known = known_.find(KeyOf(object));
  // That another one has the name by now may be told first.
  if (known == known_.end() || known->second.uid != MetaOf(object).uid) return;
  known_.erase(known);
  callbacks_.gone(object);
}

void Reflector::Forget(const std::string& key, const Known& known) {
  if (known.object != nullptr) return callbacks_.gone(*known.object);
  k8s::Object object = is_pods_ ? k8s::Object(k8s::Pod{}) : k8s::Object(k8s::Node{});
  k8s::ObjectMeta& meta = MetaOf(object);
  const std::size_t slash = key.find('/');
  meta.namespace_ = key.substr(0, slash);
  meta.name = key.substr(slash + 1);
  meta.uid = known.uid;
  callbacks_.gone(object);
}

void Reflector::OnInitialEnd() {
  telling_all_ = false;
  latest_ = version_;
  for (auto known = known_.begin(); known != known_.end();) {
    if (known->second.round == round_) {
      ++known;
      continue;
    }
    Forget(known->first, known->second);
    known = known_.erase(known);
  }
  synced_ = true;
  callbacks_.synced();
}

}  // namespace knx::client
