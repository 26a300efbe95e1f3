// The events that the scheduler recorded about pods, equal ones counted, and how often it tried
// each pod: seen from outside, an attempt is a binding or a FailedScheduling.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/actions.h"

namespace knx::sim {

class EventBook {
 public:
  struct Entry {
    std::string pod;  // "namespace/name"
    bool warning = false;
    std::string reason, action, note, reporter;
    std::int64_t count = 0;
    Time first, last;
  };

  void Add(const engine::RecordEvent& event, Time now);
  void AddAttempt(const engine::PodRef& pod) { ++attempts_[pod.namespace_ + "/" + pod.name]; }

  // In the order in which they were first recorded.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // Of all pods that ever had that name.
  [[nodiscard]] std::int64_t AttemptsOf(const std::string& pod) const;

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::int64_t> attempts_;
};

}  // namespace knx::sim
