// Drives a loop from a test: until something holds, and never for long.
#pragma once

#include <functional>

#include "net/event_loop.h"

namespace knx::net::testing {

class Poller {
 public:
  Poller(EventLoop& loop, const std::function<bool()>& holds, Duration limit)
      : loop_(loop), holds_(holds), end_(EventLoop::Now() + limit) {}

  bool Run() {
    Look();
    loop_.Run();
    loop_.Cancel(next_);
    return held_;
  }

 private:
  void Look() {
    held_ = holds_();
    if (held_ || EventLoop::Now() >= end_) return loop_.Stop();
    next_ = loop_.After(Duration::Milliseconds(1), [this] { Look(); });
  }

  EventLoop& loop_;
  const std::function<bool()>& holds_;
  Time end_;
  bool held_ = false;
  EventLoop::TimerId next_;
};

// Whether it held before the limit was over.
inline bool RunUntil(EventLoop& loop, const std::function<bool()>& holds,
                     Duration limit = Duration::Seconds(10)) {
  return Poller(loop, holds, limit).Run();
}

inline void RunFor(EventLoop& loop, Duration time) {
  RunUntil(loop, [] { return false; }, time);
}

}  // namespace knx::net::testing
