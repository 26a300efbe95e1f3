#include "client/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace knx::client {
namespace {

Error SystemError(std::string_view what, int code) {
  std::string message =
      what.empty() ? std::strerror(code) : fmt::format("{}: {}", what, std::strerror(code));
  return {code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kUnavailable, std::move(message), {}};
}

// Our environment with that of the command in front of it: of a name that is there twice, the last
// one counts.
std::vector<std::string> MakeEnvironment(const ChildCommand& command) {
  std::vector<std::string> all;
  const auto add = [&](std::string entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(all, [&](const std::string& other) { return other.starts_with(name); });
    all.push_back(std::move(entry));
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strchr(*entry, '=') != nullptr) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.env) add(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What posix_spawn is told, freed at the end.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0, or an error.
  int Fill(int output, int error) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    return code;
  }
};

}  // namespace

ChildProcess::Descriptor& ChildProcess::Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void ChildProcess::Descriptor::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<ChildProcess::Pipe> ChildProcess::MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("pipe", errno);
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  // Only our end: the program does not expect to be told to come back later.
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return SystemError("pipe", errno);
  return pipe;
}

Status ChildProcess::Spawn(const ChildCommand& command, const Pipe& output, const Pipe& error) {
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.args.begin(), command.args.end());
  std::vector<std::string> environment = MakeEnvironment(command);
  const std::vector<char*> argv = PointersTo(arguments);
  const std::vector<char*> envp = PointersTo(environment);
  SpawnPlan plan;
  int code = plan.Fill(output.write.get(), error.write.get());
  // Not fork: the memory of a scheduler is large, and copying its page tables stops it for as long.
  if (code == 0) {
    code = ::posix_spawnp(&pid_, command.program.c_str(), &plan.actions, &plan.attributes,
                          argv.data(), envp.data());
  }
  if (code == 0) return Ok();
  pid_ = -1;
  return SystemError("", code);
}

Status ChildProcess::Watch(Duration timeout) {
  ended_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (ended_.get() < 0) return SystemError("pidfd_open", errno);
  ::fcntl(ended_.get(), F_SETFD, FD_CLOEXEC);
  timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (timer_.get() < 0) return SystemError("timerfd_create", errno);
  constexpr std::int64_t kSecond = 1'000'000'000;
  itimerspec at = {};
  const std::int64_t ns = std::max<std::int64_t>(timeout.ns, 1);  // 0 would mean never
  at.it_value = {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
  if (::timerfd_settime(timer_.get(), 0, &at, nullptr) != 0) {
    return SystemError("timerfd_settime", errno);
  }
  for (const Descriptor* descriptor : {&ended_, &timer_, &output_, &error_}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = descriptor->get();
    if (::epoll_ctl(watch_.get(), EPOLL_CTL_ADD, descriptor->get(), &event) != 0) {
      return SystemError("epoll_ctl", errno);
    }
  }
  return Ok();
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildCommand& command) {
  std::unique_ptr<ChildProcess> process(new ChildProcess);
  KNX_TRY(Pipe output, MakePipe());
  KNX_TRY(Pipe error, MakePipe());
  process->watch_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (process->watch_.get() < 0) return SystemError("epoll_create1", errno);
  KNX_TRY_DONE(process->Spawn(command, output, error));
  process->output_ = std::move(output.read);
  process->error_ = std::move(error.read);
  KNX_TRY_DONE(process->Watch(command.timeout));
  return process;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::Drain(Descriptor& from, std::string& into, bool keep_tail) {
  std::array<char, 16384> chunk;
  // Bounded, so that a program that never stops printing does not keep us here.
  for (int i = 0; i < 64 && from.get() >= 0; ++i) {
    const ssize_t got = ::read(from.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // nothing more for now
    if (got == 0) return from.Close();
    into.append(chunk.data(), static_cast<std::size_t>(got));
    if (keep_tail && into.size() > kMaxChildErrorTail) {
      into.erase(0, into.size() - kMaxChildErrorTail);
    }
    if (!keep_tail && into.size() > kMaxChildOutput) return Kill(ChildOutcome::End::kTooMuchOutput);
  }
}

void ChildProcess::Kill(ChildOutcome::End why) {
  if (killed_) return;
  killed_ = true;
  outcome_.end = why;
  ::kill(-pid_, SIGKILL);
  // Nothing that still comes counts, and who escaped from the group may hold the other ends.
  timer_.Close();
  output_.Close();
  error_.Close();
}

void ChildProcess::Reap() {
  siginfo_t info = {};
  // Left as it is at first: as long as it is not reaped, its number belongs to nobody else.
  const int found = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (found == 0 && info.si_pid == 0) return;  // still running
  // All it has written is in the pipes now; what its own children still write is not waited for.
  Drain(output_, outcome_.output, false);
  Drain(error_, outcome_.error_tail, true);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  if (killed_) return;
  outcome_.end =
      info.si_code == CLD_EXITED ? ChildOutcome::End::kExited : ChildOutcome::End::kSignalled;
  outcome_.code = info.si_status;
}

bool ChildProcess::Poll() {
  if (pid_ < 0) return true;
  Drain(output_, outcome_.output, false);
  Drain(error_, outcome_.error_tail, true);
  Reap();
  if (pid_ < 0) return true;
  std::uint64_t expirations = 0;
  if (timer_.get() >= 0 && ::read(timer_.get(), &expirations, sizeof(expirations)) > 0) {
    Kill(ChildOutcome::End::kTimedOut);
  }
  return false;
}

void ChildProcess::Wait() {
  while (!Poll()) {
    pollfd ready = {.fd = fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, -1);
  }
}

}  // namespace knx::client
