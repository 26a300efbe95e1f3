#include "sim/event_warnings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::sim {
namespace {

using ::testing::ElementsAre;

engine::RecordEvent Event(const std::string& pod, bool warning, const std::string& reason,
                          const std::string& note) {
  return {{"default", pod, "uid-" + pod}, warning, reason, "Scheduling", note, "s", std::nullopt};
}

TEST(WarningsIn, NamesWhatWasSaidOnceForAllPods) {
  EventBook events;
  events.Add(Event("a", true, "PodGroupIgnored", "no minimum"), {});
  events.Add(Event("b", true, "PodGroupIgnored", "no minimum"), {});
  events.Add(Event("b", true, "PodGroupIgnored", "no minimum"), {});
  events.Add(Event("c", false, "Scheduled", "on a node"), {});
  events.Add(Event("d", true, "FailedScheduling", "no node"), {});
  events.Add(Event("d", true, "PodGroupConflict", "two things"), {});
  EXPECT_THAT(WarningsIn(events),
              ElementsAre("pod default/a and 1 more: PodGroupIgnored: no minimum",
                          "pod default/d: PodGroupConflict: two things"));
}

TEST(WarningsIn, NamesNoMoreThanAPersonReads) {
  EventBook events;
  for (int i = 0; i < 20; ++i) {
    events.Add(Event("a", true, "PodGroupConflict", fmt::format("thing {}", i)), {});
  }
  const auto said = WarningsIn(events);
  ASSERT_EQ(said.size(), 9U);
  EXPECT_EQ(said.back(), "12 more warnings of events, which --log gives");
}

}  // namespace
}  // namespace knx::sim
