#include "sim/event_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "k8s/names.h"

namespace knx::sim {

std::vector<std::string> WarningsIn(const EventBook& events) {
  constexpr std::size_t kMostSaid = 8;
  struct Said {
    const EventBook::Entry* first = nullptr;
    std::size_t pods = 0;
  };
  std::vector<Said> all;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  for (const EventBook::Entry& entry : events.entries()) {
    if (!entry.warning || entry.reason == k8s::names::kEventFailedScheduling) continue;
    const auto [at, is_new] = known.try_emplace({entry.reason, entry.note}, all.size());
    if (is_new) all.push_back({&entry, 0});
    ++all[at->second].pods;
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(all.size(), kMostSaid); ++i) {
    const std::string more = all[i].pods == 1 ? "" : fmt::format(" and {} more", all[i].pods - 1);
    out.push_back(fmt::format("pod {}{}: {}: {}", all[i].first->pod, more, all[i].first->reason,
                              all[i].first->note));
  }
  if (all.size() > kMostSaid) {
    out.push_back(
        fmt::format("{} of events, which --log gives",
                    FormatCount(all.size() - kMostSaid, "more warning", "more warnings")));
  }
  return out;
}

}  // namespace knx::sim
