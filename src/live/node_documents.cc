#include "live/node_documents.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

namespace knx::live {
namespace {

constexpr int kWatchOk = 200, kWatchGone = 410;
// A node's document is some 10 KB; an etcd holds none of this size.
constexpr std::size_t kLongestLine = std::size_t{8} << 20;

}  // namespace

// Cuts what arrives into lines, one event each.
class NodeDocuments::Sink final : public net::ResponseSink {
 public:
  explicit Sink(NodeDocuments& nodes) : nodes_(nodes) {}

  void OnHead(int status, const net::Headers&) override { status_ = status; }
  void OnData(std::string_view bytes) override {
    if (status_ != kWatchOk) return;
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (line_.size() <= kLongestLine) line_ += bytes.substr(0, end);
      if (end == std::string_view::npos) return;
      if (line_.size() <= kLongestLine) nodes_.OnLine(line_);
      line_.clear();
      bytes.remove_prefix(end + 1);
    }
  }
  void OnDone(const Status& outcome, bool) override { nodes_.OnEnd(outcome, status_); }

 private:
  NodeDocuments& nodes_;
  std::string line_;
  int status_ = 0;
};

NodeDocuments::NodeDocuments(net::EventLoop& loop, client::ApiClient& api, Log log)
    : loop_(loop), api_(api), log_(std::move(log)) {
  Open();
}

NodeDocuments::~NodeDocuments() {
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
}

void NodeDocuments::Open() {
  if (version_.empty()) {
    telling_all_ = true;
    ++round_;
  }
  const std::string from = version_.empty()
                               ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                               : "resourceVersion=" + version_;
  stream_ = api_.Open("/api/v1/nodes?watch=true&allowWatchBookmarks=true&" + from,
                      "application/json", std::make_unique<Sink>(*this));
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
    if (object["code"].get(code) == simdjson::SUCCESS && code == kWatchGone) version_.clear();
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
    if (!telling_all_ || !all) return;
    version_ = version;
    telling_all_ = false;
    std::erase_if(known_, [this](const auto& node) { return node.second.round != round_; });
    synced_ = true;
    for (const auto& work : std::exchange(when_synced_, {})) work();
    return;
  }
  if (meta["name"].get(name) != simdjson::SUCCESS) return;
  if (type == "DELETED") {
    known_.erase(std::string(name));
  } else {
    known_[std::string(name)] = {simdjson::minify(object), round_};
  }
}

void NodeDocuments::OnEnd(const Status& outcome, int status) {
  stream_ = 0;
  if (telling_all_ || status == kWatchGone) version_.clear();
  if (status != 0 && status != kWatchOk && status != kWatchGone) {
    log_(fmt::format("watching nodes for extenders: the server answers {}", status));
  } else if (!outcome.ok()) {
    log_(fmt::format("watching nodes for extenders: {}", outcome.error().message));
  }
  retry_ = loop_.After(backoff_.Next(), [this] {
    retry_ = {};
    Open();
  });
}

}  // namespace knx::live
