#include "storm_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace knx::storm {
namespace {

constexpr Duration kCanaryStays = Duration::Seconds(3);
constexpr std::string_view kPods = "/api/v1/namespaces/default/pods/", kBinding = "/binding";
constexpr int kOk = 200, kCreated = 201, kMissing = 404;

// The number at the end of the node's name that the body of a binding, in protobuf, ends with.
std::optional<int> NodeIn(std::string_view binding) {
  constexpr std::string_view kBefore = "gpu-";
  const std::size_t at = binding.rfind(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  int node = 0;
  const char* const begin = binding.data() + at + kBefore.size();
  const auto [end, error] = std::from_chars(begin, binding.data() + binding.size(), node);
  return error == std::errc{} ? std::optional(node) : std::nullopt;
}

}  // namespace

StormServer::StormServer(net::EventLoop& loop, const Recording& recording, PlayedCluster& cluster)
    : loop_(loop),
      recording_(recording),
      cluster_(cluster),
      http_(loop, {}, [this](const Asked& asked) { OnAsked(asked); }) {}

void StormServer::Tell(const PlayedCluster::News& news) {
  if (!news.nodes.empty()) http_.Write(*nodes_, news.nodes);
  if (!news.pods.empty()) http_.Write(*pods_, news.pods);
}

void StormServer::SendCanary() {
  PlayedCluster::News news;
  std::string name = cluster_.AddCanary(static_cast<int>(canaries_.size()), news);
  canaries_.push_back({std::move(name), net::EventLoop::Now(), std::nullopt});
  Tell(news);
}

void StormServer::OnAsked(const Asked& asked) {
  const std::string_view path = std::string_view(asked.path).substr(0, asked.path.find('?'));
  if (asked.method == "GET" && asked.path.find("watch=true") != std::string::npos) {
    return OnWatch(asked, path);
  }
  if (asked.method == "POST" && path.ends_with(kBinding)) return OnBinding(asked);
  // None of the kinds that a cluster may lack.
  if (path == "/apis") {
    return http_.Answer(asked, kOk, R"({"kind":"APIGroupDiscoveryList","items":[]})");
  }
  const bool event = asked.method == "POST" && path.ends_with("/events");
  const bool again = asked.method == "PATCH" && path.find("/events/") != std::string_view::npos;
  const bool condition = asked.method == "PATCH" && path.ends_with("/status");
  const bool remark = event || again || condition;
  const bool known = remark || path == "/version";
  if (remark) ++remarks_;
  if (!known) wrong_.push_back(fmt::format("{} {}", asked.method, path));
  http_.Answer(asked, known ? (event ? kCreated : kOk) : kMissing, "{}");
}

void StormServer::OnWatch(const Asked& asked, std::string_view path) {
  http_.Begin(asked, kOk, {{"content-type", recording_.content_type()}});
  // Whoever watches later wants to compare, not to follow.
  if (path == "/api/v1/nodes") {
    if (!nodes_) nodes_ = asked;
    http_.Write(asked, cluster_.Everything().nodes);
  } else if (path == "/api/v1/pods") {
    if (!pods_) pods_ = asked;
    http_.Write(asked, cluster_.Everything().pods);
  } else {
    http_.Write(asked, recording_.end_of_list());
  }
}

void StormServer::OnBinding(const Asked& asked) {
  const Time now = net::EventLoop::Now();
  http_.Answer(asked, kCreated, R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
  std::string_view name = asked.path;
  name.remove_prefix(std::min(name.size(), kPods.size()));
  name = name.substr(0, name.find('/'));
  const auto found = std::find_if(canaries_.begin(), canaries_.end(),
                                  [&](const Canary& each) { return each.name == name; });
  const std::optional<int> node = NodeIn(asked.body);
  if (found == canaries_.end() || found->bound || !node) {
    return wrong_.push_back(fmt::format("POST {} {}", asked.path, asked.body));
  }
  found->bound = now;
  Bound(static_cast<std::size_t>(found - canaries_.begin()), *node);
}

void StormServer::Bound(std::size_t number, int node) {
  PlayedCluster::News news;
  const int canary = static_cast<int>(number);
  cluster_.BindCanary(canary, node, news);
  Tell(news);
  loop_.After(kCanaryStays, [this, canary] {
    PlayedCluster::News later;
    cluster_.RemoveCanary(canary, later);
    Tell(later);
  });
}

}  // namespace knx::storm
