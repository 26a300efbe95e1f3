#include "k8s/proto_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "k8s/object_time.h"
#include "k8s/proto_messages.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

// Of an entry of a map, and of a Quantity and a Time, which are messages too.
constexpr std::uint32_t kEntryKey = 1;
constexpr std::uint32_t kEntryValue = 2;
constexpr std::uint32_t kQuantityText = 1;
constexpr std::uint32_t kTimeSeconds = 1;

constexpr std::string_view kNotValid = "not valid protobuf";

bool IsAscii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::uint64_t seen = 0;
  for (; text.size() >= sizeof(seen); text.remove_prefix(sizeof(seen))) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof(eight));
    seen |= eight;
  }
  for (const char c : text) seen |= static_cast<unsigned char>(c);
  return (seen & kHighBits) == 0;
}

std::size_t LengthByFirstByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x80) return 1;
  return byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Protobuf of Kubernetes does not promise UTF-8, JSON does: what is none of it becomes U+FFFD, byte
// by byte.
void AssignText(std::string_view bytes, std::string& text) {
  if (IsAscii(bytes) || IsUtf8(bytes)) {
    text = bytes;
    return;
  }
  text.clear();
  while (!bytes.empty()) {
    const std::string_view character = bytes.substr(0, LengthByFirstByte(bytes.front()));
    const bool good = IsUtf8(character);
    text += good ? character : "\xEF\xBF\xBD";
    bytes.remove_prefix(good ? character.size() : 1);
  }
}

std::string ToText(std::string_view bytes) {
  std::string text;
  AssignText(bytes, text);
  return text;
}

}  // namespace

Status ReadProto(std::string_view bytes, const MessageType& type, ProtoFields::Visit visit) {
  if (bytes.size() > kMaxProtoBytes) {
    return InvalidError(
        fmt::format("too large: {} bytes, at most {} are allowed", bytes.size(), kMaxProtoBytes));
  }
  ProtoFields::Run run;
  ProtoFields fields(run, nullptr, "", -1, &type, bytes);
  if (fields.ok()) visit(fields);
  if (run.error) return *std::move(run.error);
  return Ok();
}

// ---- finding fields ----------------------------------------------------------------------------

ProtoFields::ProtoFields(Run& run, const ProtoFields* parent, std::string_view key,
                         std::ptrdiff_t index, const MessageType* type, std::string_view bytes)
    : run_(&run), parent_(parent), key_(key), index_(index), type_(type), bytes_(bytes) {
  if (type_ != nullptr) FindFields();
}

void ProtoFields::Note(std::uint8_t index, std::size_t offset, const WireField& field) {
  if (index == kNoProtoField) return;
  Place& place = places_[index];
  place.last_tag = static_cast<std::uint32_t>(offset);
  if (place.count++ == 0) place.first_tag = place.last_tag;
  place.type = field.type;
  const bool bytes = field.type == WireType::kBytes;
  place.value = bytes ? field.bytes.size() : field.value;
  place.data = field.bytes.data();
}

void ProtoFields::FindFields() {
  for (std::size_t i = 0; i < type_->count; ++i) places_[i].count = 0;
  WireReader reader(bytes_);
  WireField field;
  std::string_view inlined;
  for (std::size_t offset = 0; reader.Next(field); offset = reader.offset()) {
    if (field.number > kMaxFieldNumber) continue;
    Note(type_->by_number[field.number], offset, field);
    if (field.number == type_->inlined_number) {
      if (field.type != WireType::kBytes || inlined.data() != nullptr) return Fail("", kNotValid);
      inlined = field.bytes;
    }
  }
  if (!reader.ok()) return Fail("", kNotValid);
  if (inlined.data() != nullptr) FindInlined(inlined);
}

void ProtoFields::FindInlined(std::string_view inlined) {
  const auto begin = static_cast<std::size_t>(inlined.data() - bytes_.data());
  WireReader reader(inlined);
  WireField field;
  for (std::size_t offset = 0; reader.Next(field); offset = reader.offset()) {
    if (field.number > kMaxFieldNumber) continue;
    Note(type_->by_inlined_number[field.number], begin + offset, field);
  }
  if (!reader.ok()) Fail("", kNotValid);
}

std::uint8_t ProtoFields::IndexOf(FieldName key) const {
  const std::uint8_t index = type_ == nullptr ? kNoProtoField : type_->Find(key);
  KNX_CHECK(index != kNoProtoField, "a reader asks for a field that its message does not list");
  return index;
}

bool ProtoFields::FindMessage(std::uint8_t index, std::string_view& out) {
  if (!IsThere(index)) return false;
  const Place& place = places_[index];
  if (place.type != WireType::kBytes) return FailAt(index, kNotValid);
  if (place.count > 1) return FailAt(index, "is here twice");
  out = place.bytes();
  return true;
}

bool ProtoFields::FindText(std::uint8_t index, std::string_view& out) {
  if (!IsThere(index)) return false;
  if (InfoOf(index).message == &messages::kIntOrString) {
    return VisitMessage(index, [&out](ProtoFields& text) { text.ReadView("strVal", out); });
  }
  const Place& place = places_[index];
  if (place.type != WireType::kBytes) return FailAt(index, kNotValid);
  if (place.value == 0 && InfoOf(index).presence == Presence::kNotEmpty) return false;
  out = place.bytes();
  return true;
}

bool ProtoFields::FindVarint(std::uint8_t index, std::int64_t& out) {
  if (!IsThere(index)) return false;
  if (InfoOf(index).message == &messages::kIntOrString) {
    return VisitMessage(index, [&out](ProtoFields& number) { number.Read("intVal", out); });
  }
  const Place& place = places_[index];
  if (place.type != WireType::kVarint) return FailAt(index, kNotValid);
  if (place.value == 0 && InfoOf(index).presence == Presence::kNotEmpty) return false;
  out = static_cast<std::int64_t>(place.value);
  return true;
}

bool ProtoFields::VisitMessage(std::uint8_t index, Visit visit) {
  const ProtoField& field = InfoOf(index);
  // Of a map with free keys there are many, and nobody asks for fields of it.
  std::string_view bytes;
  if (field.message == nullptr ? !IsThere(index) : !FindMessage(index, bytes)) return false;
  ProtoFields child(*run_, this, field.name.text(), -1, field.message, bytes);
  if (ok()) visit(child);
  return ok();
}

bool ProtoFields::VisitBytes(std::uint8_t index, VisitEach visit) {
  if (!ok()) return false;
  const Place& place = places_[index];
  if (place.count == 0) return InfoOf(index).presence == Presence::kAlways;
  if (place.count == 1) {
    if (place.type != WireType::kBytes) return FailAt(index, kNotValid);
    visit(place.bytes());
    return ok();
  }
  WireReader reader(bytes_, place.first_tag);
  WireField field;
  while (ok() && reader.offset() <= place.last_tag && reader.Next(field)) {
    if (field.number != InfoOf(index).number) continue;
    if (field.type != WireType::kBytes) return FailAt(index, kNotValid);
    visit(field.bytes);
  }
  return ok();
}

// ---- reading them ------------------------------------------------------------------------------

bool ProtoFields::Has(FieldName key) { return IsThere(IndexOf(key)); }

bool ProtoFields::HasNumber(FieldName key) {
  std::int64_t type = 0;  // 0: a number, 1: a text
  return Map(key, [&type](ProtoFields& either) { either.Read("type", type); }) && type == 0;
}

bool ProtoFields::ReadView(FieldName key, std::string_view& out) {
  return FindText(IndexOf(key), out);
}

bool ProtoFields::Read(FieldName key, std::string& out) {
  std::string_view text;
  if (!FindText(IndexOf(key), text)) return false;
  AssignText(text, out);
  return true;
}

bool ProtoFields::Read(FieldName key, bool& out) {
  std::int64_t value = 0;
  if (!FindVarint(IndexOf(key), value)) return false;
  out = value != 0;
  return true;
}

bool ProtoFields::Read(FieldName key, std::int32_t& out, IntegerLimits limits) {
  limits.min = std::max<std::int64_t>(limits.min, std::numeric_limits<std::int32_t>::min());
  limits.max = std::min<std::int64_t>(limits.max, std::numeric_limits<std::int32_t>::max());
  std::int64_t value = 0;
  if (!Read(key, value, limits)) return false;
  out = static_cast<std::int32_t>(value);
  return true;
}

bool ProtoFields::Read(FieldName key, std::int64_t& out, IntegerLimits limits) {
  const std::uint8_t index = IndexOf(key);
  std::int64_t value = 0;
  if (!FindVarint(index, value)) return false;
  if (value < limits.min || value > limits.max) {
    return FailAt(index, fmt::format("{} is out of range, allowed is {} to {}", value, limits.min,
                                     limits.max));
  }
  out = value;
  return true;
}

bool ProtoFields::ReadValue(std::uint8_t /*index*/, std::string_view bytes, std::string& out) {
  AssignText(bytes, out);
  return true;
}

bool ProtoFields::ReadValue(std::uint8_t index, std::string_view bytes, Quantity& out) {
  WireReader reader(bytes);
  WireField field;
  std::string_view text;
  while (reader.Next(field)) {
    if (field.number == kQuantityText && field.type == WireType::kBytes) text = field.bytes;
  }
  if (!reader.ok()) return FailAt(index, kNotValid);
  if (text.size() > kMaxParsedText) {
    return FailAt(index, fmt::format("{} is too long, at most {} characters are allowed",
                                     Quoted(ToText(text)), kMaxParsedText));
  }
  const Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok()) return FailAt(index, ToText(quantity.error().message));
  out = *quantity;
  return true;
}

bool ProtoFields::Read(FieldName key, Quantity& out) {
  const std::uint8_t index = IndexOf(key);
  std::string_view bytes;
  return FindMessage(index, bytes) && ReadValue(index, bytes, out);
}

bool ProtoFields::Read(FieldName key, Time& out) {
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  constexpr std::int64_t kFirst = kEarliestTime.ns / kNanosPerSecond,
                         kLast = kLatestTime.ns / kNanosPerSecond;
  const std::uint8_t index = IndexOf(key);
  std::string_view bytes;
  // Without content it is no time at all, null in JSON.
  if (!FindMessage(index, bytes) || bytes.empty()) return false;
  WireReader reader(bytes);
  WireField field;
  std::int64_t seconds = 0;
  // Kubernetes itself does not look at the fraction, which JSON does not have.
  while (reader.Next(field)) {
    if (field.number == kTimeSeconds && field.type == WireType::kVarint) {
      seconds = static_cast<std::int64_t>(field.value);
    }
  }
  if (!reader.ok()) return FailAt(index, kNotValid);
  out = Time{std::clamp(seconds, kFirst, kLast) * kNanosPerSecond};
  return true;
}

bool ProtoFields::Read(FieldName key, std::vector<std::string>& out) {
  const std::uint8_t index = IndexOf(key);
  std::vector<std::string> items;
  items.reserve(places_[index].count);
  const bool there = VisitBytes(
      index, [&items](std::string_view item) { AssignText(item, items.emplace_back()); });
  if (!there) return false;
  out = std::move(items);
  return true;
}

template <class T>
bool ProtoFields::ReadEntries(std::uint8_t index, std::vector<std::pair<std::string, T>>& out) {
  std::vector<std::pair<std::string, T>> entries;
  entries.reserve(places_[index].count);
  const bool there = VisitBytes(index, [&](std::string_view entry) {
    auto& [name, value] = entries.emplace_back();
    WireReader reader(entry);
    WireField field;
    while (reader.Next(field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == kEntryKey) AssignText(field.bytes, name);
      if (field.number == kEntryValue && !ReadValue(index, field.bytes, value)) return;
    }
    if (!reader.ok()) FailAt(index, kNotValid);
  });
  if (!there) return false;
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_name)) {
    std::sort(entries.begin(), entries.end(), by_name);
  }
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != entries.end()) {
    return FailAt(index, fmt::format("the key {} is here twice", Quoted(twice->first)));
  }
  out = std::move(entries);
  return true;
}

bool ProtoFields::Read(FieldName key, StringMap& out) { return ReadEntries(IndexOf(key), out); }

bool ProtoFields::Read(FieldName key, ResourceList& out) {
  const std::uint8_t index = IndexOf(key);
  ResourceList amounts;
  if (!ReadEntries(index, amounts)) return false;
  for (const auto& [name, amount] : amounts) {
    if (amount < Quantity()) {
      return FailAt(index,
                    fmt::format("{} must not be negative, but is {}", name, amount.ToString()));
    }
  }
  out = std::move(amounts);
  return true;
}

bool ProtoFields::Map(FieldName key, Visit visit) { return VisitMessage(IndexOf(key), visit); }

bool ProtoFields::ForEachBytes(FieldName key, VisitEach visit) {
  return VisitBytes(IndexOf(key), visit);
}

std::size_t ProtoFields::Count(FieldName key) {
  const std::uint8_t index = IndexOf(key);
  return ok() ? places_[index].count : 0;
}

bool ProtoFields::ForEach(FieldName key, Visit visit) {
  const std::uint8_t index = IndexOf(key);
  const ProtoField& list = InfoOf(index);
  std::ptrdiff_t at = 0;
  return VisitBytes(index, [&](std::string_view item) {
    ProtoFields child(*run_, this, list.name.text(), at++, list.message, item);
    if (ok()) visit(child);
  });
}

bool ProtoFields::ForEachEntry(FieldName key, VisitEntry visit) {
  const std::uint8_t index = IndexOf(key);
  return VisitBytes(index, [&](std::string_view entry) {
    WireReader reader(entry);
    WireField field;
    std::string name;
    while (reader.Next(field)) {
      if (field.number == kEntryKey && field.type == WireType::kBytes) {
        AssignText(field.bytes, name);
      }
    }
    if (!reader.ok()) {
      FailAt(index, kNotValid);
      return;
    }
    ProtoFields value(*run_, this, key.text(), -1, nullptr, {});
    visit(name, value);
  });
}

// ---- errors ------------------------------------------------------------------------------------

std::string ProtoFields::path() const {
  if (parent_ == nullptr) return "";
  std::string path = JoinPath(parent_->path(), key_);
  return index_ < 0 ? path : path + fmt::format("[{}]", index_);
}

void ProtoFields::Fail(std::string_view key, std::string_view message) {
  if (!ok()) return;
  const std::string at = key.empty() ? path() : JoinPath(path(), key);
  run_->error =
      InvalidError(at.empty() ? std::string(message) : fmt::format("{}: {}", at, message));
}

bool ProtoFields::FailWord(FieldName key, std::string_view text,
                           const std::vector<std::string_view>& allowed) {
  return FailAt(IndexOf(key), NotAllowed(ToText(text), allowed));
}

}  // namespace knx::k8s
