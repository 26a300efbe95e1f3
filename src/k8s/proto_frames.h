// Takes a watch apart: what an API server sends as application/vnd.kubernetes.protobuf;stream=watch
// is a row of frames, each a length in four bytes, the highest first, and then a message. The bytes
// come in whatever pieces the network makes of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::k8s {

// What a client of Kubernetes' own takes. Objects in etcd are ten times smaller.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;

class FrameSplitter {
 public:
  explicit FrameSplitter(std::size_t max_frame = kMaxFrameBytes) : max_frame_(max_frame) {}

  // Takes the next piece. Frames handed out before are gone then.
  void Append(std::string_view bytes);
  // The next whole frame, without its length; nothing until more bytes come. An error is final: the
  // stream cannot be followed any more.
  Result<std::optional<std::string_view>> Next();
  // The stream ended where a frame does.
  [[nodiscard]] bool empty() const { return at_ == buffer_.size(); }

 private:
  std::size_t max_frame_;
  std::string buffer_;
  std::size_t at_ = 0;  // where the next frame begins in it
};

}  // namespace knx::k8s
