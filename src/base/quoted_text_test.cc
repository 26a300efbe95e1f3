#include "base/quoted_text.h"

#include <gtest/gtest.h>

namespace knx {
namespace {

TEST(QuotedText, IsAlwaysValidUtf8WithoutControlCharacters) {
  struct Case {
    std::string_view name, text, want;
  };
  const Case cases[] = {
      {.name = "plain", .text = "a b", .want = R"("a b")"},
      {.name = "quotes", .text = "a\"b\\c", .want = R"("a\"b\\c")"},
      {.name = "lines", .text = "a\nb\tc\r", .want = R"("a\nb\tc\r")"},
      {.name = "control", .text = "\x1b\x7f", .want = R"("\u001b\u007f")"},
      {.name = "characters", .text = "é×…🙂", .want = R"("é×…🙂")"},
      {.name = "stray byte",
       .text = "a\xFF"
               "b",
       .want = "\"a\xEF\xBF\xBD"
               "b\""},
      {.name = "cut off", .text = "a\xE2\x80", .want = "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {.name = "too long a form", .text = "\xC0\x80", .want = "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {.name = "half of a pair",
       .text = "\xED\xA0\x80",
       .want = "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(QuotedText(c.text), c.want);
  }
  EXPECT_EQ(QuotedText(std::string_view("\0", 1)), R"("\u0000")");
}

}  // namespace
}  // namespace knx
