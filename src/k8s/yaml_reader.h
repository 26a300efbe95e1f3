// Reads YAML and JSON texts into structs, field by field, with errors that name file, line, field,
// value and what is allowed. Used for Kubernetes objects, configuration files and scenarios alike.
//
// Two steps. ParseYaml turns a text into trees of YamlNode (its own plain type: no parser library
// shows through), and ReadNode lets a function walk one tree through a FieldReader:
//
//   struct Args { std::string name; std::int32_t weight = 1; std::vector<Rule> rules; };
//
//   void ReadRule(FieldReader& fields, Rule& rule) {
//     fields.Require("label", rule.label);  // must be there
//     fields.ReadEnum("effect", rule.effect, {{"Allow", kAllow}, {"Deny", kDeny}});
//   }
//   Status ReadArgs(const YamlNode& root, std::string_view file, Args& args) {
//     const ReadMode mode{.file = file, .unknown = UnknownFields::kRefuse};
//     return ReadNode(root, mode, [&](FieldReader& fields) {
//       fields.Read("name", args.name);  // absent: keeps its default
//       fields.Read("weight", args.weight, {.min = 0, .max = 100});
//       fields.ForEach("rules", [&](FieldReader& rule) {
//         ReadRule(rule, args.rules.emplace_back());
//       });
//       if (args.weight > 1 && args.name.empty()) fields.Fail("weight", "needs a name beside it");
//     });
//   }
//
// The first error wins and is what ReadNode returns; after it every read does nothing and returns
// false, so readers need no error handling between fields (but must not loop on a read's success).
//
// What it refuses to do: guess. A number where a text is expected is refused (quote it), as the API
// server does; a key given twice is refused always; unknown fields are refused or ignored as the
// caller says. Nesting, size and the growth of aliases are limited, so that hostile input costs
// little.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "k8s/objects.h"
#include "k8s/quantity.h"

namespace knx::k8s {

// ---- the tree ----------------------------------------------------------------------------------

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // a text whatever it looks like: in quotes, a block scalar, or tagged !!str
  int line = 0, column = 0;        // from 1
  std::string text;                // of a scalar
  std::vector<YamlNode> children;  // of a list, or of a map in the order of the text

  // For a node that is a member of a map: its name, unique there, and where the name is.
  std::string key;
  int key_line = 0, key_column = 0;

  // The member with that name, null ones included; nullptr if there is none or this is no map.
  [[nodiscard]] const YamlNode* Find(std::string_view name) const;
  // What a plain scalar says in YAML 1.1, which is what Kubernetes reads: yes/no and on/off are
  // booleans there.
  [[nodiscard]] std::optional<bool> AsBool() const;
  [[nodiscard]] bool IsNumber() const;
};

// The limits of ParseYaml. Generous for what people and programs write, small for what only an
// attacker would.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{256} << 20;
inline constexpr int kMaxYamlDepth = 100;
inline constexpr std::size_t kMaxAliasBytes = std::size_t{16} << 20;  // copied by all aliases

// The longest text that is read as a quantity, a duration or a time. Their errors repeat it.
inline constexpr std::size_t kMaxParsedText = 100;

// The documents of a text, YAML or JSON, empty ones left out. `file` is only named in errors.
// Aliases and merge keys (<<) are resolved; tags other than YAML's own for texts, numbers,
// booleans, lists and maps are refused.
Result<std::vector<YamlNode>> ParseYaml(std::string_view text, std::string_view file);

// One JSON object or list, strictly JSON. Gives the same tree as ParseYaml, faster.
Result<YamlNode> ParseJson(std::string_view text, std::string_view file);

// ---- the cursor --------------------------------------------------------------------------------

enum class UnknownFields { kIgnore, kRefuse };

struct ReadMode {
  std::string_view file = {};  // for errors
  UnknownFields unknown = UnknownFields::kIgnore;
  std::string_view path = {};  // of `root` in its document, for a part that is read later
};

struct IntegerLimits {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// A view of one node that reads it and its members. Made by ReadNode and by the cursor one level
// up, lives as long as the function it is handed to, and must not be kept.
//
// Every read returns true if the field was there and good, and then has filled `out`. Absent and
// null are the same, leave `out` alone and return false, as does a field that is wrong (which is
// then the error of ReadNode). Keys must outlive the cursor, as literals do.
class FieldReader {
 public:
  using Visit = absl::FunctionRef<void(FieldReader&)>;
  using VisitEntry = absl::FunctionRef<void(std::string_view name, FieldReader& value)>;
  template <class E>
  using Words = std::initializer_list<std::pair<std::string_view, E>>;

  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;

  // Fields of this map. Integers take limits; quantities may be written as numbers, durations as Go
  // writes them ("1m30s"), times as RFC 3339. In a map of texts a null value is an empty text, as
  // Kubernetes has it.
  bool Read(std::string_view key, std::string& out);
  bool Read(std::string_view key, bool& out);
  bool Read(std::string_view key, std::int32_t& out, IntegerLimits limits = {});
  bool Read(std::string_view key, std::int64_t& out, IntegerLimits limits = {});
  bool Read(std::string_view key, double& out);
  bool Read(std::string_view key, Quantity& out);
  bool Read(std::string_view key, Duration& out);
  bool Read(std::string_view key, Time& out);
  bool Read(std::string_view key, std::vector<std::string>& out);
  bool Read(std::string_view key, StringMap& out);  // sorted by key
  bool Read(std::string_view key,
            ResourceList& out);  // sorted by name; negative amounts are refused
  // The same for optional targets, set if the field is there.
  template <class T, class... Limits>
  bool Read(std::string_view key, std::optional<T>& out, Limits... limits) {
    T value{};
    if (!Read(key, value, limits...)) return false;
    out = std::move(value);
    return true;
  }
  // The same for fields that must be there.
  template <class T, class... Limits>
  bool Require(std::string_view key, T& out, Limits... limits) {
    return RequireField(key) && Read(key, out, limits...);
  }
  // A text that must be one of the words; the error lists them, except for an empty one.
  // The same here: who writes a file is told of a word that nobody knows.
  template <class E>
  bool ReadOpenEnum(std::string_view key, E& out, Words<E> words) {
    return ReadEnum(key, out, words);
  }
  template <class E>
  bool ReadEnum(std::string_view key, E& out, Words<E> words) {
    std::string text;
    if (!Read(key, text)) return false;
    for (const auto& [word, value] : words) {
      if (text == word) {
        out = value;
        return true;
      }
    }
    std::vector<std::string_view> allowed;
    for (const auto& entry : words) allowed.push_back(entry.first);
    FailWord(key, text, allowed);
    return false;
  }

  // Calls `visit` for a field that is a map.
  bool Map(std::string_view key, Visit visit);
  bool RequireMap(std::string_view key, Visit visit) {
    return RequireField(key) && Map(key, visit);
  }
  // Calls `visit` for every item of a field that is a list. The items may be anything: read their
  // fields, or the item itself with Value.
  bool ForEach(std::string_view key, Visit visit);
  // Calls `visit` for every member of a field that is a map with free keys, in the order of the
  // text.
  bool ForEachEntry(std::string_view key, VisitEntry visit);

  // Whether the field is there and not null.
  bool Has(std::string_view key);
  // Whether it is there and a number, for fields that may be that or a text.
  bool HasNumber(std::string_view key);
  // The raw field, for what has no fixed shape: nullptr if absent or null. It lives as long as the
  // document.
  const YamlNode* Node(std::string_view key);
  // Fields that are allowed but not read (now). Read and its like allow what they name by
  // themselves.
  void Allow(std::initializer_list<std::string_view> keys);

  // This node itself: the item of a list, the value of an entry, the root of a document.
  bool Value(std::string& out);
  bool Value(bool& out);
  bool Value(std::int32_t& out, IntegerLimits limits = {});
  bool Value(std::int64_t& out, IntegerLimits limits = {});
  bool Value(double& out);
  bool Value(Quantity& out);
  bool Value(Duration& out);
  bool Value(Time& out);
  [[nodiscard]] const YamlNode& node() const { return *node_; }

  // Errors of the reader's own: at a field (or at this map, if the field is absent), or at this
  // node. The message comes after the path: "spec.weight: needs a name beside it".
  void Fail(std::string_view key, std::string_view message);
  void FailHere(std::string_view message);
  [[nodiscard]] bool ok() const;  // nothing has gone wrong in this document so far

  // "spec.containers[0].name"
  [[nodiscard]] std::string path() const;

 private:
  struct Run;  // what all cursors of one ReadNode share
  friend Status ReadNode(const YamlNode& root, const ReadMode& mode, Visit visit);

  FieldReader(Run& run, const FieldReader* parent, const YamlNode& node, std::ptrdiff_t index)
      : run_(&run), parent_(parent), node_(&node), index_(index) {}
  // The field if it is there and not null, and nothing went wrong yet.
  const YamlNode* Field(std::string_view key);
  const YamlNode* FieldOfKind(std::string_view key, YamlNode::Kind kind);
  bool RequireField(std::string_view key);
  void Know(std::string_view key);
  void VisitChild(const YamlNode& child, std::ptrdiff_t index, Visit visit) const;
  // Refuses what nobody asked for. Does nothing for a map of which no field was asked for.
  void CheckUnknown() const;
  [[nodiscard]] std::string PathOf(std::string_view key) const;
  void FailAt(const YamlNode& node, std::string_view at_path, std::string_view message) const;
  void FailWord(std::string_view key, std::string_view text,
                const std::vector<std::string_view>& allowed);
  template <class T, class... Limits>
  bool ReadScalar(std::string_view key, T& out, Limits... limits);
  template <class T, class... Limits>
  bool ReadSelf(T& out, Limits... limits);
  template <class T>
  bool ReadEntries(std::string_view key, std::vector<std::pair<std::string, T>>& out);

  Run* run_;
  const FieldReader* parent_;
  const YamlNode* node_;
  std::ptrdiff_t index_;                 // in a list; -1: a member of a map, or the root
  bool asked_ = false;                   // some field of this map was asked for
  std::vector<std::string_view> known_;  // those fields, kept only where unknown ones are refused
};

// Lets `visit` read one node. An error has the place in the file and the path of the field.
Status ReadNode(const YamlNode& root, const ReadMode& mode, FieldReader::Visit visit);

}  // namespace knx::k8s
