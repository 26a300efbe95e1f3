// Writes protobuf as an API server takes it: fields in the order in which they are named. What it
// is given is written as it is; texts must be UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace knx::k8s {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

class ProtoWriter {
 public:
  // Of those that say nothing nothing is written, as everywhere in Kubernetes.
  void Text(std::uint32_t field, std::string_view text) {
    if (!text.empty()) Bytes(field, text);
  }
  void Number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    Varint(std::uint64_t{field} << kTypeBits);
    Varint(value);
  }
  void Message(std::uint32_t field, const ProtoWriter& message) { Bytes(field, message.out_); }

  std::string Take() { return std::move(out_); }
  // As the body of a request, of that type.
  [[nodiscard]] std::string Enveloped(std::string_view api_version, std::string_view kind) const;

 private:
  static constexpr int kTypeBits = 3;
  void Varint(std::uint64_t value);
  void Bytes(std::uint32_t field, std::string_view bytes);

  std::string out_;
};

}  // namespace knx::k8s
