// All nodes as the API server writes them in JSON, for extenders that keep no nodes of their own
// and have to be sent them. The scheduler itself keeps only what it decides by.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_client.h"
#include "net/backoff.h"
#include "net/event_loop.h"

namespace knx::live {

class NodeDocuments {
 public:
  using Log = std::function<void(std::string_view line)>;
  NodeDocuments(net::EventLoop& loop, client::ApiClient& api, Log log);
  ~NodeDocuments();
  NodeDocuments(const NodeDocuments&) = delete;
  NodeDocuments& operator=(const NodeDocuments&) = delete;

  // nullptr: not known, or not yet.
  [[nodiscard]] const std::string* Find(const std::string& name) const;
  // Once all nodes that were there at the beginning are known; at once if they are.
  void WhenSynced(std::function<void()> work);

 private:
  class Sink;
  struct Known {
    std::string document;
    std::uint64_t round = 0;
  };

  void Open();
  void OnLine(const std::string& line);
  void OnEnd(const Status& outcome, int status);

  net::EventLoop& loop_;
  client::ApiClient& api_;
  Log log_;
  client::ApiClient::StreamId stream_ = 0;
  std::map<std::string, Known> known_;  // by name
  std::string version_;                 // empty: everything must be told
  bool telling_all_ = false, synced_ = false;
  std::uint64_t round_ = 0;  // of telling everything
  std::vector<std::function<void()>> when_synced_;
  net::Backoff backoff_{Duration::Milliseconds(200), Duration::Seconds(30)};
  net::EventLoop::TimerId retry_;
};

}  // namespace knx::live
