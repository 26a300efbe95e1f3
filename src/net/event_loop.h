// One thread that waits for sockets, timers and messages from other threads, and calls back.
// Everything but Post() and Stop() is for that thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::net {

// What a descriptor is watched for, and what it is ready for.
enum Readiness : std::uint32_t { kReadable = 1, kWritable = 2, kBroken = 4 };

// Work for a loop, given by any thread. Outlives the loop if somebody still holds it; then what is
// put in is never done.
class Inbox {
 public:
  // Takes over an eventfd.
  explicit Inbox(int wake) : wake_(wake) {}
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void Post(std::function<void()> work);
  [[nodiscard]] std::vector<std::function<void()>> Take();
  [[nodiscard]] int descriptor() const { return wake_; }  // readable when there is something

 private:
  int wake_;
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

class EventLoop {
 public:
  // An error where the system has no descriptors left.
  static Result<std::unique_ptr<EventLoop>> Make();
  // For where it certainly has some.
  EventLoop() : EventLoop(*OpenDescriptors()) {}
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until Stop(); what is due by then is still done.
  void Run();
  // From any thread.
  void Stop();
  // From any thread: done by the loop, what one thread posts in its order.
  void Post(std::function<void()> work);
  // For threads that may outlive the loop.
  [[nodiscard]] const std::shared_ptr<Inbox>& inbox() const { return inbox_; }

  // `ready` gets a set of Readiness. It may end the watch, also by destroying who asked for it.
  using Ready = std::function<void(std::uint32_t)>;
  void Watch(int descriptor, std::uint32_t readiness, Ready ready);
  void Change(int descriptor, std::uint32_t readiness);
  void Unwatch(int descriptor);

  // A timer fires once. Time here only moves forward, whatever happens to the clock on the wall.
  struct TimerId {
    Time when;
    std::uint64_t number = 0;
    [[nodiscard]] bool valid() const { return number != 0; }
    friend auto operator<=>(const TimerId&, const TimerId&) = default;
  };
  TimerId After(Duration wait, std::function<void()> work);
  void Cancel(TimerId timer);
  [[nodiscard]] static Time Now();

  // While somebody is busy, descriptors are looked at every few milliseconds instead of at once: so
  // much is on its way then that nobody waits for a single answer, and to be woken for each costs
  // us and the other side more than to do them.
  void BeginBusy() { ++busy_; }
  void EndBusy() { --busy_; }

 private:
  struct Descriptors {
    int epoll = -1, wake = -1;
  };
  static Result<Descriptors> OpenDescriptors();
  explicit EventLoop(const Descriptors& descriptors);
  void Tell(int operation, int descriptor, std::uint32_t readiness);
  void FireTimers();
  void Rest(Time since) const;
  void DoPosted();
  [[nodiscard]] int WaitMilliseconds() const;

  int epoll_;
  std::shared_ptr<Inbox> inbox_;
  struct Watched {
    std::uint32_t number = 0;  // of the watch: a descriptor is soon used again, for another one
    std::shared_ptr<Ready> ready;
  };
  std::map<int, Watched> watched_;
  std::uint32_t last_watch_ = 0;
  std::map<TimerId, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
  std::atomic<std::thread::id> thread_;           // that runs the loop
  std::vector<std::function<void()>> own_posts_;  // of that thread: nobody has to be woken for them
  bool stopped_ = false;
  int busy_ = 0;
};

}  // namespace knx::net
