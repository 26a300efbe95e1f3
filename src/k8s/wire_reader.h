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
    // Nearly all of them: a tag of one byte, and a length or value of one byte.
    if (end_ - at_ >= 2 && ((at_[0] | at_[1]) & 0x80) == 0 && at_[0] >= 8) {
      const int type = at_[0] & 7;
      const auto second = static_cast<unsigned char>(at_[1]);
      if (type == static_cast<int>(WireType::kBytes) && end_ - at_ - 2 >= second) {
        field.number = static_cast<std::uint32_t>(at_[0]) >> 3;
        field.type = WireType::kBytes;
        field.bytes = std::string_view(at_ + 2, second);
        at_ += 2 + second;
        return true;
      }
    }
    return NextOfAnySize(field);
  }
  [[nodiscard]] bool ok() const { return !broken_; }
  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  // Each returns false on broken bytes.
  bool NextOfAnySize(WireField& field);
  bool ReadVarint(std::uint64_t& out) {
    if (at_ == end_ || (*at_ & 0x80) != 0) return ReadLongVarint(out);
    out = static_cast<unsigned char>(*at_++);
    return true;
  }
  bool ReadLongVarint(std::uint64_t& out);
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
