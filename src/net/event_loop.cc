#include "net/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/check.h"

namespace knx::net {
namespace {

constexpr std::size_t kEventsAtOnce = 64;
constexpr int kNumberShift = 32;
constexpr Duration kRoundWhileBusy = Duration::Milliseconds(5);

std::uint32_t ToEpoll(std::uint32_t readiness) {
  return ((readiness & kReadable) != 0 ? std::uint32_t{EPOLLIN} : 0U) |
         ((readiness & kWritable) != 0 ? std::uint32_t{EPOLLOUT} : 0U);
}

std::uint32_t FromEpoll(std::uint32_t events) {
  return ((events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP)) != 0 ? std::uint32_t{kReadable} : 0U) |
         ((events & EPOLLOUT) != 0 ? std::uint32_t{kWritable} : 0U) |
         ((events & (EPOLLERR | EPOLLHUP)) != 0 ? std::uint32_t{kBroken} : 0U);
}

}  // namespace

Inbox::~Inbox() { close(wake_); }

void Inbox::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof(one));
}

std::vector<std::function<void()>> Inbox::Take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = read(wake_, &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::exchange(posted_, {});
}

Result<EventLoop::Descriptors> EventLoop::OpenDescriptors() {
  const auto complaint = [] {
    return Error{
        ErrorKind::kUnavailable, fmt::format("no event loop: {}", std::strerror(errno)), {}};
  };
  Descriptors out;
  out.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (out.epoll < 0) return complaint();
  out.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (out.wake >= 0) return out;
  const Error error = complaint();
  close(out.epoll);
  return error;
}

Result<std::unique_ptr<EventLoop>> EventLoop::Make() {
  KNX_TRY(const Descriptors descriptors, OpenDescriptors());
  return std::unique_ptr<EventLoop>(new EventLoop(descriptors));
}

EventLoop::EventLoop(const Descriptors& descriptors)
    : epoll_(descriptors.epoll), inbox_(std::make_shared<Inbox>(descriptors.wake)) {
  // Who writes to a connection that the other side has closed is told so by an error.
  std::signal(SIGPIPE, SIG_IGN);
  Watch(inbox_->descriptor(), kReadable, [this](std::uint32_t) {
    for (const auto& work : inbox_->Take()) work();
  });
}

EventLoop::~EventLoop() { close(epoll_); }

void EventLoop::Watch(int descriptor, std::uint32_t readiness, Ready ready) {
  watched_[descriptor] = {++last_watch_, std::make_shared<Ready>(std::move(ready))};
  Tell(EPOLL_CTL_ADD, descriptor, readiness);
}

void EventLoop::Change(int descriptor, std::uint32_t readiness) {
  if (watched_.contains(descriptor)) Tell(EPOLL_CTL_MOD, descriptor, readiness);
}

void EventLoop::Tell(int operation, int descriptor, std::uint32_t readiness) {
  epoll_event event{};
  event.events = ToEpoll(readiness);
  event.data.u64 = std::uint64_t{watched_[descriptor].number} << kNumberShift |
                   static_cast<std::uint32_t>(descriptor);
  epoll_ctl(epoll_, operation, descriptor, &event);
}

void EventLoop::Unwatch(int descriptor) {
  if (watched_.erase(descriptor) == 0) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

Time EventLoop::Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Time{} + Duration::Seconds(now.tv_sec) + Duration::Nanoseconds(now.tv_nsec);
}

EventLoop::TimerId EventLoop::After(Duration wait, std::function<void()> work) {
  const Time now = Now();
  const Duration longest = kNever - now;
  const TimerId id{now + std::clamp(wait, Duration{}, longest), ++last_timer_};
  timers_.emplace(id, std::move(work));
  return id;
}

void EventLoop::Cancel(TimerId timer) { timers_.erase(timer); }

void EventLoop::Post(std::function<void()> work) {
  if (thread_ == std::this_thread::get_id()) {
    own_posts_.push_back(std::move(work));
  } else {
    inbox_->Post(std::move(work));
  }
}

// What is posted meanwhile waits for the next round, so that sockets get their turn.
void EventLoop::DoPosted() {
  for (const auto& work : std::exchange(own_posts_, {})) work();
}

void EventLoop::Stop() {
  Post([this] { stopped_ = true; });
}

void EventLoop::FireTimers() {
  const Time now = Now();
  while (!timers_.empty() && timers_.begin()->first.when <= now) {
    const auto timer = timers_.extract(timers_.begin());
    timer.mapped()();
  }
}

int EventLoop::WaitMilliseconds() const {
  if (!own_posts_.empty()) return 0;
  if (timers_.empty()) return -1;
  const std::int64_t ns = (timers_.begin()->first.when - Now()).ns;
  constexpr std::int64_t kMillisecond = 1'000'000;
  return static_cast<int>(
      std::clamp<std::int64_t>((ns + kMillisecond - 1) / kMillisecond, 0, INT_MAX));
}

void EventLoop::Rest(Time since) const {
  const Duration left = since + kRoundWhileBusy - Now();
  if (left <= Duration{}) return;
  const timespec wait{.tv_sec = 0, .tv_nsec = left.ns};
  nanosleep(&wait, nullptr);
}

void EventLoop::Run() {
  stopped_ = false;
  thread_ = std::this_thread::get_id();
  std::array<epoll_event, kEventsAtOnce> events;
  while (!stopped_) {
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), WaitMilliseconds());
    KNX_CHECK(count >= 0 || errno == EINTR, "the event loop cannot wait");
    const Time began = Now();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const auto found = watched_.find(static_cast<int>(event.data.u64 & UINT32_MAX));
      // What came before in this round may have closed it, and opened another of the same number.
      const bool same =
          found != watched_.end() && found->second.number == event.data.u64 >> kNumberShift;
      if (!same) continue;
      const std::shared_ptr<Ready> ready = found->second.ready;
      (*ready)(FromEpoll(event.events));
    }
    FireTimers();
    DoPosted();
    if (busy_ > 0 && own_posts_.empty() && !stopped_) Rest(began);
  }
  thread_ = std::thread::id{};
}

}  // namespace knx::net
