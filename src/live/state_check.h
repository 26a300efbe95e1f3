// Holds what the engine knows of pods and nodes against a fresh list of the API server. What is
// different is looked at once more after a moment, since news are always on their way; what is
// still different then is reported.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/reflector.h"
#include "engine/engine.h"
#include "net/event_loop.h"

namespace knx::live {

class StateCheck {
 public:
  // Lines such as `pod default/a: the API server has it on n1, we have it on n2`. The check may be
  // destroyed from within.
  using Done = std::function<void(const std::vector<std::string>& differences)>;
  StateCheck(net::EventLoop& loop, client::ApiClient& api, const engine::Engine& engine, Done done);
  ~StateCheck();
  StateCheck(const StateCheck&) = delete;
  StateCheck& operator=(const StateCheck&) = delete;

 private:
  struct Pod {
    std::string name, node;
  };
  std::unique_ptr<client::Reflector> Follow(client::ApiClient& api, const std::string& path);
  void OnUpserted(const k8s::Object& object);
  void OnGone(const k8s::Object& object);
  void OnSynced();
  void Compare();
  [[nodiscard]] std::vector<std::string> Differences() const;
  void ListPods(std::vector<std::string>& differences) const;
  void ListNodes(std::vector<std::string>& differences) const;

  net::EventLoop& loop_;
  const engine::Engine& engine_;
  Done done_;
  std::map<std::string, Pod> pods_;  // by uid
  std::set<std::string> nodes_;
  bool looked_once_ = false;
  net::EventLoop::TimerId again_;
  std::unique_ptr<client::Reflector> pod_list_, node_list_;
};

}  // namespace knx::live
