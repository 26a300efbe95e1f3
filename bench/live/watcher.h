// Sees from outside what a scheduler does: when each pod was bound, and how many of its events can
// be read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/time.h"
#include "client/api_client.h"
#include "client/reflector.h"
#include "net/event_loop.h"

namespace knx::bench {

class Watcher {
 public:
  struct Callbacks {
    std::function<void()> watching;
    // A pod was bound, or an event came.
    std::function<void()> news;
    std::function<void(std::string_view)> trouble;
  };
  Watcher(net::EventLoop& loop, client::ApiClient& api, Callbacks callbacks);
  ~Watcher();

  // When a pod was first seen with a node.
  [[nodiscard]] const std::map<std::string, Time>& bound() const { return bound_; }
  [[nodiscard]] int events() const { return events_; }

 private:
  class EventLines;

  client::ApiClient& api_;
  Callbacks callbacks_;
  std::map<std::string, Time> bound_;
  int events_ = 0;
  std::unique_ptr<client::Reflector> pods_;
  client::ApiClient::StreamId stream_ = 0;
};

}  // namespace knx::bench
