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
      {.name = "the other control characters", .text = "\u0085\u009b", .want = R"("\u0085\u009b")"},
      {.name = "direction of writing",
       .text = "\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
       .want = R"("\u061c\u200e\u200f\u202a\u202e\u2066\u2069")"},
      {.name = "line ends and marks", .text = "\u2028\ufeff", .want = R"("\u2028\ufeff")"},
      {.name = "neighbours of those",
       .text = "\u00a0\u200d\u2010\u2065\u206a",
       .want = "\"\u00a0\u200d\u2010\u2065\u206a\""},
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

TEST(Printable, IsOneLineOfWhatCanBeSeen) {
  struct Case {
    std::string_view name, text, want;
  };
  const Case cases[] = {
      {.name = "plain", .text = "a \"b\" \\ é×…🙂", .want = "a \"b\" \\ é×…🙂"},
      {.name = "lines", .text = "a\nb\tc\r", .want = "a b c "},
      {.name = "control", .text = "\x1b[2J\x7f", .want = R"(\u001b[2J\u007f)"},
      {.name = "the other control characters", .text = "\u009b2J", .want = R"(\u009b2J)"},
      {.name = "direction of writing", .text = "a\u202eb\u2066", .want = R"(a\u202eb\u2066)"},
      {.name = "mark", .text = "\ufeff", .want = R"(\ufeff)"},
      {.name = "a lone byte", .text = "a\x9b", .want = "a\xEF\xBF\xBD"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Printable(c.text), c.want);
  }
}

TEST(Utf8, KeepsEverythingThatIsText) {
  EXPECT_EQ(Utf8("plain"), "plain");
  EXPECT_EQ(Utf8("\"a\\\n\xC3\xA9"), "\"a\\\n\xC3\xA9");
  EXPECT_EQ(Utf8("a\xFFz"), "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace knx
