// Any bytes as requests of a client, whole and in pieces: they are refused with a status, wait for
// more, or give the same requests however they are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http_request_parser.h"
#include "net/request_target.h"

namespace {

using knx::net::HttpRequestParser;

constexpr HttpRequestParser::Limits kLimits{.head = 512, .body = 256};

// What was understood, as one text.
std::string ParseAll(std::string_view bytes, std::size_t step) {
  std::string out;
  std::string waiting;
  HttpRequestParser parser(kLimits);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    waiting += bytes.substr(at, step);
    waiting.erase(0, parser.Parse(waiting));
    if (parser.refusal()) {
      KNX_CHECK(parser.refusal()->status >= 400 && !parser.refusal()->reason.empty(),
                "a refusal says why");
      return out + "refused";
    }
    if (!parser.complete()) continue;
    const knx::net::ServerRequest request = parser.Take();
    KNX_CHECK(request.body.size() <= kLimits.body, "bodies have a limit");
    KNX_CHECK(request.path == "*" || request.path.starts_with('/'), "a path begins with a slash");
    (void)knx::net::QueryValues(request.query, "verbose");
    out += request.method + ' ' + request.target + ' ' + request.body + '\n';
    for (const auto& [name, value] : request.headers) {
      KNX_CHECK(value.find_first_of("\r\n") == std::string::npos, "a header is one line");
      out += name + ':' + value + '\n';
    }
    return out;
  }
  return out + "waiting";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = ParseAll(bytes, std::max<std::size_t>(size, 1));
  for (const std::size_t step : {std::size_t{1}, std::size_t{5}}) {
    const std::string cut = ParseAll(bytes, step);
    // Limits are found earlier or later, depending on the pieces.
    KNX_CHECK(cut == whole || size > kLimits.head || cut.ends_with("refused") ||
                  whole.ends_with("refused"),
              "the pieces do not matter");
  }
  return 0;
}
