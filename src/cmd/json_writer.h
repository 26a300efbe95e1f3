// Writes a document as JSON, indented by two spaces.
#pragma once

#include <string>
#include <vector>

#include "cmd/document_writer.h"

namespace knx::cmd {

class JsonWriter final : public DocumentWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void BeginMap() override;
  void EndMap() override;
  void BeginList() override;
  void EndList() override;
  void Key(std::string_view key) override;
  void Text(std::string_view text) override;
  void Literal(std::string_view literal) override;

 private:
  void Begin(char bracket);
  void End(char bracket);
  void BeforeValue();  // comma, line end and indent, as far as they are due
  void AfterValue();
  void NewLine();

  std::string& out_;
  std::vector<bool> filled_;  // for every open map or list: whether there is something in it
  bool after_key_ = false;
};

}  // namespace knx::cmd
