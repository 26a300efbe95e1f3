#include "live/file_watch.h"

#include <utility>

#include "client/read_file.h"

namespace knx::live {

std::optional<std::string> SettledText::Look(std::string text) {
  if (text == known_) {
    candidate_.reset();
    return std::nullopt;
  }
  if (candidate_ != text) {
    candidate_ = std::move(text);
    return std::nullopt;
  }
  candidate_.reset();
  known_ = text;
  return text;
}

FileWatch::FileWatch(net::EventLoop& loop, File file, Duration every, Callbacks callbacks)
    : loop_(loop),
      path_(std::move(file.path)),
      most_bytes_(file.most_bytes),
      text_(std::move(file.known)),
      every_(every),
      callbacks_(std::move(callbacks)) {
  Arm();
}

void FileWatch::Arm() {
  timer_ = loop_.After(every_, [this] { Look(); });
}

void FileWatch::Look() {
  Arm();
  auto read = client::ReadRegularFile(path_, most_bytes_);
  if (!read.ok()) {
    if (!std::exchange(told_unreadable_, true)) callbacks_.unreadable(read.error());
    return;
  }
  told_unreadable_ = false;
  if (const auto text = text_.Look(*std::move(read))) callbacks_.changed(*text);
}

}  // namespace knx::live
