#include "cmd/interrupt.h"

#include <csignal>

namespace knx::cmd {
namespace {

volatile std::sig_atomic_t g_signal = 0;

extern "C" void NoteSignal(int number) { g_signal = number; }

}  // namespace

InterruptWatch::InterruptWatch() {
  g_signal = 0;
  struct sigaction action{};
  action.sa_handler = NoteSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one is not caught
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptWatch::signal() { return g_signal; }

}  // namespace knx::cmd
