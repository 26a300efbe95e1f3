// A cursor over the bytes of a protobuf message: field by field, in the order in which they are
// written, without knowing what they mean. It trusts nothing: every length is held against what is
// left, and what is broken ends the reading and is said.
#pragma once

#include <cstdint>
#include <string_view>

namespace knx::k8s {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // texts, messages, entries of maps
  kGroup = 3,  // nobody writes them any more; skipped whole
  kFixed32 = 5,
};

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;      // of a varint or a fixed one
  std::string_view bytes = {};  // of kBytes; they lie in what is read
};

// Groups within groups. Nothing else here nests: a message within is read by a cursor of its own.
inline constexpr int kMaxGroupDepth = 32;

class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}
  // From an offset at which a field begins.
  WireReader(std::string_view bytes, std::size_t offset) : WireReader(bytes) { at_ += offset; }

  // The next field. False at the end, and where the bytes are broken: then ok() is false too.
  bool Next(WireField& field) {
    const char* at = at_;
    std::uint32_t tag = 0;
    std::uint32_t value = 0;
    // Nearly all of them are short, and texts, messages or small numbers.
    if (!TakeShort(at, tag) || tag < 8 || !TakeShort(at, value)) return NextOfAnySize(field);
    field.type = static_cast<WireType>(tag & 7);
    if (field.type == WireType::kBytes && value <= end_ - at) {
      field.bytes = std::string_view(at, value);
      at += value;
    } else if (field.type == WireType::kVarint) {
      field.value = value;
    } else {
      return NextOfAnySize(field);
    }
    field.number = tag >> 3;
    at_ = at;
    return true;
  }
  [[nodiscard]] bool ok() const { return !broken_; }
  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  // A varint of one or two bytes; false if it is none.
  bool TakeShort(const char*& at, std::uint32_t& out) const {
    if (end_ - at < 2) return false;
    const auto first = static_cast<unsigned char>(at[0]);
    const auto second = static_cast<unsigned char>(at[1]);
    if (first < 0x80) {
      out = first;
      at += 1;
      return true;
    }
    out = (first & 0x7FU) | static_cast<std::uint32_t>(second) << 7;
    at += 2;
    return second < 0x80;
  }
  // Each returns false on broken bytes.
  bool NextOfAnySize(WireField& field);
  bool ReadVarint(std::uint64_t& out);
  bool ReadFixed(int size, std::uint64_t& out);
  bool ReadBytes(std::string_view& out);
  bool ReadTag(std::uint32_t& number, std::uint32_t& type);
  bool ReadValue(std::uint32_t type, WireField& field);
  bool SkipGroup();
  bool Break() {
    broken_ = true;
    at_ = end_;
    return false;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool broken_ = false;
};

}  // namespace knx::k8s
