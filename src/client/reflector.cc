#include "client/reflector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "k8s/kind_name.h"
#include "k8s/proto_frames.h"

namespace knx::client {
namespace {

constexpr int kGone = 410;
constexpr int kOk = 200;

std::string KeyOf(const k8s::Object& object) {
  const k8s::ObjectMeta& meta = MetaOf(object);
  return fmt::format("{}/{}", meta.namespace_, meta.name);
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

// Cuts what arrives into frames.
class Reflector::Sink final : public net::ResponseSink {
 public:
  explicit Sink(Reflector& reflector) : reflector_(reflector) {}

  void OnHead(int status, const net::Headers&) override { status_ = status; }
  void OnData(std::string_view bytes) override {
    if (status_ != kOk) {
      if (refusal_.size() < kLongestRefusal) refusal_ += bytes;
      return;
    }
    if (broken_) return;
    frames_.Append(bytes);
    for (;;) {
      const auto frame = frames_.Next();
      if (!frame.ok()) {
        broken_ = true;
        return reflector_.OnBroken(frame.error());
      }
      if (!frame->has_value()) return;
      reflector_.OnFrame(**frame);
    }
  }
  void OnDone(const Status& outcome, bool) override {
    reflector_.OnEnd(outcome, status_, refusal_);
  }

 private:
  static constexpr std::size_t kLongestRefusal = 64 * 1024;
  Reflector& reflector_;
  k8s::FrameSplitter frames_;
  bool broken_ = false;
  int status_ = 0;
  std::string refusal_;
};

Reflector::Reflector(net::EventLoop& loop, ApiClient& api, Collection collection,
                     Callbacks callbacks)
    : loop_(loop), api_(api), collection_(std::move(collection)), callbacks_(std::move(callbacks)) {
  Open();
}

Reflector::~Reflector() {
  *alive_ = false;
  loop_.Cancel(retry_);
  api_.Close(stream_);
}

// ---- the stream ----

std::string Reflector::Query() const {
  std::string query = "watch=true&allowWatchBookmarks=true";
  if (!collection_.field_selector.empty()) {
    query += "&fieldSelector=" + Escaped(collection_.field_selector);
  }
  return version_.empty() ? query + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                          : query + "&resourceVersion=" + Escaped(version_);
}

void Reflector::Open() {
  if (version_.empty()) {
    telling_all_ = true;
    ++round_;
  }
  heard_something_ = false;
  stream_ = api_.Open(fmt::format("{}?{}", collection_.path, Query()),
                      "application/vnd.kubernetes.protobuf;stream=watch,application/json",
                      std::make_unique<Sink>(*this));
}

void Reflector::OpenLater() {
  if (heard_something_) backoff_.Reset();
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Open();
  });
}

// What comes after cannot be understood, so the stream is opened again from the last good place.
void Reflector::OnBroken(const Error& error) {
  callbacks_.trouble(collection_.path, error);
  loop_.Post([this, stream = stream_, alive = alive_] {
    if (!*alive || stream != stream_) return;
    api_.Close(stream_);
    OnEnd(Ok(), kOk, "");
  });
}

void Reflector::OnEnd(const Status& outcome, int status, const std::string& refusal) {
  stream_ = 0;
  // Where not everything was told, what comes next begins at the beginning.
  if (telling_all_) version_.clear();
  if (status == kGone) {
    version_.clear();
  } else if (status != 0 && status != kOk) {
    callbacks_.trouble(collection_.path, ErrorOf({status, {}, refusal}));
  } else if (!outcome.ok()) {
    callbacks_.trouble(collection_.path, outcome.error());
  }
  OpenLater();
}

// ---- events ----

void Reflector::OnFrame(std::string_view frame) {
  auto event = k8s::ReadProtoEvent(frame);
  if (!event.ok()) return callbacks_.trouble(collection_.path, event.error());
  heard_something_ = true;
  std::visit([this](auto&& what) { OnEvent(std::move(what)); }, *std::move(event));
}

void Reflector::OnEvent(const k8s::ApiStatus& status) {
  if (status.code == kGone) {
    version_.clear();
    return;
  }
  callbacks_.trouble(collection_.path, Error{ErrorKind::kUnavailable, status.message, {}});
}

void Reflector::OnEvent(const k8s::Bookmark& bookmark) {
  if (telling_all_ && !bookmark.initial_events_end) return;
  version_ = bookmark.resource_version;
  if (telling_all_) OnInitialEnd();
}

void Reflector::OnEvent(k8s::ObjectChange change) {
  // Until everything was told, there is no place to go on from.
  if (!telling_all_) version_ = change.object.resource_version;
  if (const auto* refused = std::get_if<k8s::RefusedObject>(&change.object.read)) {
    callbacks_.trouble(
        fmt::format("{} {}/{}", collection_.path, refused->namespace_, refused->name),
        refused->why);
    return;
  }
  k8s::Object& object = std::get<k8s::Object>(change.object.read);
  change.type == k8s::ChangeType::kDeleted ? OnDeleted(object) : OnUpserted(std::move(object));
}

void Reflector::OnUpserted(k8s::Object object) {
  Known& known = known_[KeyOf(object)];
  known.round = round_;
  // One that was deleted and made again while nobody watched is another one.
  const std::string& uid = MetaOf(object).uid;
  if (!known.uid.empty() && known.uid != uid) Forget(KeyOf(object), known);
  known.uid = uid;
  const bool many =
      std::holds_alternative<k8s::Pod>(object) || std::holds_alternative<k8s::Node>(object);
  known.object = many ? nullptr : std::make_unique<const k8s::Object>(object);
  is_pods_ = std::holds_alternative<k8s::Pod>(object);
  callbacks_.upserted(std::move(object));
}

void Reflector::OnDeleted(const k8s::Object& object) {
  if (known_.erase(KeyOf(object)) > 0) callbacks_.gone(object);
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
