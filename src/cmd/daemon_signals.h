// The signals that mean something to the daemon, as a descriptor that can be waited for.
#pragma once

#include <memory>

#include "base/result.h"

namespace knx::cmd {

class DaemonSignals {
 public:
  // From now on SIGTERM and SIGINT are told here and do nothing by themselves; SIGUSR2, which wants
  // an answer, does nothing at all yet.
  static Result<std::unique_ptr<DaemonSignals>> Catch();
  // From now on SIGUSR2 is told, too.
  void CatchAll();
  ~DaemonSignals();
  DaemonSignals(const DaemonSignals&) = delete;
  DaemonSignals& operator=(const DaemonSignals&) = delete;

  // Readable when one has come.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The next one; 0: none has come.
  int Take();

 private:
  explicit DaemonSignals(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace knx::cmd
