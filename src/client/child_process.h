// A small program that is run for what it prints. It never keeps the caller waiting: its output,
// its end and its time limit all make one descriptor readable, which an event loop can watch.
//
// Standard input is empty. The program runs in a process group of its own, so that what it has
// started ends with it when time is up or nobody wants the answer any more.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::client {

struct ChildCommand {
  std::string program;  // a path, or a name to be looked for in $PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // beside our own; later ones win
  Duration timeout;
};

struct ChildOutcome {
  enum class End { kExited, kSignalled, kTimedOut, kTooMuchOutput };

  End end = End::kExited;
  int code = 0;  // the exit code, or the signal
  std::string output;
  std::string error_tail;  // the last part of standard error
};

// What a program may print before it is ended, and how much of its complaints is kept.
inline constexpr std::size_t kMaxChildOutput = std::size_t{1} << 20;
inline constexpr std::size_t kMaxChildErrorTail = 4096;

class ChildProcess {
 public:
  // An error if it could not be started: kNotFound if there is no such program.
  static Result<std::unique_ptr<ChildProcess>> Start(const ChildCommand& command);

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // ends it if it still runs

  // Readable when Poll has something to do.
  [[nodiscard]] int fd() const { return watch_.get(); }
  // Takes what there is to take. Never waits. True once the program has ended.
  bool Poll();
  // For a caller with nothing else to do.
  void Wait();
  // Once it has ended.
  [[nodiscard]] const ChildOutcome& outcome() const { return outcome_; }

 private:
  class Descriptor {
   public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor() { Close(); }
    [[nodiscard]] int get() const { return fd_; }
    void Close();

   private:
    int fd_ = -1;
  };
  struct Pipe {
    Descriptor read, write;
  };

  ChildProcess() = default;
  static Result<Pipe> MakePipe();
  Status Spawn(const ChildCommand& command, const Pipe& output, const Pipe& error);
  Status Watch(Duration timeout);
  void Drain(Descriptor& from, std::string& into, bool keep_tail);
  void Kill(ChildOutcome::End why);
  void Reap();

  int pid_ = -1;  // -1: not started, or reaped
  Descriptor watch_, ended_, timer_, output_, error_;
  bool killed_ = false;
  ChildOutcome outcome_;
};

}  // namespace knx::client
