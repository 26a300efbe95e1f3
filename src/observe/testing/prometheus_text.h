// Reads the text that Prometheus reads, and is as strict about it: what it would refuse, or what
// would make no sense to it, is an error here.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace knx::observe::testing {

using Labels = std::map<std::string, std::string>;

struct ReadFamily {
  std::string type, help;
  // By the name of the sample, which of a histogram has an ending, and its labels.
  std::map<std::string, std::map<Labels, double>> samples;
};

class PrometheusText {
 public:
  static Result<PrometheusText> Read(std::string_view text);

  [[nodiscard]] const std::map<std::string, ReadFamily>& families() const { return families_; }
  // Of the sample; nullopt: there is none.
  [[nodiscard]] std::optional<double> Find(const std::string& name,
                                           const Labels& labels = {}) const;
  // Without endings of histograms.
  [[nodiscard]] static std::string FamilyOf(const std::string& sample, const std::string& current);

 private:
  Status ReadComment(std::string_view line);
  Status ReadSample(std::string_view line);
  Status CheckHistogram(const std::string& name, const ReadFamily& family) const;

  std::map<std::string, ReadFamily> families_;
  std::string current_;  // the family whose lines are being read
};

inline bool IsMetricName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

inline std::optional<double> ReadValue(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "+Inf") return kInfinity;
  if (text == "-Inf") return -kInfinity;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A value between quotation marks; takes it from the text.
inline std::optional<std::string> TakeQuoted(std::string_view& text) {
  std::string out;
  if (!text.starts_with('"')) return std::nullopt;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return out;
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] != '\\' && text[i] != '"' && text[i] != 'n') return std::nullopt;
    out += text[i] == 'n' ? '\n' : text[i];
  }
  return std::nullopt;
}

inline Result<PrometheusText> PrometheusText::Read(std::string_view text) {
  PrometheusText read;
  if (!text.empty() && text.back() != '\n') return InvalidError("the last line has no end");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    KNX_TRY_DONE(line.starts_with('#') ? read.ReadComment(line) : read.ReadSample(line));
  }
  for (const auto& [name, family] : read.families_) {
    if (family.samples.empty()) return InvalidError(name + ": has no samples");
    if (family.type == "histogram") KNX_TRY_DONE(read.CheckHistogram(name, family));
  }
  return read;
}

inline Status PrometheusText::ReadComment(std::string_view line) {
  const bool help = line.starts_with("# HELP ");
  if (!help && !line.starts_with("# TYPE ")) return InvalidError("neither HELP nor TYPE");
  line.remove_prefix(7);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return InvalidError("nothing after the name");
  const std::string name(line.substr(0, space)), rest(line.substr(space + 1));
  if (!IsMetricName(name)) return InvalidError(name + ": not a name");
  if (help) {
    if (families_.contains(name)) return InvalidError(name + ": comes twice");
    current_ = name;
    families_[name].help = rest;
    return Ok();
  }
  if (name != current_) return InvalidError(name + ": its type is not beside its help");
  if (rest != "counter" && rest != "gauge" && rest != "histogram") {
    return InvalidError(rest + ": not a type");
  }
  families_[name].type = rest;
  return Ok();
}

inline std::string PrometheusText::FamilyOf(const std::string& sample, const std::string& current) {
  for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
    if (sample == current + std::string(ending)) return current;
  }
  return sample;
}

inline Status PrometheusText::ReadSample(std::string_view line) {
  const std::size_t name_end = line.find_first_of("{ ");
  if (name_end == std::string_view::npos) return InvalidError("a sample without a value");
  const std::string name(line.substr(0, name_end));
  if (!IsMetricName(name)) return InvalidError(name + ": not a name");
  line.remove_prefix(name_end);
  Labels labels;
  if (line.starts_with('{')) {
    do {
      line.remove_prefix(1);
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) return InvalidError(name + ": a label has no value");
      const std::string label(line.substr(0, equals));
      if (!IsMetricName(label) || label.find(':') != std::string::npos) {
        return InvalidError(label + ": not a label");
      }
      line.remove_prefix(equals + 1);
      const auto value = TakeQuoted(line);
      if (!value) return InvalidError(name + ": a value is not quoted as it should be");
      if (!labels.emplace(label, *value).second) return InvalidError(label + ": twice");
    } while (line.starts_with(','));
    if (!line.starts_with('}')) return InvalidError(name + ": its labels have no end");
    line.remove_prefix(1);
  }
  if (!line.starts_with(' ')) return InvalidError(name + ": no space before its value");
  const auto value = ReadValue(line.substr(1));
  if (!value) return InvalidError(std::string(line) + ": not a number");
  const std::string family = FamilyOf(name, current_);
  if (family != current_) return InvalidError(name + ": is not beside its type");
  if (!families_[family].samples[name].emplace(labels, *value).second) {
    return InvalidError(name + ": the same labels twice");
  }
  return Ok();
}

inline Status PrometheusText::CheckHistogram(const std::string& name,
                                             const ReadFamily& family) const {
  std::map<Labels, std::map<double, double>> buckets;
  for (const auto& [labels, value] : family.samples.at(name + "_bucket")) {
    Labels others = labels;
    const auto le = others.extract("le");
    if (le.empty()) return InvalidError(name + ": a bucket has no bound");
    buckets[others][ReadValue(le.mapped()).value_or(-1)] = value;
  }
  for (const auto& [labels, by_bound] : buckets) {
    double before = 0;
    for (const auto& [bound, count] : by_bound) {
      if (count < before) return InvalidError(name + ": a bucket holds less than a smaller one");
      before = count;
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (!by_bound.contains(kInfinity)) return InvalidError(name + ": nothing counts all");
    if (Find(name + "_count", labels) != by_bound.at(kInfinity)) {
      return InvalidError(name + ": the count is another than that of all buckets");
    }
    if (!Find(name + "_sum", labels)) return InvalidError(name + ": has no sum");
  }
  return Ok();
}

inline std::optional<double> PrometheusText::Find(const std::string& name,
                                                  const Labels& labels) const {
  for (const auto& [family_name, family] : families_) {
    const auto sample = family.samples.find(name);
    if (sample == family.samples.end()) continue;
    const auto value = sample->second.find(labels);
    if (value != sample->second.end()) return value->second;
  }
  return std::nullopt;
}

}  // namespace knx::observe::testing
