// Events about pods and about what else people write for the scheduler, for people. A repeat of one
// is counted in it instead of being written again, and the count is written seldom: at 2, 4, 8 and
// so on, and after a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "client/api_client.h"
#include "client/pod_writer.h"

namespace knx::client {

struct PodEvent {
  PodName regarding;
  std::string api_version = "v1", kind = "Pod";  // of `regarding`, whose name need not be a pod's
  std::optional<PodName> related;
  bool warning = false;
  std::string reason, action, note;
  std::string controller, instance;  // who reports it
  Time when;
};

class EventRecorder {
 public:
  using Done = std::function<void(const Status& outcome)>;

  // Where a server takes no events they are not kept without end: so many of them wait at most, and
  // what comes then is left out.
  static constexpr std::size_t kMostWaiting = 30'000;
  explicit EventRecorder(ApiClient& api, std::size_t most_waiting = kMostWaiting)
      : api_(api), most_waiting_(most_waiting) {}
  ~EventRecorder() { *alive_ = false; }
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Done once it was written, or at once if it is only counted.
  void Record(const PodEvent& event, Done done);
  // Events whose repeats would be counted.
  [[nodiscard]] std::size_t remembered() const { return by_key_.size(); }

 private:
  using Key = std::size_t;
  struct Series {
    Key key = 0;
    std::string name;  // of the event
    std::int64_t count = 1, written = 1;
    Time last, written_at;
    bool busy = true;  // something about it is on its way
  };

  void Create(Key key, const PodEvent& event, Done done);
  void WriteCount(Series& series, const PodEvent& event, Done done);
  void Forget(Key key);
  [[nodiscard]] Series* Find(Key key, const std::string& name);

  ApiClient& api_;
  std::size_t most_waiting_;
  std::uint64_t made_ = 0;
  std::list<Series> series_;  // the one that was longest silent first
  std::map<Key, std::list<Series>::iterator> by_key_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
