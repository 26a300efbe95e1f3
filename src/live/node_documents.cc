#include "live/node_documents.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "client/url.h"

namespace knx::live {
namespace {

constexpr int kWatchOk = 200, kWatchBad = 400, kWatchGone = 410, kWatchUnprocessable = 422;
constexpr int kNodesInAPage = 500;
constexpr Duration kNodePageTimeout = Duration::Seconds(60);
// A node's document is some 10 KB; an etcd holds none of this size.
constexpr std::size_t kLongestLine = std::size_t{8} << 20;
constexpr std::size_t kEnoughOfARefusal = std::size_t{64} << 10;

}  // namespace

// Cuts what arrives into lines, one event each.
class NodeDocuments::Sink final : public net::ResponseSink {
 public:
  explicit Sink(NodeDocuments& nodes) : nodes_(nodes) {}

  void OnHead(int status, const net::Headers&) override { status_ = status; }
  void OnData(std::string_view bytes) override {
    if (status_ != kWatchOk) {
      if (refusal_.size() < kEnoughOfARefusal) refusal_ += bytes;
      return;
    }
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (line_.size() <= kLongestLine) line_ += bytes.substr(0, end);
      if (end == std::string_view::npos) return;
      if (line_.size() <= kLongestLine) nodes_.OnLine(line_);
      line_.clear();
      bytes.remove_prefix(end + 1);
    }
  }
  void OnDone(const Status& outcome, bool) override { nodes_.OnEnd(outcome, status_, refusal_); }

 private:
  NodeDocuments& nodes_;
  std::string line_, refusal_;
  int status_ = 0;
};

NodeDocuments::NodeDocuments(net::EventLoop& loop, client::ApiClient& api, Log log)
    : loop_(loop), api_(api), log_(std::move(log)) {
  Open();
}

NodeDocuments::~NodeDocuments() {
  *alive_ = false;
  loop_.Cancel(retry_);
  api_.Close(stream_);
}

const std::string* NodeDocuments::Find(const std::string& name) const {
  const auto known = known_.find(name);
  return known == known_.end() ? nullptr : &known->second.document;
}

void NodeDocuments::WhenSynced(std::function<void()> work) {
  if (synced_) return work();
  when_synced_.push_back(std::move(work));
  // Others have found out meanwhile that our watch will never say that this was all.
  if (stream_ == 0 || !telling_all_ || !api_.lists_by_pages()) return;
  api_.Close(std::exchange(stream_, 0));
  Open();
}

void NodeDocuments::Open() {
  if (!version_.empty()) return OpenWatch();
  telling_all_ = true;
  ++round_;
  paging_ = api_.lists_by_pages();
  paging_ ? AskPage("") : OpenWatch();
}

void NodeDocuments::OpenWatch() {
  const std::string from = version_.empty()
                               ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                               : "resourceVersion=" + version_;
  stream_ = api_.Open("/api/v1/nodes?watch=true&allowWatchBookmarks=true&" + from,
                      "application/json", std::make_unique<Sink>(*this));
}

void NodeDocuments::AskPage(const std::string& continue_token) {
  std::string path = fmt::format("/api/v1/nodes?limit={}", kNodesInAPage);
  if (!continue_token.empty()) path += "&continue=" + client::UrlEscaped(continue_token);
  api_.Send({.path = std::move(path), .timeout = kNodePageTimeout, .attempts = 1},
            client::ApiClient::Done([this, alive = alive_](const Result<client::Response>& page) {
              if (*alive) OnPage(page);
            }));
}

void NodeDocuments::OnPage(const Result<client::Response>& response) {
  if (!response.ok()) return OnEnd(response.error(), 0, "");
  if (!response->ok()) return OnEnd(Ok(), response->status, response->body);
  simdjson::dom::parser parser;
  simdjson::dom::element list;
  simdjson::dom::array items;
  std::string_view version, token;
  if (parser.parse(response->body).get(list) != simdjson::SUCCESS ||
      list["metadata"]["resourceVersion"].get(version) != simdjson::SUCCESS ||
      list["items"].get(items) != simdjson::SUCCESS) {
    log_("watching nodes for extenders: a list that cannot be read");
    return OnEnd(Ok(), kWatchOk, "");
  }
  for (const simdjson::dom::element node : items) {
    std::string_view name;
    if (node["metadata"]["name"].get(name) != simdjson::SUCCESS) continue;
    known_[std::string(name)] = {simdjson::minify(node), round_};
  }
  // Absent in the last one.
  if (list["metadata"]["continue"].get(token) == simdjson::SUCCESS && !token.empty()) {
    return AskPage(std::string(token));
  }
  backoff_.Reset();
  OnToldAll(version);
  OpenWatch();
}

void NodeDocuments::OnToldAll(std::string_view version) {
  version_ = version;
  telling_all_ = false;
  std::erase_if(known_, [this](const auto& node) { return node.second.round != round_; });
  synced_ = true;
  for (const auto& work : std::exchange(when_synced_, {})) work();
}

void NodeDocuments::OnLine(const std::string& line) {
  simdjson::dom::parser parser;
  simdjson::dom::element event, object;
  std::string_view type, name, version;
  if (parser.parse(line).get(event) != simdjson::SUCCESS ||
      event["type"].get(type) != simdjson::SUCCESS ||
      event["object"].get(object) != simdjson::SUCCESS) {
    return log_("watching nodes for extenders: an event that cannot be read");
  }
  if (type == "ERROR") {
    std::int64_t code = 0;
    std::string_view message;
    const bool gone = object["code"].get(code) == simdjson::SUCCESS && code == kWatchGone;
    const bool set_back =
        object["message"].get(message) == simdjson::SUCCESS && client::IsFromTheFuture(message);
    if (gone || set_back) version_.clear();
    return;
  }
  const auto meta = object["metadata"];
  if (meta["resourceVersion"].get(version) != simdjson::SUCCESS) return;
  if (!telling_all_) version_ = version;
  backoff_.Reset();
  if (type == "BOOKMARK") {
    std::string_view end;
    const bool all =
        meta["annotations"]["k8s.io/initial-events-end"].get(end) == simdjson::SUCCESS &&
        end == "true";
    if (telling_all_ && all) OnToldAll(version);
    return;
  }
  if (meta["name"].get(name) != simdjson::SUCCESS) return;
  if (type == "DELETED") {
    known_.erase(std::string(name));
  } else {
    known_[std::string(name)] = {simdjson::minify(object), round_};
  }
}

void NodeDocuments::OnEnd(const Status& outcome, int status, const std::string& refusal) {
  stream_ = 0;
  const bool no_streaming =
      telling_all_ && !paging_ && (status == kWatchBad || status == kWatchUnprocessable);
  if (telling_all_ || status == kWatchGone) version_.clear();
  if (no_streaming) {
    api_.set_lists_by_pages();
    return Open();
  }
  if (status != 0 && status != kWatchOk && status != kWatchGone) {
    const Error error = client::ErrorOf({status, {}, refusal});
    if (client::IsFromTheFuture(error.message)) version_.clear();
    log_(fmt::format("watching nodes for extenders: {}", error.message));
  } else if (!outcome.ok()) {
    log_(fmt::format("watching nodes for extenders: {}", outcome.error().message));
  }
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Open();
  });
}

}  // namespace knx::live
