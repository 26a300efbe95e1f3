#include "net/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "net/backoff.h"
#include "net/testing/run_until.h"

namespace knx::net {
namespace {

using testing::RunUntil;

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void Fill() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  std::array<int, 2> ends{};
};

TEST(EventLoop, FiresTimersInOrderOfTimeAndThoseOfOneTimeInOrderOfAsking) {
  EventLoop loop;
  std::string order;
  loop.After(Duration::Milliseconds(20), [&] { order += 'c'; });
  loop.After(Duration::Milliseconds(1), [&] { order += 'a'; });
  const auto cancelled = loop.After(Duration::Milliseconds(2), [&] { order += 'x'; });
  loop.After(Duration::Seconds(-5), [&] {
    order += '0';
    loop.Cancel(cancelled);
  });
  loop.After(Duration::Milliseconds(30), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(order, "0ac");
}

TEST(EventLoop, LooksLessOftenWhileSomebodyIsBusy) {
  EventLoop loop;
  const Pipe pipe;
  pipe.Fill();
  int left = 0;
  loop.Watch(pipe.ends[0], kReadable, [&](std::uint32_t) {
    if (--left == 0) loop.Stop();
  });
  const auto time_for = [&](int looks) {
    left = looks;
    const Time began = EventLoop::Now();
    loop.Run();
    return EventLoop::Now() - began;
  };
  loop.BeginBusy();
  EXPECT_GE(time_for(5), Duration::Milliseconds(20));
  loop.EndBusy();
  EXPECT_LT(time_for(1000), Duration::Seconds(4));
  loop.Unwatch(pipe.ends[0]);
}

TEST(EventLoop, ATimerFartherAwayThanTimeItselfDoesNotOverflow) {
  EventLoop loop;
  const auto never = loop.After(Duration{INT64_MAX}, [] { FAIL(); });
  EXPECT_EQ(never.when, kNever);
  loop.After({}, [&] { loop.Stop(); });
  loop.Run();
}

TEST(EventLoop, ATimerMayCancelTheNextOne) {
  EventLoop loop;
  EventLoop::TimerId second;
  loop.After({}, [&] { loop.Cancel(second); });
  second = loop.After({}, [] { FAIL(); });
  loop.After(Duration::Milliseconds(1), [&] { loop.Stop(); });
  loop.Run();
}

TEST(EventLoop, DoesWhatOtherThreadsPostInTheirOrder) {
  EventLoop loop;
  std::vector<int> got;
  constexpr int kCount = 1000;
  std::thread other([&loop, &got] {
    for (int i = 0; i < kCount; ++i) loop.Post([&got, i] { got.push_back(i); });
    loop.Stop();
  });
  loop.Run();
  other.join();
  ASSERT_EQ(got.size(), kCount);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
}

TEST(EventLoop, WhatTheLoopPostsItselfWaitsForItsTurnAndStarvesNobody) {
  EventLoop loop;
  std::string order;
  bool ended = false;
  std::function<void()> again = [&] {
    if (!ended) loop.Post(again);
  };
  loop.After({}, [&] {
    loop.Post([&] { order += 'b'; });
    loop.Post([&] { order += 'c'; });
    loop.Post(again);
    order += 'a';
  });
  const Pipe pipe;
  loop.Watch(pipe.ends[0], kReadable, [&](std::uint32_t) {
    loop.Unwatch(pipe.ends[0]);
    order += 'd';
    ended = true;
    loop.Stop();
  });
  loop.After(Duration::Milliseconds(1), [&] { pipe.Fill(); });
  loop.Run();
  EXPECT_EQ(order, "abcd");
}

TEST(EventLoop, AnInboxMayOutliveItsLoop) {
  std::shared_ptr<Inbox> inbox;
  {
    const EventLoop loop;
    inbox = loop.inbox();
  }
  inbox->Post([] { FAIL(); });
}

TEST(EventLoop, AWatchMayEndItselfAndOthers) {
  EventLoop loop;
  const Pipe first, second;
  first.Fill();
  second.Fill();
  int calls = 0;
  for (const Pipe* pipe : {&first, &second}) {
    loop.Watch(pipe->ends[0], kReadable, [&](std::uint32_t ready) {
      EXPECT_NE(ready & kReadable, 0U);
      ++calls;
      loop.Unwatch(first.ends[0]);
      loop.Unwatch(second.ends[0]);
    });
  }
  loop.After(Duration::Milliseconds(20), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, ADescriptorThatIsUsedAgainDoesNotHearOfTheOldOne) {
  EventLoop loop;
  Pipe first, second;
  const Pipe third;  // nobody writes to it
  first.Fill();
  second.Fill();
  bool closed = false;
  const auto close_the_other = [&](const Pipe& other) {
    if (std::exchange(closed, true)) return;
    // Both were ready in the same round. The other's number now means something else.
    loop.Unwatch(other.ends[0]);
    ASSERT_EQ(dup2(third.ends[0], other.ends[0]), other.ends[0]);
    loop.Watch(other.ends[0], kReadable, [](std::uint32_t) { FAIL() << "of the old one"; });
    loop.After(Duration::Milliseconds(20), [&] { loop.Stop(); });
  };
  loop.Watch(first.ends[0], kReadable, [&](std::uint32_t) {
    loop.Unwatch(first.ends[0]);
    close_the_other(second);
  });
  loop.Watch(second.ends[0], kReadable, [&](std::uint32_t) {
    loop.Unwatch(second.ends[0]);
    close_the_other(first);
  });
  loop.Run();
  EXPECT_TRUE(closed);
}

TEST(EventLoop, TellsThatTheOtherSideIsGone) {
  EventLoop loop;
  Pipe pipe;
  close(pipe.ends[1]);
  std::uint32_t got = 0;
  loop.Watch(pipe.ends[0], kReadable, [&](std::uint32_t ready) {
    got = ready;
    loop.Unwatch(pipe.ends[0]);
  });
  EXPECT_TRUE(RunUntil(loop, [&] { return got != 0; }));
  EXPECT_NE(got & kBroken, 0U);
  pipe.ends[1] = -1;
}

TEST(Backoff, GrowsToItsLimitAndNeverToNothing) {
  Backoff backoff(Duration::Milliseconds(100), Duration::Seconds(5));
  for (int i = 0; i < 100; ++i) {
    const Duration pause = backoff.Next();
    EXPECT_GE(pause, Duration::Milliseconds(50));
    EXPECT_LE(pause, Duration::Seconds(5));
    if (i > 6) {
      EXPECT_GE(pause, Duration::Milliseconds(2500));
    }
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(), Duration::Milliseconds(100));
}

TEST(EventLoop, WhereNoDescriptorsAreLeftThatIsAnError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest = dup(STDERR_FILENO);
  ASSERT_GE(lowest, 0);
  close(lowest);
  // Room for none, then for one of the two.
  for (const int more : {0, 1}) {
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(lowest + more);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto loop = EventLoop::Make();
    setrlimit(RLIMIT_NOFILE, &before);
    ASSERT_FALSE(loop.ok());
    EXPECT_EQ(loop.error().message, "no event loop: Too many open files");
  }
  EXPECT_TRUE(EventLoop::Make().ok());
  const int again = dup(STDERR_FILENO);
  EXPECT_EQ(again, lowest) << "a descriptor was left open";
  close(again);
}

}  // namespace
}  // namespace knx::net
