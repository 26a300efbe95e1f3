#include "k8s/proto_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

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

void ProtoFields::Note(std::uint8_t index, std::size_t offset) {
  if (index == kNoProtoField) return;
  Place& place = places_[index];
  place.last = static_cast<std::uint32_t>(offset);
  if (place.first == Place::kNowhere) place.first = place.last;
}

void ProtoFields::FindFields() {
  std::fill_n(places_.begin(), type_->count, Place{Place::kNowhere, Place::kNowhere});
  WireReader reader(bytes_);
  WireField field;
  std::string_view inlined;
  for (std::size_t offset = 0; reader.Next(field); offset = reader.offset()) {
    if (field.number > kMaxFieldNumber) continue;
    Note(type_->by_number[field.number], offset);
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
    if (field.number <= kMaxFieldNumber) {
      Note(type_->by_inlined_number[field.number], begin + offset);
    }
  }
  if (!reader.ok()) Fail("", kNotValid);
}

std::uint8_t ProtoFields::IndexOf(FieldName key) const {
  const std::uint8_t index = type_ == nullptr ? kNoProtoField : type_->Find(key);
  KNX_CHECK(index != kNoProtoField, "a reader asks for a field that its message does not list");
  return index;
}

bool ProtoFields::Find(FieldName key, std::uint8_t index, WireType type, WireField& out) {
  if (!ok() || places_[index].first == Place::kNowhere) return false;
  WireReader(bytes_, places_[index].last).Next(out);
  return out.type == type || FailIn(key, kNotValid);
}

bool ProtoFields::FindMessage(FieldName key, std::uint8_t index, std::string_view& out) {
  WireField field;
  if (!Find(key, index, WireType::kBytes, field)) return false;
  if (places_[index].first != places_[index].last) return FailIn(key, "is here twice");
  out = field.bytes;
  return true;
}

bool ProtoFields::FindVarint(FieldName key, std::int64_t& out) {
  const std::uint8_t index = IndexOf(key);
  if (type_->fields[index].message == &messages::kIntOrString) {
    return Map(key, [&out](ProtoFields& number) { number.Read("intVal", out); });
  }
  WireField field;
  if (!Find(key, index, WireType::kVarint, field)) return false;
  if (field.value == 0 && type_->fields[index].presence == Presence::kNotEmpty) return false;
  out = static_cast<std::int64_t>(field.value);
  return true;
}

bool ProtoFields::Has(FieldName key) {
  return ok() && places_[IndexOf(key)].first != Place::kNowhere;
}

bool ProtoFields::HasNumber(FieldName key) {
  std::int64_t type = 0;  // 0: a number, 1: a text
  return Map(key, [&type](ProtoFields& either) { either.Read("type", type); }) && type == 0;
}

// ---- reading them ------------------------------------------------------------------------------

bool ProtoFields::ReadView(FieldName key, std::string_view& out) {
  const std::uint8_t index = IndexOf(key);
  if (type_->fields[index].message == &messages::kIntOrString) {
    return Map(key, [&out](ProtoFields& text) { text.ReadView("strVal", out); });
  }
  WireField field;
  if (!Find(key, index, WireType::kBytes, field)) return false;
  if (field.bytes.empty() && type_->fields[index].presence == Presence::kNotEmpty) return false;
  out = field.bytes;
  return true;
}

bool ProtoFields::Read(FieldName key, std::string& out) {
  std::string_view text;
  if (!ReadView(key, text)) return false;
  AssignText(text, out);
  return true;
}

bool ProtoFields::Read(FieldName key, bool& out) {
  std::int64_t value = 0;
  if (!FindVarint(key, value)) return false;
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
  std::int64_t value = 0;
  if (!FindVarint(key, value)) return false;
  if (value < limits.min || value > limits.max) {
    return FailIn(
        key, fmt::format("{} is out of range, allowed is {} to {}", value, limits.min, limits.max));
  }
  out = value;
  return true;
}

bool ProtoFields::ReadValue(FieldName /*key*/, std::string_view bytes, std::string& out) {
  AssignText(bytes, out);
  return true;
}

bool ProtoFields::ReadValue(FieldName key, std::string_view bytes, Quantity& out) {
  WireReader reader(bytes);
  WireField field;
  std::string_view text;
  while (reader.Next(field)) {
    if (field.number == kQuantityText && field.type == WireType::kBytes) text = field.bytes;
  }
  if (!reader.ok()) return FailIn(key, kNotValid);
  if (text.size() > kMaxParsedText) {
    return FailIn(key, fmt::format("{} is too long, at most {} characters are allowed",
                                   Quoted(ToText(text)), kMaxParsedText));
  }
  const Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok()) return FailIn(key, ToText(quantity.error().message));
  out = *quantity;
  return true;
}

bool ProtoFields::Read(FieldName key, Quantity& out) {
  std::string_view bytes;
  return FindMessage(key, IndexOf(key), bytes) && ReadValue(key, bytes, out);
}

bool ProtoFields::Read(FieldName key, Time& out) {
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  constexpr std::int64_t kMaxSeconds = std::numeric_limits<std::int64_t>::max() / kNanosPerSecond;
  std::string_view bytes;
  // Without content it is no time at all, null in JSON.
  if (!FindMessage(key, IndexOf(key), bytes) || bytes.empty()) return false;
  WireReader reader(bytes);
  WireField field;
  std::int64_t seconds = 0;
  // Kubernetes itself does not look at the fraction, which JSON does not have.
  while (reader.Next(field)) {
    if (field.number == kTimeSeconds && field.type == WireType::kVarint) {
      seconds = static_cast<std::int64_t>(field.value);
    }
  }
  if (!reader.ok()) return FailIn(key, kNotValid);
  if (seconds < -kMaxSeconds || seconds > kMaxSeconds) return FailIn(key, "is out of range");
  out = Time{seconds * kNanosPerSecond};
  return true;
}

bool ProtoFields::Read(FieldName key, std::vector<std::string>& out) {
  std::vector<std::string> items;
  items.reserve(Count(key));
  const bool there = ForEachBytes(
      key, [&items](std::string_view item) { AssignText(item, items.emplace_back()); });
  if (!there) return false;
  out = std::move(items);
  return true;
}

template <class T>
bool ProtoFields::ReadEntries(FieldName key, std::vector<std::pair<std::string, T>>& out) {
  std::vector<std::pair<std::string, T>> entries;
  entries.reserve(Count(key));
  const bool there = ForEachBytes(key, [&](std::string_view entry) {
    auto& [name, value] = entries.emplace_back();
    WireReader reader(entry);
    WireField field;
    while (reader.Next(field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == kEntryKey) AssignText(field.bytes, name);
      if (field.number == kEntryValue && !ReadValue(key, field.bytes, value)) return;
    }
    if (!reader.ok()) Fail(key.text(), kNotValid);
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
    return FailIn(key, fmt::format("the key {} is here twice", Quoted(twice->first)));
  }
  out = std::move(entries);
  return true;
}

bool ProtoFields::Read(FieldName key, StringMap& out) { return ReadEntries(key, out); }

bool ProtoFields::Read(FieldName key, ResourceList& out) {
  ResourceList amounts;
  if (!ReadEntries(key, amounts)) return false;
  for (const auto& [name, amount] : amounts) {
    if (amount < Quantity()) {
      return FailIn(key,
                    fmt::format("{} must not be negative, but is {}", name, amount.ToString()));
    }
  }
  out = std::move(amounts);
  return true;
}

bool ProtoFields::Map(FieldName key, Visit visit) {
  const std::uint8_t index = IndexOf(key);
  const MessageType* message = type_->fields[index].message;
  // Of a map with free keys there are many, and nobody asks for fields of it.
  std::string_view bytes;
  if (message == nullptr ? !Has(key) : !FindMessage(key, index, bytes)) return false;
  ProtoFields child(*run_, this, key.text(), -1, message, bytes);
  if (ok()) visit(child);
  return ok();
}

bool ProtoFields::ForEachBytes(FieldName key, VisitBytes visit) {
  const std::uint8_t index = IndexOf(key);
  const Place place = places_[index];
  const ProtoField& wanted = type_->fields[index];
  if (!ok()) return false;
  if (place.first == Place::kNowhere) return wanted.presence == Presence::kAlways;
  WireReader reader(bytes_, place.first);
  WireField field;
  while (ok() && reader.offset() <= place.last && reader.Next(field)) {
    if (field.number != wanted.number) continue;
    if (field.type != WireType::kBytes) return FailIn(key, kNotValid);
    visit(field.bytes);
  }
  return ok();
}

std::size_t ProtoFields::Count(FieldName key) {
  std::size_t count = 0;
  ForEachBytes(key, [&count](std::string_view) { ++count; });
  return count;
}

bool ProtoFields::ForEach(FieldName key, Visit visit) {
  const MessageType* message = type_->fields[IndexOf(key)].message;
  std::ptrdiff_t index = 0;
  return ForEachBytes(key, [&](std::string_view item) {
    ProtoFields child(*run_, this, key.text(), index++, message, item);
    if (ok()) visit(child);
  });
}

bool ProtoFields::ForEachEntry(FieldName key, VisitEntry visit) {
  return ForEachBytes(key, [&](std::string_view entry) {
    WireReader reader(entry);
    WireField field;
    std::string name;
    while (reader.Next(field)) {
      if (field.number == kEntryKey && field.type == WireType::kBytes)
        AssignText(field.bytes, name);
    }
    if (!reader.ok()) return Fail(key.text(), kNotValid);
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
  return FailIn(key, NotAllowed(ToText(text), allowed));
}

}  // namespace knx::k8s
