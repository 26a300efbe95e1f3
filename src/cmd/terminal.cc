#include "cmd/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace knx::cmd {
namespace {

constexpr std::size_t kUsualWidth = 80;

int FileOf(Stream stream) { return stream == Stream::kOut ? STDOUT_FILENO : STDERR_FILENO; }

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool IsTerminal(Stream stream) { return isatty(FileOf(stream)) == 1; }

std::size_t TerminalWidth(Stream stream) {
  winsize size{};
  if (ioctl(FileOf(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

std::string Palette::Marked(std::string_view code, std::string_view text) const {
  if (!colours_) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

Palette PaletteFor(Stream stream) {
  return Palette(IsTerminal(stream) && Environment("NO_COLOR").empty() &&
                 Environment("TERM") != "dumb");
}

}  // namespace knx::cmd
