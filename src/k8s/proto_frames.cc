#include "k8s/proto_frames.h"

#include <fmt/format.h>

namespace knx::k8s {
namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

void FrameSplitter::Append(std::string_view bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes);
}

Result<std::optional<std::string_view>> FrameSplitter::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < kLengthBytes) return std::optional<std::string_view>();
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(rest[i]);
  }
  if (length > max_frame_) {
    return InvalidError(
        fmt::format("a frame of {} bytes, at most {} are allowed", length, max_frame_));
  }
  if (rest.size() - kLengthBytes < length) return std::optional<std::string_view>();
  at_ += kLengthBytes + length;
  return std::optional(rest.substr(kLengthBytes, length));
}

}  // namespace knx::k8s
