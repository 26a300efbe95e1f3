// What the other end of our output is: a person at a terminal or a program at a pipe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knx::cmd {

enum class Stream { kOut, kErr };

bool IsTerminal(Stream stream);
// Columns of the terminal; 80 if it does not say.
std::size_t TerminalWidth(Stream stream);

// Marks for texts; without colours it gives them back as they are.
class Palette {
 public:
  explicit Palette(bool colours) : colours_(colours) {}

  [[nodiscard]] std::string Heading(std::string_view text) const { return Marked("1", text); }
  [[nodiscard]] std::string Good(std::string_view text) const { return Marked("32", text); }
  [[nodiscard]] std::string Warning(std::string_view text) const { return Marked("33", text); }
  [[nodiscard]] std::string Bad(std::string_view text) const { return Marked("1;31", text); }

 private:
  [[nodiscard]] std::string Marked(std::string_view code, std::string_view text) const;

  bool colours_;
};

// Colours only for a terminal that has them, and not for who sets NO_COLOR.
Palette PaletteFor(Stream stream);

}  // namespace knx::cmd
