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
  using VisitBytes = absl::FunctionRef<void(std::string_view bytes)>;
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
  bool ForEachBytes(FieldName key, VisitBytes visit);
  std::size_t Count(FieldName key);  // of the items of a list or map

 private:
  // What all cursors of one ReadProto share.
  struct Run {
    std::optional<Error> error;
  };
  // Where a field is first and last, as offsets of its tag.
  struct Place {
    static constexpr std::uint32_t kNowhere = UINT32_MAX;
    std::uint32_t first, last;
  };
  friend Status ReadProto(std::string_view bytes, const MessageType& type, Visit visit);

  // `type` may be null: of what has no fields to ask for.
  ProtoFields(Run& run, const ProtoFields* parent, std::string_view key, std::ptrdiff_t index,
              const MessageType* type, std::string_view bytes);
  void FindFields();
  void FindInlined(std::string_view inlined);
  void Note(std::uint8_t index, std::size_t offset);
  [[nodiscard]] std::uint8_t IndexOf(FieldName key) const;
  // The last place of a field; false if it is absent, or of another wire type than it must be.
  bool Find(FieldName key, std::uint8_t index, WireType type, WireField& out);
  bool FindVarint(FieldName key, std::int64_t& out);
  bool FindMessage(FieldName key, std::uint8_t index, std::string_view& out);
  bool FailWord(FieldName key, std::string_view text, const std::vector<std::string_view>& allowed);
  bool FailIn(FieldName key, std::string_view message) {
    Fail(key.text(), message);
    return false;
  }
  bool Miss(FieldName key) { return FailIn(key, "missing, but required"); }
  template <class T>
  bool ReadEntries(FieldName key, std::vector<std::pair<std::string, T>>& out);
  bool ReadValue(FieldName key, std::string_view bytes, std::string& out);
  bool ReadValue(FieldName key, std::string_view bytes, Quantity& out);
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
