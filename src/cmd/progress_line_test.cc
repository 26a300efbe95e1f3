#include "cmd/progress_line.h"

#include <gtest/gtest.h>

namespace knx::cmd {
namespace {

using std::chrono::milliseconds;

constexpr ProgressLine::Clock::time_point kStart{};

sim::SimulationProgress SomeProgress() {
  sim::SimulationProgress progress;
  progress.now = Duration::Seconds(3750);
  progress.nodes = 40;
  progress.created = 512;
  progress.placed = 498;
  progress.waiting = 14;
  return progress;
}

TEST(ProgressLine, SaysTheTimeAndHowPodsStand) {
  EXPECT_EQ(FormatProgress(SomeProgress()),
            "1h02m30s  40 nodes  512 pods created  498 placed  14 waiting");
}

TEST(ProgressLine, IsWrittenTenTimesASecondAtMost) {
  ProgressLine line(100);
  EXPECT_TRUE(line.Next(SomeProgress(), kStart).has_value());
  int written = 0;
  for (int ms = 1; ms <= 1000; ++ms) {
    if (line.Next(SomeProgress(), kStart + milliseconds(ms)).has_value()) ++written;
  }
  EXPECT_EQ(written, 10);
}

TEST(ProgressLine, NeverFillsTheLineSoThatItCanBeErased) {
  ProgressLine line(20);
  EXPECT_EQ(line.Next(SomeProgress(), kStart), "\r\x1b[K1h02m30s  40 nodes ");
  ProgressLine none(0);
  EXPECT_EQ(none.Next(SomeProgress(), kStart), "\r\x1b[K");
}

TEST(ProgressLine, ErasesOnlyWhatWasWritten) {
  ProgressLine line(100);
  EXPECT_EQ(line.Erase(), "");
  (void)line.Next(SomeProgress(), kStart);
  EXPECT_EQ(line.Erase(), "\r\x1b[K");
}

}  // namespace
}  // namespace knx::cmd
