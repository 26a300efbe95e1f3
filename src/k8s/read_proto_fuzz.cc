// Any bytes at all through every reader of protobuf.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "k8s/proto_frames.h"
#include "k8s/read_proto.h"

namespace {

using namespace knx;

// The frames of a stream that comes in pieces of that size, the last one partly if it is cut off.
std::vector<std::string> Frames(std::string_view stream, std::size_t piece) {
  k8s::FrameSplitter splitter(1 << 16);
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    splitter.Append(stream.substr(at, piece));
    while (true) {
      const auto frame = splitter.Next();
      if (!frame.ok()) return frames;
      if (!*frame) break;
      frames.emplace_back(**frame);
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<k8s::Object> object = k8s::ReadProtoObject(bytes);
  const Result<k8s::Object> again = k8s::ReadProtoObject(bytes);
  KNX_CHECK(object.ok() == again.ok(), "the same bytes are read alike");
  if (object.ok()) KNX_CHECK(*object == *again, "the same bytes give the same object");
  if (!object.ok()) KNX_CHECK(!object.error().message.empty(), "an error says something");
  const auto list = k8s::ReadProtoList(bytes);
  const auto meta = k8s::ReadProtoListMeta(bytes);
  KNX_CHECK(!list.ok() || (meta.ok() && meta->continue_token == list->continue_token),
            "what is said of a list alone is what is said with its items");
  static_cast<void>(k8s::ReadProtoStatus(bytes));
  static_cast<void>(k8s::ReadProtoEvent(bytes));
  const std::vector<std::string> frames = Frames(bytes, size + 1);
  KNX_CHECK(frames == Frames(bytes, 7), "pieces of any size give the same frames");
  for (const std::string& frame : frames) static_cast<void>(k8s::ReadProtoEvent(frame));
  return 0;
}
