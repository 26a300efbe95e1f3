#include "k8s/selector_complaint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "k8s/enum_names.h"
#include "k8s/selector.h"

namespace knx::k8s {
namespace {

constexpr std::string_view kName =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kDomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

using Complaints = std::vector<std::string>;

void ComplainOfPrefix(std::string_view prefix, Complaints& out) {
  if (prefix.empty()) {
    out.emplace_back("prefix part must be non-empty");
    return;
  }
  if (prefix.size() > kPrefixLengthMax) {
    out.push_back(fmt::format("prefix part must be no more than {} bytes", kPrefixLengthMax));
  }
  if (!IsDnsText(prefix)) out.push_back(fmt::format("prefix part {}", kDomain));
}

Complaints OfKey(std::string_view key) {
  Complaints out;
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    if (key.find('/', slash + 1) != std::string_view::npos) {
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kName)};
    }
    ComplainOfPrefix(key.substr(0, slash), out);
    key.remove_prefix(slash + 1);
  }
  if (key.empty()) out.emplace_back("name part must be non-empty");
  if (key.size() > kLabelLengthMax) {
    out.push_back(fmt::format("name part must be no more than {} bytes", kLabelLengthMax));
  }
  if (!IsLabelText(key)) out.push_back(fmt::format("name part {}", kName));
  return out;
}

Complaints OfValue(std::string_view value) {
  Complaints out;
  if (value.size() > kLabelLengthMax) {
    out.push_back(fmt::format("must be no more than {} bytes", kLabelLengthMax));
  }
  if (!value.empty() && !IsLabelText(value)) out.emplace_back(kValue);
  return out;
}

std::string Invalid(std::string_view where, std::string_view value, const Complaints& complaints) {
  return fmt::format("{}: Invalid value: {:?}: {}", where, value, fmt::join(complaints, "; "));
}

std::string ListOf(const std::vector<std::string>& values) {
  if (values.empty()) return "null";
  std::string out;
  for (const std::string& value : values) {
    out += fmt::format("{}{:?}", out.empty() ? "[" : ",", value);
  }
  return out + "]";
}

// Whether the number and kind of values suits the operator.
void ComplainOfCount(const Requirement& requirement, std::string_view values, Complaints& out) {
  std::string_view rule;
  switch (requirement.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      if (requirement.values.empty())
        rule = "for 'in', 'notin' operators, values set can't be empty";
      break;
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      if (!requirement.values.empty()) {
        rule = "values set must be empty for exists and does not exist";
      }
      break;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      if (requirement.values.size() != 1) {
        rule = "for 'Gt', 'Lt' operators, exactly one value is required";
      } else if (LacksInteger(requirement)) {
        out.push_back(Invalid(fmt::format("{}[0]", values), requirement.values[0],
                              {"for 'Gt', 'Lt' operators, the value must be an integer"}));
      }
      break;
    case SelectorOperator::kUnknown:
      break;
  }
  if (rule.empty()) return;
  out.push_back(fmt::format("{}: Invalid value: {}: {}", values, ListOf(requirement.values), rule));
}

// `path` ends where the field's name begins.
void Complain(const Requirement& requirement, std::string_view path, Complaints& out) {
  if (const Complaints key = OfKey(requirement.key); !key.empty()) {
    out.push_back(Invalid(fmt::format("{}key", path), requirement.key, key));
  }
  const std::string values = fmt::format("{}values", path);
  ComplainOfCount(requirement, values, out);
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const Complaints value = OfValue(requirement.values[i]);
    if (value.empty()) continue;
    out.push_back(Invalid(fmt::format("{}[{}][{}]", values, i, requirement.key),
                          requirement.values[i], value));
  }
}

void ComplainOfField(const Requirement& requirement, std::string_view path, Complaints& out) {
  if (requirement.op != SelectorOperator::kIn && requirement.op != SelectorOperator::kNotIn) {
    out.push_back(
        fmt::format("{}operator: Unsupported value: {:?}: supported values: \"In\", "
                    "\"NotIn\"",
                    path, OperatorText(requirement)));
  } else if (requirement.values.size() != 1) {
    out.push_back(fmt::format("{}values: Invalid value: {}: must have one element", path,
                              ListOf(requirement.values)));
  }
}

}  // namespace

std::string Together(const std::vector<std::string>& complaints) {
  std::vector<std::string_view> different;
  for (const std::string& complaint : complaints) {
    if (std::find(different.begin(), different.end(), complaint) == different.end()) {
      different.push_back(complaint);
    }
  }
  if (different.size() <= 1) return std::string(different.empty() ? "" : different.front());
  return fmt::format("[{}]", fmt::join(different, ", "));
}

std::string ComplaintAbout(const LabelSelector& selector) {
  Complaints out;
  for (const auto& [key, value] : selector.match_labels) {
    Complain({key, SelectorOperator::kIn, {value}}, "", out);
    if (!out.empty()) return Together(out);
  }
  for (const Requirement& requirement : selector.match_expressions) {
    if (requirement.op == SelectorOperator::kUnknown || requirement.op == SelectorOperator::kGt ||
        requirement.op == SelectorOperator::kLt) {
      return fmt::format("{:?} is not a valid label selector operator", OperatorText(requirement));
    }
    Complain(requirement, "", out);
    if (!out.empty()) return Together(out);
  }
  return "";
}

std::vector<std::string> ComplaintsAbout(const NodeSelectorTerm& term, std::string_view path) {
  Complaints out;
  for (std::size_t i = 0; i < term.match_expressions.size(); ++i) {
    const Requirement& requirement = term.match_expressions[i];
    const std::string at = fmt::format("{}.matchExpressions[{}].", path, i);
    if (requirement.op == SelectorOperator::kUnknown) {
      out.push_back(
          fmt::format("{}operator: Unsupported value: {:?}: supported values: \"In\", "
                      "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"",
                      at, OperatorText(requirement)));
      continue;
    }
    Complain(requirement, at, out);
  }
  for (std::size_t i = 0; i < term.match_fields.size(); ++i) {
    ComplainOfField(term.match_fields[i], fmt::format("{}.matchFields[{}].", path, i), out);
  }
  return out;
}

}  // namespace knx::k8s
