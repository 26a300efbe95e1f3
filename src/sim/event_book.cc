#include "sim/event_book.h"

#include <fmt/format.h>

namespace knx::sim {

void EventBook::Add(const engine::RecordEvent& event, Time now) {
  const std::string pod = fmt::format("{}/{}", event.pod.namespace_, event.pod.name);
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", pod, event.reason, event.note, event.reporter);
  const auto [found, is_new] = index_.try_emplace(key, entries_.size());
  if (is_new) {
    entries_.push_back(
        {pod, event.warning, event.reason, event.action, event.note, event.reporter, 0, now, now});
  }
  Entry& entry = entries_[found->second];
  ++entry.count;
  entry.last = now;
}

std::int64_t EventBook::AttemptsOf(const std::string& pod) const {
  const auto found = attempts_.find(pod);
  return found == attempts_.end() ? 0 : found->second;
}

}  // namespace knx::sim
