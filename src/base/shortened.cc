#include "base/shortened.h"

namespace knx {

std::string Shortened(std::string_view text, std::size_t most, std::string_view end) {
  if (text.size() <= most) return std::string(text);
  if (most < end.size()) return {};
  std::size_t length = most - end.size();
  // Bytes 10xxxxxx go on with a character that began before them.
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  return std::string(text.substr(0, length)).append(end);
}

}  // namespace knx
