// Plays the API server to a daemon: tells it of the cluster, and hears what it binds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "net/testing/http2_server.h"
#include "played_cluster.h"

namespace knx::storm {

class StormServer {
 public:
  struct Canary {
    std::string name;
    Time sent;
    std::optional<Time> bound;
  };
  StormServer(net::EventLoop& loop, const Recording& recording, PlayedCluster& cluster);

  [[nodiscard]] int port() const { return http_.port(); }
  // Somebody watches nodes and pods.
  [[nodiscard]] bool is_watched() const { return nodes_.has_value() && pods_.has_value(); }
  void Tell(const PlayedCluster::News& news);
  // A pod that wants a node; those that have one are there for some seconds.
  void SendCanary();
  [[nodiscard]] const std::vector<Canary>& canaries() const { return canaries_; }
  // Events and conditions that it wrote.
  [[nodiscard]] std::int64_t remarks() const { return remarks_; }
  // What no scheduler should have asked for.
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  using Asked = net::testing::Http2Server::Asked;
  void OnAsked(const Asked& asked);
  void OnWatch(const Asked& asked, std::string_view path);
  void OnBinding(const Asked& asked);
  void Bound(std::size_t number, int node);

  net::EventLoop& loop_;
  const Recording& recording_;
  PlayedCluster& cluster_;
  std::optional<Asked> nodes_, pods_;  // the first ones who watch them
  std::vector<Canary> canaries_;
  std::int64_t remarks_ = 0;
  std::vector<std::string> wrong_;
  net::testing::Http2Server http_;
};

}  // namespace knx::storm
