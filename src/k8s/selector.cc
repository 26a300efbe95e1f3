#include "k8s/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "k8s/enum_names.h"

namespace knx::k8s {
namespace {

constexpr std::string_view kNodeNameField = "metadata.name";

constexpr bool IsLowerAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
constexpr bool IsAlphanumeric(char c) { return IsLowerAlphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool IsLabelWord(std::string_view text) {
  return text.size() <= kLabelLengthMax && IsLabelText(text);
}

bool IsDnsName(std::string_view text) { return text.size() <= kPrefixLengthMax && IsDnsText(text); }

bool IsLabelKey(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return IsLabelWord(key);
  return IsDnsName(key.substr(0, slash)) && IsLabelWord(key.substr(slash + 1));
}

bool IsLabelValue(std::string_view value) { return value.empty() || IsLabelWord(value); }

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Whether `label` lies above (Gt) or below (Lt) the one value of the requirement.
bool Compares(const Requirement& requirement, std::string_view label) {
  if (requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> left = ParseInteger(label);
  const std::optional<std::int64_t> right = ParseInteger(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == SelectorOperator::kGt ? *left > *right : *left < *right;
}

bool MatchesLabels(const Requirement& requirement, const StringMap& labels) {
  const std::string* value = FindValue(labels, requirement.key);
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return value != nullptr && Contains(requirement.values, *value);
    case SelectorOperator::kNotIn:
      return value == nullptr || !Contains(requirement.values, *value);
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return value != nullptr && Compares(requirement, *value);
    case SelectorOperator::kUnknown:
      return false;
  }
  return false;
}

// Only what InvalidReason lets through gets a meaningful answer.
bool MatchesField(const Requirement& requirement, std::string_view node_name) {
  return Contains(requirement.values, node_name) == (requirement.op == SelectorOperator::kIn);
}

std::string InvalidKey(std::string_view key) {
  return fmt::format(
      "\"{}\" is no label key: up to {} letters, digits, '-', '_' and '.', with a letter or digit "
      "at both ends, after an optional DNS name and '/'",
      key, kLabelLengthMax);
}

std::string InvalidValue(std::string_view key, std::string_view value) {
  return fmt::format(
      "\"{}\" is no value for label {}: empty, or up to {} letters, digits, '-', '_' and '.', with "
      "a letter or digit at both ends",
      value, key, kLabelLengthMax);
}

std::optional<std::string> InvalidFieldReason(const Requirement& requirement) {
  if (requirement.key != kNodeNameField) {
    return fmt::format("field \"{}\" cannot be selected by: only {} can", requirement.key,
                       kNodeNameField);
  }
  if (requirement.op != SelectorOperator::kIn && requirement.op != SelectorOperator::kNotIn) {
    return fmt::format("field {} can only be selected with In or NotIn", kNodeNameField);
  }
  if (requirement.values.size() != 1) {
    return fmt::format("field {} needs exactly one value, not {}", kNodeNameField,
                       requirement.values.size());
  }
  return std::nullopt;
}

// Whether the number and kind of values suits the operator.
std::optional<std::string> InvalidValuesReason(const Requirement& requirement) {
  const std::vector<std::string>& values = requirement.values;
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (values.empty()) return fmt::format("label {} has no values to compare", requirement.key);
      break;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!values.empty()) {
        return fmt::format("label {} with Exists or DoesNotExist takes no values", requirement.key);
      }
      break;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      if (values.size() != 1) {
        return fmt::format("label {} with Gt or Lt needs exactly one value, not {}",
                           requirement.key, values.size());
      }
      if (LacksInteger(requirement)) {
        return fmt::format("label {} with Gt or Lt needs a 64-bit integer, not \"{}\"",
                           requirement.key, values.front());
      }
      break;
    case SelectorOperator::kUnknown:
      return fmt::format("label {} has the operator {:?}, which nobody knows", requirement.key,
                         requirement.unknown_op);
  }
  return std::nullopt;
}

bool AreWellFormed(const std::vector<Requirement>& requirements, bool field) {
  return std::none_of(requirements.begin(), requirements.end(), [field](const Requirement& r) {
    return InvalidReason(r, field).has_value();
  });
}

}  // namespace

const std::string* FindValue(const StringMap& map, std::string_view key) {
  const auto it = std::lower_bound(
      map.begin(), map.end(), key,
      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  return it != map.end() && it->first == key ? &it->second : nullptr;
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view OperatorText(const Requirement& requirement) {
  const bool unknown = requirement.op == SelectorOperator::kUnknown;
  return unknown ? std::string_view(requirement.unknown_op) : NameOf(requirement.op);
}

bool IsLabelText(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsText(std::string_view text) {
  char before = '.';
  for (const char c : text) {
    const bool inside = IsLowerAlphanumeric(c) || (c == '-' && before != '.') ||
                        (c == '.' && IsLowerAlphanumeric(before));
    if (!inside) return false;
    before = c;
  }
  return IsLowerAlphanumeric(before);
}

bool LacksInteger(const Requirement& requirement) {
  const bool compares =
      requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt;
  return compares && requirement.values.size() == 1 && !ParseInteger(requirement.values.front());
}

std::optional<std::string> InvalidReason(const Requirement& requirement, bool field) {
  if (field) return InvalidFieldReason(requirement);
  if (!IsLabelKey(requirement.key)) return InvalidKey(requirement.key);
  if (auto reason = InvalidValuesReason(requirement)) return reason;
  for (const std::string& value : requirement.values) {
    if (!IsLabelValue(value)) return InvalidValue(requirement.key, value);
  }
  return std::nullopt;
}

std::optional<std::string> InvalidReason(const LabelSelector& selector) {
  for (const auto& [key, value] : selector.match_labels) {
    if (!IsLabelKey(key)) return InvalidKey(key);
    if (!IsLabelValue(value)) return InvalidValue(key, value);
  }
  for (const Requirement& requirement : selector.match_expressions) {
    if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
      return fmt::format("label {}: Gt and Lt select nodes only", requirement.key);
    }
    if (auto reason = InvalidReason(requirement, false)) return reason;
  }
  return std::nullopt;
}

// Both kinds of selector ask last whether they are well formed: most of the time something does not
// match, and then the answer is no either way.
bool Matches(const LabelSelector& selector, const StringMap& labels) {
  return MatchesWellFormed(selector, labels) && !InvalidReason(selector);
}

bool MatchesWellFormed(const LabelSelector& selector, const StringMap& labels) {
  for (const auto& [key, wanted] : selector.match_labels) {
    const std::string* value = FindValue(labels, key);
    if (value == nullptr || *value != wanted) return false;
  }
  for (const Requirement& requirement : selector.match_expressions) {
    if (!MatchesLabels(requirement, labels)) return false;
  }
  return true;
}

bool Matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  for (const Requirement& requirement : term.match_expressions) {
    if (!MatchesLabels(requirement, labels)) return false;
  }
  for (const Requirement& requirement : term.match_fields) {
    if (!MatchesField(requirement, node_name)) return false;
  }
  return AreWellFormed(term.match_expressions, false) && AreWellFormed(term.match_fields, true);
}

bool Matches(const NodeSelector& selector, const StringMap& labels, std::string_view node_name) {
  return std::any_of(
      selector.terms.begin(), selector.terms.end(),
      [&](const NodeSelectorTerm& term) { return Matches(term, labels, node_name); });
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect != TaintEffect::kNone && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  switch (toleration.op) {
    case TolerationOperator::kEqual:
      return toleration.value == taint.value;
    case TolerationOperator::kExists:
      return true;
    case TolerationOperator::kLt:
    case TolerationOperator::kGt:
    case TolerationOperator::kUnknown:
      return false;  // Kubernetes has them behind a gate that is off by default
  }
  return false;
}

bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) { return Tolerates(toleration, taint); });
}

bool ToleratesToBeOn(std::span<const Taint> taints, std::span<const Toleration> tolerations) {
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    const bool hard =
        taint.effect == TaintEffect::kNoSchedule || taint.effect == TaintEffect::kNoExecute;
    return !hard || Tolerates(tolerations, taint);
  });
}

}  // namespace knx::k8s
