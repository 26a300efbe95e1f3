// Writes a document as YAML, in blocks. Texts are always quoted, so that none is taken for a
// number.
#pragma once

#include <string>
#include <vector>

#include "cmd/document_writer.h"

namespace knx::cmd {

class YamlWriter final : public DocumentWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  void BeginMap() override;
  void EndMap() override;
  void BeginList() override;
  void EndList() override;
  void Key(std::string_view key) override;
  void Text(std::string_view text) override;
  void Literal(std::string_view literal) override;

 private:
  enum class Before { kNothing, kKey, kDash };  // what stands in the line already
  struct Level {
    bool list = false;
    bool filled = false;
  };

  void Begin(bool list);
  void End(std::string_view if_empty);
  // Of a list: the dash of its next entry.
  void BeginEntry();
  void NewLine();

  std::string& out_;
  std::vector<Level> levels_;
  Before before_ = Before::kNothing;
};

}  // namespace knx::cmd
