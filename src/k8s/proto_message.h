// Which number a field has in protobuf, by the name that it has in JSON: a table for each message,
// made when we are compiled, in which a name and a number are found in a few instructions. The
// readers of objects know names only, so that what is read, and by which rules, is written once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace knx::k8s {

struct MessageType;

// Kubernetes writes plain values into protobuf even if they are empty, and leaves them out of JSON.
// So a field that is there on the wire need not be there for a reader.
enum class Presence : std::uint8_t {
  kOnWire,    // as it is on the wire: pointers, messages, lists, and what JSON has always too
  kNotEmpty,  // an empty text, 0 and false are as good as nothing
  kAlways,    // a list that JSON has even if it is empty, which on the wire is nothing
};

// The name of a field, and a number that stands for it: made of its length and some of its letters,
// different for all names in one table (or the table does not compile). For names that stand in the
// source it is made by the compiler.
class FieldName {
 public:
  constexpr FieldName() = default;
  template <std::size_t N>
  consteval FieldName(const char (&text)[N])  // NOLINT(google-explicit-constructor)
      : FieldName(std::string_view(text, N - 1)) {}
  constexpr FieldName(std::string_view text)  // NOLINT(google-explicit-constructor)
      : text_(text.data()), mark_(MarkOf(text)) {}

  [[nodiscard]] constexpr std::string_view text() const {
    return {text_, static_cast<std::size_t>(mark_ >> kLengthShift)};
  }
  [[nodiscard]] constexpr std::uint64_t mark() const { return mark_; }

 private:
  static constexpr int kLengthShift = 48;  // above six letters

  static constexpr std::uint64_t MarkOf(std::string_view text) {
    const std::size_t n = text.size();
    if (n == 0) return 0;
    std::uint64_t mark = n;
    for (const std::size_t i : {std::size_t{0}, n / 5, n / 4, n / 2, n * 3 / 4, n - 1}) {
      mark = mark << 8 | static_cast<unsigned char>(text[i]);
    }
    return mark;
  }

  const char* text_ = nullptr;
  std::uint64_t mark_ = 0;
};

struct ProtoField {
  FieldName name;
  std::uint8_t number = 0;               // 0: readers ask for it, but this message has none
  const MessageType* message = nullptr;  // of what it consists, if it is a message or a list of it
  Presence presence = Presence::kOnWire;
  bool inlined = false;  // stands in the message that is inlined into this one
};

constexpr ProtoField Plain(FieldName name, std::uint8_t number) {
  return {name, number, nullptr, Presence::kNotEmpty};
}
constexpr ProtoField Absent(FieldName name) { return {name}; }
constexpr ProtoField Inlined(FieldName name, std::uint8_t number,
                             const MessageType* message = nullptr) {
  return {name, number, message, Presence::kOnWire, true};
}

inline constexpr std::size_t kMaxProtoFields = 32;   // that are read, of one message
inline constexpr std::size_t kMaxFieldNumber = 47;   // of those
inline constexpr std::uint8_t kNoProtoField = 0xFF;  // in the tables below

struct MessageType {
  static constexpr std::size_t kHashSlots = 128;

  const ProtoField* fields = nullptr;
  std::uint8_t count = 0;
  std::uint8_t inlined_number = 0;  // where the inlined message stands; 0: there is none
  std::uint64_t seed = 0;
  // Indexes of fields.
  std::array<std::uint8_t, kHashSlots> by_name{};
  std::array<std::uint8_t, kMaxFieldNumber + 1> by_number{}, by_inlined_number{};

  static constexpr std::size_t SlotOf(FieldName name, std::uint64_t seed) {
    return (name.mark() * seed) >> 57;
  }
  // The index of a field, kNoProtoField if it is not in the table.
  [[nodiscard]] constexpr std::uint8_t Find(FieldName name) const {
    const std::uint8_t index = by_name[SlotOf(name, seed)];
    const bool found = index != kNoProtoField && fields[index].name.mark() == name.mark();
    return found ? index : kNoProtoField;
  }
};

// The table itself: `MessageTable kPair({{"key", 1}, {"value", 2}});`. A table that cannot be made
// does not compile.
template <std::size_t N>
struct MessageTable : MessageType {
  static_assert(N <= kMaxProtoFields);

  constexpr explicit MessageTable(const ProtoField (&given)[N], std::uint8_t inlined = 0) {
    for (std::size_t i = 0; i < N; ++i) own[i] = given[i];
    fields = own.data();
    count = N;
    inlined_number = inlined;
    by_number.fill(kNoProtoField);
    by_inlined_number.fill(kNoProtoField);
    for (std::size_t i = 0; i < N; ++i) {
      auto& table = own[i].inlined ? by_inlined_number : by_number;
      if (own[i].number != 0) table[own[i].number] = static_cast<std::uint8_t>(i);
    }
    // Any odd number may do; these are spread widely.
    seed = 0x9E3779B97F4A7C15;
    while (!FillNames()) seed += 0xD1342543DE82EF94;
  }
  // It points into itself.
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  std::array<ProtoField, N> own{};

 private:
  // False if two names meet in one slot.
  constexpr bool FillNames() {
    by_name.fill(kNoProtoField);
    for (std::size_t i = 0; i < N; ++i) {
      std::uint8_t& index = by_name[SlotOf(own[i].name, seed)];
      if (index != kNoProtoField) return false;
      index = static_cast<std::uint8_t>(i);
    }
    return true;
  }
};

}  // namespace knx::k8s
