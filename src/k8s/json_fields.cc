#include "k8s/json_fields.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "k8s/object_time.h"

namespace knx::k8s {
namespace {

namespace dom = simdjson::dom;

std::optional<Quantity> ToQuantity(dom::element element) {
  Result<Quantity> quantity = Quantity();
  std::string_view text;
  std::int64_t number = 0;
  if (element.get(text) == simdjson::SUCCESS) {
    if (text.size() > kMaxParsedText) return std::nullopt;
    quantity = Quantity::Parse(text);
  } else if (element.get(number) == simdjson::SUCCESS) {
    quantity = Quantity::Parse(fmt::format_int(number).c_str());
  } else if (!element.is_null()) {
    return std::nullopt;
  }
  if (!quantity.ok() || *quantity < Quantity()) return std::nullopt;
  return *quantity;
}

// Sorts by key; false if a key is there twice.
template <class T>
bool SortEntries(std::vector<std::pair<std::string, T>>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
           return a.first == b.first;
         }) == entries.end();
}

}  // namespace

bool ReadJson(std::string_view json, JsonFields::Visit visit) {
  if (json.size() > kMaxYamlBytes) return false;
  dom::parser parser;
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return false;
  bool refused = false;
  JsonFields fields(root, refused);
  visit(fields);
  return !refused;
}

bool JsonFields::Field(std::string_view key, dom::element& out) {
  if (!ok()) return false;
  dom::object object;
  if (element_->get(object) != simdjson::SUCCESS) return Refuse();
  return object.at_key(key).get(out) == simdjson::SUCCESS && !out.is_null();
}

bool JsonFields::Read(std::string_view key, std::string& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  std::string_view text;
  if (field.get(text) != simdjson::SUCCESS) return Refuse();
  out = text;
  return true;
}

bool JsonFields::Read(std::string_view key, bool& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  return field.get(out) == simdjson::SUCCESS || Refuse();
}

bool JsonFields::Read(std::string_view key, std::int32_t& out, IntegerLimits limits) {
  limits.min = std::max<std::int64_t>(limits.min, std::numeric_limits<std::int32_t>::min());
  limits.max = std::min<std::int64_t>(limits.max, std::numeric_limits<std::int32_t>::max());
  std::int64_t value = 0;
  if (!Read(key, value, limits)) return false;
  out = static_cast<std::int32_t>(value);
  return true;
}

bool JsonFields::Read(std::string_view key, std::int64_t& out, IntegerLimits limits) {
  dom::element field;
  if (!Field(key, field)) return false;
  std::int64_t value = 0;
  if (field.get(value) != simdjson::SUCCESS || value < limits.min || value > limits.max) {
    return Refuse();
  }
  out = value;
  return true;
}

bool JsonFields::Read(std::string_view key, Quantity& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  const std::optional<Quantity> quantity = ToQuantity(field);
  if (!quantity) return Refuse();
  out = *quantity;
  return true;
}

bool JsonFields::Read(std::string_view key, Time& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  std::string_view text;
  if (field.get(text) != simdjson::SUCCESS) return Refuse();
  if (text.size() > kMaxParsedText) return Refuse();
  const Result<Time> time = ParseTime(text);
  if (!time.ok()) return Refuse();
  out = NearestTime(*time);
  return true;
}

bool JsonFields::Read(std::string_view key, std::vector<std::string>& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  dom::array array;
  if (field.get(array) != simdjson::SUCCESS) return Refuse();
  std::vector<std::string> items;
  for (const dom::element item : array) {
    std::string_view text;
    if (item.get(text) != simdjson::SUCCESS) return Refuse();
    items.emplace_back(text);
  }
  out = std::move(items);
  return true;
}

bool JsonFields::Read(std::string_view key, StringMap& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  dom::object object;
  if (field.get(object) != simdjson::SUCCESS) return Refuse();
  StringMap entries;
  for (const dom::key_value_pair entry : object) {
    std::string_view text;
    if (!entry.value.is_null() && entry.value.get(text) != simdjson::SUCCESS) return Refuse();
    entries.emplace_back(entry.key, text);
  }
  if (!SortEntries(entries)) return Refuse();
  out = std::move(entries);
  return true;
}

bool JsonFields::Read(std::string_view key, ResourceList& out) {
  dom::element field;
  if (!Field(key, field)) return false;
  dom::object object;
  if (field.get(object) != simdjson::SUCCESS) return Refuse();
  ResourceList entries;
  for (const dom::key_value_pair entry : object) {
    const std::optional<Quantity> quantity = ToQuantity(entry.value);
    if (!quantity) return Refuse();
    entries.emplace_back(entry.key, *quantity);
  }
  if (!SortEntries(entries)) return Refuse();
  out = std::move(entries);
  return true;
}

bool JsonFields::Map(std::string_view key, Visit visit) {
  dom::element field;
  if (!Field(key, field)) return false;
  if (!field.is_object()) return Refuse();
  JsonFields child(field, *refused_);
  visit(child);
  return ok();
}

bool JsonFields::ForEach(std::string_view key, Visit visit) {
  dom::element field;
  if (!Field(key, field)) return false;
  dom::array array;
  if (field.get(array) != simdjson::SUCCESS) return Refuse();
  for (const dom::element item : array) {
    if (!ok()) return false;
    JsonFields child(item, *refused_);
    visit(child);
  }
  return ok();
}

bool JsonFields::ForEachEntry(std::string_view key, VisitEntry visit) {
  dom::element field;
  if (!Field(key, field)) return false;
  dom::object object;
  if (field.get(object) != simdjson::SUCCESS) return Refuse();
  for (const dom::key_value_pair entry : object) {
    if (!ok()) return false;
    JsonFields value(entry.value, *refused_);
    visit(entry.key, value);
  }
  return ok();
}

bool JsonFields::Has(std::string_view key) {
  dom::element field;
  return Field(key, field);
}

bool JsonFields::HasNumber(std::string_view key) {
  dom::element field;
  return Field(key, field) && field.is_number();
}

}  // namespace knx::k8s
