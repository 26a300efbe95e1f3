// The cursor of the fast path: the interface of FieldReader, as far as the readers of objects use
// it, directly on what simdjson has parsed. The readers are written once, over either cursor, so
// the two cannot drift apart.
//
// It is made for what an API server sends, which is well formed. It does not say what is wrong: a
// text it refuses is read again through FieldReader, for the error or for the rare right thing it
// cannot do (an amount written as a fraction without quotes). And it does not look for what it need
// not see: of a field given twice it takes the first.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "k8s/objects.h"
#include "k8s/yaml_reader.h"

namespace simdjson::dom {
class element;
}

namespace knx::k8s {

class JsonFields {
 public:
  using Visit = absl::FunctionRef<void(JsonFields&)>;
  using VisitEntry = absl::FunctionRef<void(std::string_view name, JsonFields& value)>;
  template <class E>
  using Words = FieldReader::Words<E>;

  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;

  // As in FieldReader.
  bool Read(std::string_view key, std::string& out);
  bool Read(std::string_view key, bool& out);
  bool Read(std::string_view key, std::int32_t& out, IntegerLimits limits = {});
  bool Read(std::string_view key, std::int64_t& out, IntegerLimits limits = {});
  bool Read(std::string_view key, Quantity& out);
  bool Read(std::string_view key, Time& out);
  bool Read(std::string_view key, std::vector<std::string>& out);
  bool Read(std::string_view key, StringMap& out);
  bool Read(std::string_view key, ResourceList& out);
  template <class T, class... Limits>
  bool Read(std::string_view key, std::optional<T>& out, Limits... limits) {
    T value{};
    if (!Read(key, value, limits...)) return false;
    out = std::move(value);
    return true;
  }
  template <class T, class... Limits>
  bool Require(std::string_view key, T& out, Limits... limits) {
    return Read(key, out, limits...) || Refuse();
  }
  template <class E>
  bool ReadEnum(std::string_view key, E& out, Words<E> words) {
    std::string text;
    if (!Read(key, text)) return false;
    return FindWord(text, out, words) || Refuse();
  }
  // What an API server sends it has accepted: a word that we do not know is one that we do not know
  // yet.
  template <class E>
  bool ReadOpenEnum(std::string_view key, E& out, Words<E> words) {
    std::string text;
    if (!Read(key, text)) return false;
    if (!FindWord(text, out, words)) out = E::kUnknown;
    return true;
  }
  bool Map(std::string_view key, Visit visit);
  bool RequireMap(std::string_view key, Visit visit) { return Map(key, visit) || Refuse(); }
  bool ForEach(std::string_view key, Visit visit);
  bool ForEachEntry(std::string_view key, VisitEntry visit);
  bool Has(std::string_view key);
  bool HasNumber(std::string_view key);
  void Fail(std::string_view /*key*/, std::string_view /*message*/) { Refuse(); }
  [[nodiscard]] bool ok() const { return !*refused_; }

 private:
  template <class E>
  static bool FindWord(std::string_view text, E& out, Words<E> words) {
    for (const auto& [word, value] : words) {
      if (text != word) continue;
      out = value;
      return true;
    }
    return false;
  }
  friend bool ReadJson(std::string_view json, Visit visit);

  JsonFields(const simdjson::dom::element& element, bool& refused)
      : element_(&element), refused_(&refused) {}
  // The field if it is there and not null, and nothing was refused yet.
  bool Field(std::string_view key, simdjson::dom::element& out);
  bool Refuse() {
    *refused_ = true;
    return false;
  }

  const simdjson::dom::element* element_;
  bool* refused_;
};

// Lets `visit` read one JSON text. False if it is refused.
bool ReadJson(std::string_view json, JsonFields::Visit visit);

}  // namespace knx::k8s
