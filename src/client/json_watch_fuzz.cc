// Any bytes as a watch in JSON: the lines do not depend on how they were cut, and each of them is
// an event or is refused with a message. And as a list.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "client/json_watch.h"

namespace {

std::vector<std::string> Lines(std::string_view stream, std::size_t piece) {
  knx::client::LineSplitter splitter(1 << 16);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    splitter.Append(stream.substr(at, piece));
    for (;;) {
      const auto line = splitter.Next();
      if (!line.ok()) return lines;
      if (!*line) break;
      lines.emplace_back(**line);
    }
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = Lines(stream, std::max<std::size_t>(size, 1));
  KNX_CHECK(lines == Lines(stream, 7), "lines do not depend on how they were cut");
  for (const std::string& line : lines) {
    const auto event = knx::client::ReadJsonEvent(line);
    KNX_CHECK(event.ok() || !event.error().message.empty(), "a refusal says why");
  }
  const auto list = knx::client::ReadJsonList(stream);
  KNX_CHECK(list.ok() || !list.error().message.empty(), "a refusal says why");
  return 0;
}
