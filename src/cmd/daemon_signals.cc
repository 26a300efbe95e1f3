#include "cmd/daemon_signals.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>

namespace knx::cmd {
namespace {

// The signals become something that can be waited for. Gives the descriptor, which is a new one
// where -1 is given; negative: there is none.
int Divert(int descriptor, std::initializer_list<int> which) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : which) sigaddset(&signals, signal);
  const int out = signalfd(descriptor, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (out >= 0) sigprocmask(SIG_BLOCK, &signals, nullptr);
  return out;
}

}  // namespace

Result<std::unique_ptr<DaemonSignals>> DaemonSignals::Catch() {
  const int descriptor = Divert(-1, {SIGTERM, SIGINT});
  if (descriptor < 0) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("signals cannot be waited for: {}", std::strerror(errno)),
                 {}};
  }
  std::signal(SIGUSR2, SIG_IGN);
  return std::unique_ptr<DaemonSignals>(new DaemonSignals(descriptor));
}

void DaemonSignals::CatchAll() {
  Divert(descriptor_, {SIGTERM, SIGINT, SIGUSR2});
  std::signal(SIGUSR2, SIG_DFL);
}

DaemonSignals::~DaemonSignals() { close(descriptor_); }

int DaemonSignals::Take() {
  signalfd_siginfo which{};
  if (read(descriptor_, &which, sizeof(which)) != sizeof(which)) return 0;
  return static_cast<int>(which.ssi_signo);
}

}  // namespace knx::cmd
