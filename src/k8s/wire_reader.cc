#include "k8s/wire_reader.h"

namespace knx::k8s {
namespace {

constexpr std::uint32_t kStartGroup = 3;
constexpr std::uint32_t kEndGroup = 4;

}  // namespace

bool WireReader::ReadLongVarint(std::uint64_t& out) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return Break();
    const auto byte = static_cast<unsigned char>(*at_++);
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1) return Break();
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      out = value;
      return true;
    }
  }
  return Break();
}

bool WireReader::ReadFixed(int size, std::uint64_t& out) {
  if (end_ - at_ < size) return Break();
  out = 0;
  for (int i = 0; i < size; ++i) {
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(*at_++)) << (8 * i);
  }
  return true;
}

bool WireReader::ReadBytes(std::string_view& out) {
  std::uint64_t size = 0;
  if (!ReadVarint(size)) return false;
  if (size > static_cast<std::uint64_t>(end_ - at_)) return Break();
  out = std::string_view(at_, static_cast<std::size_t>(size));
  at_ += size;
  return true;
}

bool WireReader::ReadTag(std::uint32_t& number, std::uint32_t& type) {
  std::uint64_t tag = 0;
  if (!ReadVarint(tag)) return false;
  if (tag > UINT32_MAX || (tag >> 3) == 0) return Break();
  number = static_cast<std::uint32_t>(tag >> 3);
  type = static_cast<std::uint32_t>(tag & 7);
  return true;
}

bool WireReader::ReadValue(std::uint32_t type, WireField& field) {
  switch (type) {
    case static_cast<std::uint32_t>(WireType::kVarint):
      return ReadVarint(field.value);
    case static_cast<std::uint32_t>(WireType::kFixed64):
      return ReadFixed(8, field.value);
    case static_cast<std::uint32_t>(WireType::kBytes):
      return ReadBytes(field.bytes);
    case static_cast<std::uint32_t>(WireType::kFixed32):
      return ReadFixed(4, field.value);
    default:
      return Break();
  }
}

bool WireReader::SkipGroup() {
  WireField skipped;
  for (int depth = 1; depth > 0;) {
    std::uint32_t number = 0;
    std::uint32_t type = 0;
    if (!ReadTag(number, type)) return false;
    if (type == kStartGroup) {
      if (++depth > kMaxGroupDepth) return Break();
    } else if (type == kEndGroup) {
      --depth;
    } else if (!ReadValue(type, skipped)) {
      return false;
    }
  }
  return true;
}

bool WireReader::NextOfAnySize(WireField& field) {
  if (at_ == end_) return false;
  std::uint32_t type = 0;
  if (!ReadTag(field.number, type)) return false;
  if (type == kStartGroup) {
    field.type = WireType::kGroup;
    return SkipGroup();
  }
  if (!ReadValue(type, field)) return false;
  field.type = static_cast<WireType>(type);
  return true;
}

}  // namespace knx::k8s
