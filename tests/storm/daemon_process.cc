#include "daemon_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"

namespace knx::storm {
namespace {

std::string TextOf(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::string MakeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "knx-storm-XXXXXX").string();
  KNX_CHECK(mkdtemp(name.data()) != nullptr, "a test needs a folder of its own");
  return name;
}

std::string Kubeconfig(int port) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
      "contexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n"
      "clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{}'}}}}]\n"
      "users: [{{name: u, user: {{}}}}]\n",
      port);
}

}  // namespace

Usage UsageOf(pid_t process) {
  Usage out;
  std::int64_t pages = 0;
  std::istringstream(TextOf(fmt::format("/proc/{}/statm", process))) >> pages >> pages;
  out.resident_bytes = pages * sysconf(_SC_PAGESIZE);
  // Of its first thread, which does everything.
  std::istringstream(TextOf(fmt::format("/proc/{}/schedstat", process))) >> out.on_cpu.ns >>
      out.waited.ns;
  return out;
}

DaemonProcess::DaemonProcess(const std::string& program, int port) : folder_(MakeFolder()) {
  const std::string kubeconfig = folder_ + "/kubeconfig", log = folder_ + "/log";
  std::ofstream(kubeconfig) << Kubeconfig(port);
  const std::string flag = "--kubeconfig=" + kubeconfig;
  // What was recorded is a streaming list.
  const std::array<const char*, 7> command = {program.c_str(),
                                              flag.c_str(),
                                              "--leader-elect=false",
                                              "--secure-port=0",
                                              "--logging-format=json",
                                              "--feature-gates=WatchListClient=true",
                                              nullptr};
  pid_ = fork();
  KNX_CHECK(pid_ >= 0, "a test needs another process");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int to = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dup2(to, STDERR_FILENO);
  execv(program.c_str(), const_cast<char* const*>(command.data()));
  _exit(127);
}

DaemonProcess::~DaemonProcess() {
  if (!exit_code()) {
    Signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void DaemonProcess::Signal(int signal) const {
  if (!exit_code_) kill(pid_, signal);
}

std::optional<int> DaemonProcess::exit_code() {
  int status = 0;
  if (!exit_code_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    constexpr int kBySignal = 128;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
  }
  return exit_code_;
}

std::string DaemonProcess::log() const { return TextOf(folder_ + "/log"); }

}  // namespace knx::storm
