// All nodes as the API server writes them in JSON, for extenders that keep no nodes of their own
// and have to be sent them. The scheduler itself keeps only what it decides by. They are watched as
// client::Reflector watches: where a server does not tell what is there at the begin of a watch, it
// is read by lists in pages first.
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
  void OpenWatch();
  void AskPage(const std::string& continue_token);
  void OnPage(const Result<client::Response>& response);
  void OnLine(const std::string& line);
  void OnToldAll(std::string_view version);
  void OnEnd(const Status& outcome, int status, const std::string& refusal);

  net::EventLoop& loop_;
  client::ApiClient& api_;
  Log log_;
  client::ApiClient::StreamId stream_ = 0;
  std::map<std::string, Known> known_;  // by name
  std::string version_;                 // empty: everything must be told
  bool telling_all_ = false, synced_ = false;
  bool paging_ = false;      // the newest attempt to be told everything is by pages
  std::uint64_t round_ = 0;  // of telling everything
  std::vector<std::function<void()>> when_synced_;
  net::Backoff backoff_{Duration::Milliseconds(200), Duration::Seconds(30)};
  net::EventLoop::TimerId retry_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::live
