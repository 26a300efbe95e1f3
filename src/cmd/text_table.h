// Lines of text in columns that line up, for a screen.
// Knows nothing of what stands in them. A cell is never cut: a long one makes its column wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace knx::cmd {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns);

  // One cell a column; cells left out at the end are empty.
  void AddRow(std::vector<std::string> cells);
  // A line across all columns, which does not make any of them wider.
  void AddLine(std::string_view text);

  // The titles and the rows. Every line is indented, ends with \n and has no spaces before it.
  [[nodiscard]] std::string ToString(std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool across = false;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Characters, not bytes, of a UTF-8 text.
std::size_t WidthOf(std::string_view text);

// `text` in lines of at most `width` characters, broken at spaces; each indented and ended with \n.
// A word that is longer gets a line of its own.
std::string Wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace knx::cmd
