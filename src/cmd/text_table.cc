#include "cmd/text_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/quoted_text.h"

namespace knx::cmd {
namespace {

constexpr std::string_view kBetweenColumns = "  ";

std::string Padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t have = WidthOf(text);
  const std::string padding(width > have ? width - have : 0, ' ');
  return align == Align::kLeft ? text + padding : padding + text;
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::AddRow(std::vector<std::string> cells) {
  KNX_CHECK(cells.size() <= columns_.size(), "a table row has more cells than there are columns");
  for (std::string& cell : cells) cell = Printable(cell);
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), false});
}

void TextTable::AddLine(std::string_view text) { rows_.push_back({{Printable(text)}, true}); }

std::string TextTable::ToString(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(WidthOf(column.title));
  for (const Row& row : rows_) {
    if (row.across) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row.cells[i]));
    }
  }
  std::string out;
  const auto end_line = [&out, indent](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) line.insert(0, indent, ' ');
    out += line + "\n";
  };
  const auto add = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += kBetweenColumns;
      line += Padded(cell_of(i), widths[i], columns_[i].align);
    }
    end_line(std::move(line));
  };
  add([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const Row& row : rows_) {
    if (row.across) {
      end_line(row.cells.front());
    } else {
      add([&](std::size_t i) -> const std::string& { return row.cells[i]; });
    }
  }
  return out;
}

std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string Wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  const std::string start(indent, ' ');
  std::string out;
  std::size_t used = 0;  // of the line that is being filled, its indent not counted
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t size = WidthOf(word);
    if (used > 0 && indent + used + 1 + size > width) {
      out += '\n';
      used = 0;
    }
    out += used > 0 ? " " : start;
    out += word;
    used += size + (used > 0 ? 1 : 0);
  }
  if (used > 0) out += '\n';
  return out;
}

}  // namespace knx::cmd
