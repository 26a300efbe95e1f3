#include "oracle_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace knx::parity {
namespace {

Error Failed(std::string_view what) {
  return InvalidError(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

Result<OracleProcess> OracleProcess::Start(const std::string& program) {
  if (access(program.c_str(), X_OK) != 0) {
    return InvalidError(fmt::format("{} is not there: make oracle builds it", program));
  }
  signal(SIGPIPE, SIG_IGN);
  int requests[2];
  int answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) return Failed("pipe");
  const int pid = fork();
  if (pid < 0) return Failed("fork");
  if (pid == 0) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(requests[0]);
  close(answers[1]);
  return OracleProcess(pid, requests[1], answers[0]);
}

OracleProcess::OracleProcess(OracleProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      read_(std::move(other.read_)) {}

OracleProcess::~OracleProcess() {
  if (pid_ < 0) return;
  close(input_);  // it ends by itself when its input does
  close(output_);
  waitpid(pid_, nullptr, 0);
}

Status OracleProcess::Send(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(input_, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("the oracle no longer reads");
    sent += static_cast<std::size_t>(n);
  }
  return Ok();
}

Result<std::string> OracleProcess::Receive() {
  for (;;) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    char buffer[65536];
    const ssize_t n = read(output_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("reading from the oracle");
    if (n == 0) return InvalidError("the oracle ended without an answer");
    read_.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace knx::parity
