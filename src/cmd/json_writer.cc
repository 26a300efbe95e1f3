#include "cmd/json_writer.h"

#include "base/quoted_text.h"

namespace knx::cmd {

void JsonWriter::BeginMap() { Begin('{'); }
void JsonWriter::EndMap() { End('}'); }
void JsonWriter::BeginList() { Begin('['); }
void JsonWriter::EndList() { End(']'); }

void JsonWriter::Begin(char bracket) {
  BeforeValue();
  out_ += bracket;
  filled_.push_back(false);
}

void JsonWriter::End(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) NewLine();
  out_ += bracket;
  AfterValue();
}

void JsonWriter::Key(std::string_view key) {
  BeforeValue();
  out_ += QuotedText(key);
  out_ += ": ";
  after_key_ = true;
}

void JsonWriter::Text(std::string_view text) { Literal(QuotedText(text)); }

void JsonWriter::Literal(std::string_view literal) {
  BeforeValue();
  out_ += literal;
  AfterValue();
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (filled_.empty()) return;
  if (filled_.back()) out_ += ',';
  filled_.back() = true;
  NewLine();
}

void JsonWriter::AfterValue() {
  if (filled_.empty()) out_ += '\n';
}

void JsonWriter::NewLine() {
  out_ += '\n';
  out_.append(2 * filled_.size(), ' ');
}

}  // namespace knx::cmd
