#include "k8s/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "k8s/object_time.h"
#include "k8s/yaml_tree.h"

namespace knx::k8s {
namespace {

using Kind = YamlNode::Kind;

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  if (node.AsBool()) return fmt::format("the boolean {}", Shown(node.text));
  if (node.IsNumber()) return fmt::format("the number {}", Shown(node.text));
  return fmt::format("the string {}", Quoted(node.text));
}

std::string Mismatch(std::string_view expected, const YamlNode& node) {
  return fmt::format("expected {}, found {}", expected, Describe(node));
}

bool IsText(const YamlNode& node) {
  return node.kind == Kind::kScalar && (node.quoted || (!node.AsBool() && !node.IsNumber()));
}

// The Convert functions fill `out` or return what is wrong.
using Complaint = std::optional<std::string>;

Complaint Convert(const YamlNode& node, std::string& out) {
  if (!IsText(node)) {
    std::string complaint = Mismatch("a string", node);
    if (node.kind == Kind::kScalar) complaint += fmt::format("; quote it: {}", Quoted(node.text));
    return complaint;
  }
  out = node.text;
  return std::nullopt;
}

Complaint Convert(const YamlNode& node, bool& out) {
  const std::optional<bool> value = node.AsBool();
  if (!value) return Mismatch("true or false", node);
  out = *value;
  return std::nullopt;
}

template <class T>
Complaint ConvertInteger(const YamlNode& node, T& out, IntegerLimits limits) {
  const std::string& text = node.text;
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  // A leading zero means octal to some and nothing to others; nobody needs it.
  const bool decimal = !digits.empty() &&
                       digits.find_first_not_of("0123456789") == std::string_view::npos &&
                       (digits.size() == 1 || digits.front() != '0');
  if (node.kind != Kind::kScalar || node.quoted || !decimal) {
    return Mismatch("a whole number in decimal digits", node);
  }
  limits.min = std::max<std::int64_t>(limits.min, std::numeric_limits<T>::min());
  limits.max = std::min<std::int64_t>(limits.max, std::numeric_limits<T>::max());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < limits.min || value > limits.max) {
    return fmt::format("{} is out of range, allowed is {} to {}", Shown(text), limits.min,
                       limits.max);
  }
  out = static_cast<T>(value);
  return std::nullopt;
}

Complaint Convert(const YamlNode& node, std::int32_t& out, IntegerLimits limits) {
  return ConvertInteger(node, out, limits);
}
Complaint Convert(const YamlNode& node, std::int64_t& out, IntegerLimits limits) {
  return ConvertInteger(node, out, limits);
}

Complaint Convert(const YamlNode& node, double& out) {
  std::string_view text = node.text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!node.IsNumber() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value)) {
    return Mismatch("a number", node);
  }
  out = value;
  return std::nullopt;
}

template <class T>
Complaint ParseText(const YamlNode& node, T& out, Result<T> (*parse)(std::string_view)) {
  if (node.text.size() > kMaxParsedText) {
    return fmt::format("{} is too long, at most {} characters are allowed", Quoted(node.text),
                       kMaxParsedText);
  }
  Result<T> value = parse(node.text);
  if (!value.ok()) return value.error().message;
  out = *value;
  return std::nullopt;
}

Complaint Convert(const YamlNode& node, Quantity& out) {
  if (node.kind != Kind::kScalar || node.AsBool()) return Mismatch("a quantity", node);
  return ParseText(node, out, Quantity::Parse);
}
Complaint Convert(const YamlNode& node, Duration& out) {
  if (!IsText(node)) return Mismatch("a duration such as 1m30s", node);
  return ParseText(node, out, ParseDuration);
}
Complaint Convert(const YamlNode& node, Time& out) {
  if (!IsText(node)) return Mismatch("a time such as 2026-01-31T12:00:00Z", node);
  Complaint complaint = ParseText(node, out, ParseTime);
  if (!complaint) out = NearestTime(out);
  return complaint;
}

}  // namespace

struct FieldReader::Run {
  ReadMode mode;
  std::optional<Error> error;
};

Status ReadNode(const YamlNode& root, const ReadMode& mode, FieldReader::Visit visit) {
  FieldReader::Run run{.mode = mode, .error = std::nullopt};
  FieldReader reader(run, nullptr, root, -1);
  visit(reader);
  reader.CheckUnknown();
  if (run.error) return *std::move(run.error);
  return Ok();
}

// ---- finding fields ----------------------------------------------------------------------------

bool FieldReader::ok() const { return !run_->error.has_value(); }

void FieldReader::Know(std::string_view key) {
  asked_ = true;
  if (run_->mode.unknown == UnknownFields::kRefuse) known_.push_back(key);
}

const YamlNode* FieldReader::Field(std::string_view key) {
  if (!ok()) return nullptr;
  Know(key);
  if (node_->kind != Kind::kMap) {
    FailHere(Mismatch("a map", *node_));
    return nullptr;
  }
  const YamlNode* field = node_->Find(key);
  return field == nullptr || field->kind == Kind::kNull ? nullptr : field;
}

const YamlNode* FieldReader::FieldOfKind(std::string_view key, Kind kind) {
  const YamlNode* field = Field(key);
  if (field == nullptr || field->kind == kind) return field;
  FailAt(*field, PathOf(key), Mismatch(kind == Kind::kMap ? "a map" : "a list", *field));
  return nullptr;
}

bool FieldReader::RequireField(std::string_view key) {
  if (Field(key) != nullptr) return true;
  if (ok()) FailAt(*node_, PathOf(key), "missing, but required");
  return false;
}

bool FieldReader::Has(std::string_view key) { return Field(key) != nullptr; }

bool FieldReader::HasNumber(std::string_view key) {
  const YamlNode* field = Field(key);
  return field != nullptr && field->IsNumber();
}

const YamlNode* FieldReader::Node(std::string_view key) { return Field(key); }

void FieldReader::Allow(std::initializer_list<std::string_view> keys) {
  asked_ = true;
  for (const std::string_view key : keys) Know(key);
}

void FieldReader::CheckUnknown() const {
  if (!asked_ || !ok() || run_->mode.unknown == UnknownFields::kIgnore) return;
  for (const YamlNode& child : node_->children) {
    if (std::find(known_.begin(), known_.end(), child.key) != known_.end()) continue;
    std::vector<std::string_view> allowed = known_;
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
    run_->error = InvalidError(fmt::format("{}: unknown field; allowed are {}", PathOf(child.key),
                                           fmt::join(allowed, ", ")),
                               {std::string(run_->mode.file), child.key_line, child.key_column});
    return;
  }
}

// ---- reading them ------------------------------------------------------------------------------

template <class T, class... Limits>
bool FieldReader::ReadScalar(std::string_view key, T& out, Limits... limits) {
  const YamlNode* field = Field(key);
  if (field == nullptr) return false;
  if (const Complaint complaint = Convert(*field, out, limits...)) {
    FailAt(*field, PathOf(key), *complaint);
    return false;
  }
  return true;
}

bool FieldReader::Read(std::string_view key, std::string& out) { return ReadScalar(key, out); }
bool FieldReader::Read(std::string_view key, bool& out) { return ReadScalar(key, out); }
bool FieldReader::Read(std::string_view key, std::int32_t& out, IntegerLimits limits) {
  return ReadScalar(key, out, limits);
}
bool FieldReader::Read(std::string_view key, std::int64_t& out, IntegerLimits limits) {
  return ReadScalar(key, out, limits);
}
bool FieldReader::Read(std::string_view key, double& out) { return ReadScalar(key, out); }
bool FieldReader::Read(std::string_view key, Quantity& out) { return ReadScalar(key, out); }
bool FieldReader::Read(std::string_view key, Duration& out) { return ReadScalar(key, out); }
bool FieldReader::Read(std::string_view key, Time& out) { return ReadScalar(key, out); }

bool FieldReader::Read(std::string_view key, std::vector<std::string>& out) {
  std::vector<std::string> items;
  if (!ForEach(key, [&](FieldReader& item) { item.Value(items.emplace_back()); })) return false;
  out = std::move(items);
  return true;
}

template <class T>
bool FieldReader::ReadEntries(std::string_view key, std::vector<std::pair<std::string, T>>& out) {
  std::vector<std::pair<std::string, T>> entries;
  const bool good = ForEachEntry(key, [&](std::string_view name, FieldReader& value) {
    entries.emplace_back(name, T{});
    if (value.node().kind == Kind::kNull) return;
    value.Value(entries.back().second);
    if constexpr (std::is_same_v<T, Quantity>) {
      if (entries.back().second < Quantity()) {
        value.FailHere(fmt::format("must not be negative, but is {}", Shown(value.node().text)));
      }
    }
  });
  if (!good) return false;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  out = std::move(entries);
  return true;
}

bool FieldReader::Read(std::string_view key, StringMap& out) { return ReadEntries(key, out); }
bool FieldReader::Read(std::string_view key, ResourceList& out) { return ReadEntries(key, out); }

void FieldReader::VisitChild(const YamlNode& child, std::ptrdiff_t index, Visit visit) const {
  FieldReader reader(*run_, this, child, index);
  visit(reader);
  reader.CheckUnknown();
}

bool FieldReader::Map(std::string_view key, Visit visit) {
  const YamlNode* field = FieldOfKind(key, Kind::kMap);
  if (field == nullptr) return false;
  VisitChild(*field, -1, visit);
  return ok();
}

bool FieldReader::ForEach(std::string_view key, Visit visit) {
  const YamlNode* field = FieldOfKind(key, Kind::kList);
  if (field == nullptr) return false;
  const FieldReader list(*run_, this, *field, -1);
  for (std::size_t i = 0; i < field->children.size() && ok(); ++i) {
    list.VisitChild(field->children[i], static_cast<std::ptrdiff_t>(i), visit);
  }
  return ok();
}

bool FieldReader::ForEachEntry(std::string_view key, VisitEntry visit) {
  const YamlNode* field = FieldOfKind(key, Kind::kMap);
  if (field == nullptr) return false;
  const FieldReader map(*run_, this, *field, -1);
  for (const YamlNode& child : field->children) {
    if (!ok()) break;
    map.VisitChild(child, -1, [&](FieldReader& value) { visit(child.key, value); });
  }
  return ok();
}

// ---- the node itself ---------------------------------------------------------------------------

template <class T, class... Limits>
bool FieldReader::ReadSelf(T& out, Limits... limits) {
  if (!ok()) return false;
  if (const Complaint complaint = Convert(*node_, out, limits...)) {
    FailHere(*complaint);
    return false;
  }
  return true;
}

bool FieldReader::Value(std::string& out) { return ReadSelf(out); }
bool FieldReader::Value(bool& out) { return ReadSelf(out); }
bool FieldReader::Value(std::int32_t& out, IntegerLimits limits) { return ReadSelf(out, limits); }
bool FieldReader::Value(std::int64_t& out, IntegerLimits limits) { return ReadSelf(out, limits); }
bool FieldReader::Value(double& out) { return ReadSelf(out); }
bool FieldReader::Value(Quantity& out) { return ReadSelf(out); }
bool FieldReader::Value(Duration& out) { return ReadSelf(out); }
bool FieldReader::Value(Time& out) { return ReadSelf(out); }

// ---- errors ------------------------------------------------------------------------------------

std::string FieldReader::path() const {
  if (parent_ == nullptr) return std::string(run_->mode.path);
  if (index_ >= 0) return parent_->path() + fmt::format("[{}]", index_);
  return JoinPath(parent_->path(), node_->key);
}

std::string FieldReader::PathOf(std::string_view key) const { return JoinPath(path(), key); }

void FieldReader::FailAt(const YamlNode& node, std::string_view at_path,
                         std::string_view message) const {
  if (!ok()) return;
  // An empty value has no place of its own worth showing; its name has.
  const bool at_key = node.kind == Kind::kNull && node.key_line > 0;
  run_->error =
      InvalidError(at_path.empty() ? std::string(message) : fmt::format("{}: {}", at_path, message),
                   {std::string(run_->mode.file), at_key ? node.key_line : node.line,
                    at_key ? node.key_column : node.column});
}

void FieldReader::Fail(std::string_view key, std::string_view message) {
  const YamlNode* field = node_->Find(key);
  FailAt(field == nullptr ? *node_ : *field, PathOf(key), message);
}

void FieldReader::FailHere(std::string_view message) { FailAt(*node_, path(), message); }

void FieldReader::FailWord(std::string_view key, std::string_view text,
                           const std::vector<std::string_view>& allowed) {
  Fail(key, NotAllowed(text, allowed));
}

}  // namespace knx::k8s
