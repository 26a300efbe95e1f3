// The cursor over Kubernetes' protobuf: the interface of FieldReader, as far as the readers of
// objects use it, on the bytes themselves. The readers are written once, over any cursor, so what
// they hold to for JSON they hold to here.
//
// A message is gone through once, to find where its fields are; what a reader does not ask for is
// never looked into. Of a field that is given several times and is no list, the last one counts. A
// message that is given several times, which protobuf would have us merge, is refused: no encoder
// writes that. Texts that are not UTF-8 are mended as Go mends them on the way to JSON.
#pragma once

#include <absl/functional/function_ref.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "k8s/objects.h"
#include "k8s/proto_message.h"
#include "k8s/wire_reader.h"
#include "k8s/yaml_reader.h"

namespace knx::k8s {

// More than any object or page of a list; what is longer is refused.
inline constexpr std::size_t kMaxProtoBytes = std::size_t{1} << 30;

class ProtoFields {
 public:
  using Visit = absl::FunctionRef<void(ProtoFields&)>;
  using VisitEntry = absl::FunctionRef<void(std::string_view name, ProtoFields& value)>;
  using VisitEach = absl::FunctionRef<void(std::string_view bytes)>;
  template <class E>
  using Words = FieldReader::Words<E>;

  ProtoFields(const ProtoFields&) = delete;
  ProtoFields& operator=(const ProtoFields&) = delete;

  // As in FieldReader; what an API server leaves out of JSON is absent here too (see Presence).
  bool Read(FieldName key, std::string& out);
  bool Read(FieldName key, bool& out);
  bool Read(FieldName key, std::int32_t& out, IntegerLimits limits = {});
  bool Read(FieldName key, std::int64_t& out, IntegerLimits limits = {});
  bool Read(FieldName key, Quantity& out);
  bool Read(FieldName key, Time& out);
  bool Read(FieldName key, std::vector<std::string>& out);
  bool Read(FieldName key, StringMap& out);
  bool Read(FieldName key, ResourceList& out);
  template <class T, class... Limits>
  bool Read(FieldName key, std::optional<T>& out, Limits... limits) {
    T value{};
    if (!Read(key, value, limits...)) return false;
    out = std::move(value);
    return true;
  }
  template <class T, class... Limits>
  bool Require(FieldName key, T& out, Limits... limits) {
    return Read(key, out, limits...) || Miss(key);
  }
  template <class E>
  bool ReadEnum(FieldName key, E& out, Words<E> words) {
    std::string_view text;
    if (!ReadView(key, text)) return false;
    if (FindWord(text, out, words)) return true;
    std::vector<std::string_view> allowed;
    for (const auto& entry : words) allowed.push_back(entry.first);
    return FailWord(key, text, allowed);
  }
  // What an API server sends it has accepted: a word that we do not know is one that we do not know
  // yet.
  template <class E>
  bool ReadOpenEnum(FieldName key, E& out, Words<E> words) {
    std::string_view text;
    if (!ReadView(key, text)) return false;
    if (!FindWord(text, out, words)) out = E::kUnknown;
    return true;
  }
  bool Map(FieldName key, Visit visit);
  bool RequireMap(FieldName key, Visit visit) { return Map(key, visit) || Miss(key); }
  bool ForEach(FieldName key, Visit visit);
  bool ForEachEntry(FieldName key, VisitEntry visit);
  bool Has(FieldName key);
  bool HasNumber(FieldName key);
  void Fail(std::string_view key, std::string_view message);
  [[nodiscard]] bool ok() const { return !run_->error.has_value(); }

  // What only protobuf has: the bytes of a text or message as they are, and those of each item of a
  // list, for what is read later by a cursor of its own. They lie in what is read.
  bool ReadView(FieldName key, std::string_view& out);
  bool ForEachBytes(FieldName key, VisitEach visit);
  std::size_t Count(FieldName key);  // of the items of a list or map

 private:
  // What all cursors of one ReadProto share.
  struct Run {
    std::optional<Error> error;
  };
  // Where a field is. What is there several times is gone through once more when it is asked for.
  struct Place {
    std::uint32_t count;  // all that is set if it is 0
    WireType type;
    std::uint32_t first_tag, last_tag;  // offsets
    // Of the last one: a number, or the size of bytes and where they are.
    std::uint64_t value;
    const char* data;
    [[nodiscard]] std::string_view bytes() const { return {data, static_cast<std::size_t>(value)}; }
  };
  friend Status ReadProto(std::string_view bytes, const MessageType& type, Visit visit);

  // `type` may be null: of what has no fields to ask for.
  ProtoFields(Run& run, const ProtoFields* parent, std::string_view key, std::ptrdiff_t index,
              const MessageType* type, std::string_view bytes);
  void FindFields();
  void FindInlined(std::string_view inlined);
  void Note(std::uint8_t index, std::size_t offset, const WireField& field);
  // Of a field: its index in the table, what the table says, whether it is there at all.
  [[nodiscard]] std::uint8_t IndexOf(FieldName key) const;
  [[nodiscard]] const ProtoField& InfoOf(std::uint8_t index) const { return type_->fields[index]; }
  [[nodiscard]] bool IsThere(std::uint8_t index) const { return places_[index].count > 0 && ok(); }
  // Each of these fills `out` if the field is there and what it must be.
  bool FindVarint(std::uint8_t index, std::int64_t& out);
  bool FindText(std::uint8_t index, std::string_view& out);
  bool FindMessage(std::uint8_t index, std::string_view& out);
  bool VisitMessage(std::uint8_t index, Visit visit);
  bool VisitBytes(std::uint8_t index, VisitEach visit);
  template <class T>
  bool ReadEntries(std::uint8_t index, std::vector<std::pair<std::string, T>>& out);
  bool ReadValue(std::uint8_t index, std::string_view bytes, std::string& out);
  bool ReadValue(std::uint8_t index, std::string_view bytes, Quantity& out);
  bool FailAt(std::uint8_t index, std::string_view message) {
    Fail(InfoOf(index).name.text(), message);
    return false;
  }
  bool FailWord(FieldName key, std::string_view text, const std::vector<std::string_view>& allowed);
  bool Miss(FieldName key) {
    Fail(key.text(), "missing, but required");
    return false;
  }
  [[nodiscard]] std::string path() const;

  template <class E>
  static bool FindWord(std::string_view text, E& out, Words<E> words) {
    for (const auto& [word, value] : words) {
      if (text != word) continue;
      out = value;
      return true;
    }
    return false;
  }

  Run* run_;
  const ProtoFields* parent_;
  std::string_view key_;  // in the parent
  std::ptrdiff_t index_;  // in a list; -1 otherwise
  const MessageType* type_;
  std::string_view bytes_;
  std::array<Place, kMaxProtoFields> places_;  // by the index of a field in its table
};

// Lets `visit` read one message. An error has the path of the field.
Status ReadProto(std::string_view bytes, const MessageType& type, ProtoFields::Visit visit);

}  // namespace knx::k8s
