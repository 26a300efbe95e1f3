#include "client/child_process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "client/testing/files.h"

namespace knx::client {
namespace {

using ::testing::EndsWith;
using testing::TemporaryFolder;
using End = ChildOutcome::End;

ChildOutcome RunShell(std::string_view script, Duration timeout = Duration::Seconds(60)) {
  auto process = ChildProcess::Start({"sh", {"-c", std::string(script)}, {}, timeout});
  EXPECT_TRUE(process.ok()) << process.error().message;
  if (!process.ok()) return {};
  (*process)->Wait();
  return (*process)->outcome();
}

bool ReadableWithin(int fd, int milliseconds) {
  pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, milliseconds) == 1;
}

TEST(ChildProcess, GivesOutputComplaintsAndExitCode) {
  struct Case {
    std::string_view script;
    End end;
    int code;
    std::string_view output, error_tail;
  };
  const Case cases[] = {
      {"echo out; echo err >&2", End::kExited, 0, "out\n", "err\n"},
      {"exit 3", End::kExited, 3, "", ""},
      {"kill -TERM $$", End::kSignalled, SIGTERM, "", ""},
      {"cat; echo done", End::kExited, 0, "done\n", ""},  // standard input is empty
      {"echo $PPID >/dev/null; trap '' PIPE; echo ok", End::kExited, 0, "ok\n", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.script);
    const ChildOutcome outcome = RunShell(c.script);
    EXPECT_EQ(outcome.end, c.end);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.output, c.output);
    EXPECT_EQ(outcome.error_tail, c.error_tail);
  }
}

TEST(ChildProcess, TakesMoreThanAPipeHoldsAndTheTailOfComplaints) {
  const ChildOutcome outcome = RunShell(
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789012345678; "
      "echo complaint $i >&2; i=$((i+1)); done");
  EXPECT_EQ(outcome.end, End::kExited);
  EXPECT_EQ(outcome.output.size(), 150'000U);
  EXPECT_EQ(outcome.error_tail.size(), kMaxChildErrorTail);
  EXPECT_THAT(outcome.error_tail, EndsWith("complaint 2998\ncomplaint 2999\n"));
}

TEST(ChildProcess, IsEndedWhenItPrintsTooMuchOrTakesTooLong) {
  EXPECT_EQ(RunShell("while :; do echo 0123456789012345678901234567890123456789; done").end,
            End::kTooMuchOutput);
  const ChildOutcome slow = RunShell("echo waiting >&2; sleep 100", Duration::Milliseconds(200));
  EXPECT_EQ(slow.end, End::kTimedOut);
  EXPECT_EQ(slow.error_tail, "waiting\n");
  EXPECT_EQ(RunShell("trap '' TERM INT HUP; sleep 100", Duration::Milliseconds(50)).end,
            End::kTimedOut);
}

TEST(ChildProcess, IsNotWaitedForByWhatItLeavesBehind) {
  const ChildOutcome outcome = RunShell("sleep 3 & echo out");
  EXPECT_EQ(outcome.end, End::kExited);
  EXPECT_EQ(outcome.output, "out\n");
}

TEST(ChildProcess, GetsOurEnvironmentAndItsOwn) {
  ::setenv("KNX_CHILD_TEST_OURS", "ours", 1);
  ::setenv("KNX_CHILD_TEST_BOTH", "ours", 1);
  auto process = ChildProcess::Start(
      {"sh",
       {"-c", "echo $KNX_CHILD_TEST_OURS $KNX_CHILD_TEST_BOTH $KNX_CHILD_TEST_NEW; echo \"$@\"",
        "sh", "a b", "$c"},
       {{"KNX_CHILD_TEST_BOTH", "first"},
        {"KNX_CHILD_TEST_BOTH", "its"},
        {"KNX_CHILD_TEST_NEW", "a=b c"}},
       Duration::Seconds(60)});
  ASSERT_TRUE(process.ok());
  (*process)->Wait();
  EXPECT_EQ((*process)->outcome().output, "ours its a=b c\na b $c\n");
  ::unsetenv("KNX_CHILD_TEST_OURS");
  ::unsetenv("KNX_CHILD_TEST_BOTH");
}

TEST(ChildProcess, SaysWhyItCannotBeStarted) {
  const TemporaryFolder folder;
  const auto missing = ChildProcess::Start({folder.path() + "/gone", {}, {}, {}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().message, "No such file or directory");
  const auto no_program = ChildProcess::Start({folder.Write("text", "x"), {}, {}, {}});
  ASSERT_FALSE(no_program.ok());
  EXPECT_EQ(no_program.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(no_program.error().message, "Permission denied");
}

TEST(ChildProcess, CanBeWatchedWithoutWaiting) {
  const TemporaryFolder folder;
  const std::string go = folder.path() + "/go";
  auto process = ChildProcess::Start(
      {"sh",
       {"-c", fmt::format("while [ ! -e {} ]; do sleep 0.01; done; echo out", go)},
       {},
       Duration::Seconds(60)});
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE((*process)->Poll());
  EXPECT_FALSE(ReadableWithin((*process)->fd(), 30));
  folder.Write("go", "");
  while (!(*process)->Poll()) {
    ASSERT_TRUE(ReadableWithin((*process)->fd(), 60'000));
  }
  EXPECT_EQ((*process)->outcome().output, "out\n");
  EXPECT_TRUE((*process)->Poll());  // and once more does no harm
}

TEST(ChildProcess, LeavesNothingBehindWhenItIsNoLongerWanted) {
  const TemporaryFolder folder;
  const std::string ids = folder.path() + "/ids";
  auto process = ChildProcess::Start(
      {"sh",
       {"-c", fmt::format("sleep 100 & echo $! > {0}.new; mv {0}.new {0}; wait", ids)},
       {},
       Duration::Seconds(60)});
  ASSERT_TRUE(process.ok());
  while (!std::filesystem::exists(ids)) ::usleep(1000);
  int grandchild = 0;
  std::ifstream(ids) >> grandchild;
  ASSERT_GT(grandchild, 0);
  process->reset();
  // It belongs to init now, which may take a moment to notice.
  for (int i = 0; i < 1000 && ::kill(grandchild, 0) == 0; ++i) {
    std::string state;
    std::string name;
    int pid = 0;
    std::ifstream(fmt::format("/proc/{}/stat", grandchild)) >> pid >> name >> state;
    if (state == "Z" || state.empty()) return;
    ::usleep(1000);
  }
  EXPECT_NE(::kill(grandchild, 0), 0);
}

}  // namespace
}  // namespace knx::client
