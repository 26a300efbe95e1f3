#include "cmd/yaml_writer.h"

#include <algorithm>

#include "base/quoted_text.h"

namespace knx::cmd {
namespace {

bool IsPlainWord(std::string_view key) {
  return std::all_of(key.begin(), key.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

void YamlWriter::BeginMap() { Begin(false); }
void YamlWriter::EndMap() { End("{}"); }
void YamlWriter::BeginList() { Begin(true); }
void YamlWriter::EndList() { End("[]"); }

void YamlWriter::Begin(bool list) {
  BeginEntry();
  levels_.push_back({.list = list, .filled = false});
}

void YamlWriter::End(std::string_view if_empty) {
  const bool filled = levels_.back().filled;
  levels_.pop_back();
  if (filled) return;
  if (before_ != Before::kNothing) out_ += ' ';
  out_ += if_empty;
  out_ += '\n';
  before_ = Before::kNothing;
}

void YamlWriter::Key(std::string_view key) {
  NewLine();
  levels_.back().filled = true;
  out_ += IsPlainWord(key) ? std::string(key) : QuotedText(key);
  out_ += ':';
  before_ = Before::kKey;
}

void YamlWriter::Text(std::string_view text) { Literal(QuotedText(text)); }

void YamlWriter::Literal(std::string_view literal) {
  BeginEntry();
  if (before_ != Before::kNothing) out_ += ' ';
  out_ += literal;
  out_ += '\n';
  before_ = Before::kNothing;
}

void YamlWriter::BeginEntry() {
  if (levels_.empty() || !levels_.back().list) return;
  NewLine();
  levels_.back().filled = true;
  out_ += '-';
  before_ = Before::kDash;
}

// The first thing in a map that is an entry of a list stands beside the dash.
void YamlWriter::NewLine() {
  if (before_ == Before::kDash) {
    out_ += ' ';
    return;
  }
  if (before_ == Before::kKey) out_ += '\n';
  out_.append(2 * (levels_.size() - 1), ' ');
}

}  // namespace knx::cmd
