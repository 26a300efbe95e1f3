// Follows all objects of one kind: first those that are there, then every change, for good. What
// breaks is taken up again where it ended; where the server has forgotten that place, everything is
// told anew, and what is missing then has gone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"
#include "k8s/read_proto.h"
#include "net/backoff.h"
#include "net/event_loop.h"

namespace knx::client {

// Which objects: "/api/v1/pods", and of them those that a field selector leaves.
struct Collection {
  std::string path;
  std::string field_selector;
};

class Reflector {
 public:
  struct Callbacks {
    std::function<void(k8s::Object)> upserted;
    // As it was last known; of pods and nodes only their name and uid.
    std::function<void(const k8s::Object&)> gone;
    // Everything that is there has been told; also after everything was told anew.
    std::function<void()> synced;
    // Somebody should know, but it goes on.
    std::function<void(std::string_view collection, const Error&)> trouble;
  };
  Reflector(net::EventLoop& loop, ApiClient& api, Collection collection, Callbacks callbacks);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] const std::string& resource_version() const { return version_; }

 private:
  class Sink;

  void Open();
  [[nodiscard]] std::string Query() const;
  void OnFrame(std::string_view frame);
  void OnEvent(k8s::ObjectChange change);
  void OnEvent(const k8s::Bookmark& bookmark);
  void OnEvent(const k8s::ApiStatus& status);
  void OnUpserted(k8s::Object object);
  void OnDeleted(const k8s::Object& object);
  void OnInitialEnd();
  void OnBroken(const Error& error);
  void OnEnd(const Status& outcome, int status, const std::string& refusal);
  void OpenLater();

  net::EventLoop& loop_;
  ApiClient& api_;
  Collection collection_;
  Callbacks callbacks_;
  ApiClient::StreamId stream_ = 0;
  std::string version_;  // empty: everything must be told
  bool synced_ = false;
  bool telling_all_ = false;
  bool is_pods_ = false;
  std::uint64_t round_ = 0;  // of telling everything
  struct Known {
    std::string uid;
    // Nobody asks what a pod or a node was like that has gone, and there are many of them.
    std::unique_ptr<const k8s::Object> object;
    std::uint64_t round = 0;
  };
  void Forget(const std::string& key, const Known& known);
  std::map<std::string, Known> known_;  // by namespace/name
  net::Backoff backoff_{Duration::Milliseconds(200), Duration::Seconds(30)};
  bool heard_something_ = false;
  net::EventLoop::TimerId retry_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
