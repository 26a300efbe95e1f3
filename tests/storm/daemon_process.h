// kubenexus-scheduler as a process of its own, and what it costs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace knx::storm {

// What a process has had so far.
struct Usage {
  std::int64_t resident_bytes = 0;
  Duration on_cpu;
  Duration waited;  // it could have run, but others had the processors
};
Usage UsageOf(pid_t process);

// In a folder of its own, which is removed with it.
class DaemonProcess {
 public:
  // Its API server listens at this port of loopback.
  DaemonProcess(const std::string& program, int port);
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  [[nodiscard]] Usage usage() const { return UsageOf(pid_); }
  void Signal(int signal) const;
  // Its exit code, 128 and more for a signal; nothing: it runs.
  [[nodiscard]] std::optional<int> exit_code();
  // Everything that it has logged.
  [[nodiscard]] std::string log() const;

 private:
  std::string folder_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace knx::storm
