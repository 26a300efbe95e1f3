// Ctrl-C ends a run early and in order; a second one ends the program at once.
#pragma once

namespace knx::cmd {

// While it lives, SIGINT and SIGTERM are noted instead of ending the program. One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // The signal that came; 0: none.
  [[nodiscard]] static int signal();
};

}  // namespace knx::cmd
