// Notices when a file has other contents than before, however it was replaced: written, renamed, or
// reached through links that now lead elsewhere, as a mounted ConfigMap is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/event_loop.h"

namespace knx::live {

// What somebody is still writing is not read: a text counts once it was the same for two looks.
class SettledText {
 public:
  explicit SettledText(std::string known) : known_(std::move(known)) {}

  // The new text, once.
  std::optional<std::string> Look(std::string text);

 private:
  std::string known_;
  std::optional<std::string> candidate_;
};

class FileWatch {
 public:
  struct Callbacks {
    std::function<void(const std::string& text)> changed;
    // The file cannot be read; told once, until it can.
    std::function<void(const Error&)> unreadable;
  };
  struct File {
    std::string path;
    std::string known;  // what was read from it before
    std::size_t most_bytes;
  };
  FileWatch(net::EventLoop& loop, File file, Duration every, Callbacks callbacks);
  ~FileWatch() { loop_.Cancel(timer_); }
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  void Arm();
  void Look();

  net::EventLoop& loop_;
  std::string path_;
  std::size_t most_bytes_;
  SettledText text_;
  Duration every_;
  Callbacks callbacks_;
  bool told_unreadable_ = false;
  net::EventLoop::TimerId timer_;
};

}  // namespace knx::live
