#include "k8s/proto_writer.h"

#include "k8s/wire_reader.h"

namespace knx::k8s {

void ProtoWriter::Varint(std::uint64_t value) {
  constexpr int kBits = 7;
  constexpr std::uint64_t kMore = 1U << kBits;
  for (; value >= kMore; value >>= kBits) out_ += static_cast<char>((value & (kMore - 1)) | kMore);
  out_ += static_cast<char>(value);
}

void ProtoWriter::Bytes(std::uint32_t field, std::string_view bytes) {
  Varint(std::uint64_t{field} << kTypeBits | static_cast<std::uint64_t>(WireType::kBytes));
  Varint(bytes.size());
  out_ += bytes;
}

// What marks Kubernetes' protobuf, and a runtime.Unknown: what it is, and itself.
std::string ProtoWriter::Enveloped(std::string_view api_version, std::string_view kind) const {
  ProtoWriter type;
  type.Text(1, api_version);
  type.Text(2, kind);
  ProtoWriter unknown;
  unknown.out_.assign("k8s\0", 4);
  unknown.Message(1, type);
  unknown.Message(2, *this);
  return unknown.Take();
}

}  // namespace knx::k8s
