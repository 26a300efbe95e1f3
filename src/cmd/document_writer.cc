#include "cmd/document_writer.h"

#include <fmt/format.h>

#include "cmd/human_units.h"

namespace knx::cmd {
void DocumentWriter::Number(std::int64_t number) { Literal(fmt::format("{}", number)); }
void DocumentWriter::Number(std::uint64_t number) { Literal(fmt::format("{}", number)); }
void DocumentWriter::Thousandths(std::int64_t number) { Literal(FormatCores(number)); }

void DocumentWriter::Seconds(Duration span) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t size = span.ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(span.ns)
                                         : static_cast<std::uint64_t>(span.ns);
  std::string text =
      fmt::format("{}{}.{:09}", span.ns < 0 ? "-" : "", size / kSecond, size % kSecond);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  Literal(text);
}

void Put(DocumentWriter& out, std::string_view key, std::string_view text) {
  out.Key(key);
  out.Text(text);
}

void Put(DocumentWriter& out, std::string_view key, std::int64_t number) {
  out.Key(key);
  out.Number(number);
}

void PutBool(DocumentWriter& out, std::string_view key, bool value) {
  out.Key(key);
  out.Bool(value);
}

}  // namespace knx::cmd
