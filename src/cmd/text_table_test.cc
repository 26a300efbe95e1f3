#include "cmd/text_table.h"

#include <gtest/gtest.h>

namespace knx::cmd {
namespace {

TEST(TextTable, LinesUpColumnsAndLeavesNoSpacesAtTheEnds) {
  TextTable table({{"NAME", Align::kLeft}, {"PODS", Align::kRight}, {"STATE", Align::kLeft}});
  table.AddRow({"a", "1/110", "ready"});
  table.AddLine("a line that is wider than all of the columns together");
  table.AddRow({"node-10 ×2", "12/110"});
  EXPECT_EQ(table.ToString(2),
            "  NAME          PODS  STATE\n"
            "  a            1/110  ready\n"
            "  a line that is wider than all of the columns together\n"
            "  node-10 ×2  12/110\n");
}

TEST(TextTable, KeepsControlCharactersAwayFromTheScreen) {
  TextTable table({{"NAME", Align::kLeft}});
  table.AddRow({"red\x1b[31m\nalert"});
  EXPECT_EQ(table.ToString(), "NAME\nred\\u001b[31m alert\n");
}

TEST(WidthOf, CountsCharactersNotBytes) {
  EXPECT_EQ(WidthOf(""), 0U);
  EXPECT_EQ(WidthOf("abc"), 3U);
  EXPECT_EQ(WidthOf("×…é"), 3U);
}

TEST(Wrapped, BreaksAtSpacesAndNeverInsideAWord) {
  struct Case {
    std::string_view name, text;
    std::size_t indent, width;
    std::string_view want;
  };
  const Case cases[] = {
      {.name = "nothing", .text = "", .indent = 2, .width = 10, .want = ""},
      {.name = "fits", .text = "ab cd", .indent = 2, .width = 10, .want = "  ab cd\n"},
      {.name = "just fits", .text = "ab cdefg", .indent = 2, .width = 10, .want = "  ab cdefg\n"},
      {.name = "breaks", .text = "ab cdefgh", .indent = 2, .width = 10, .want = "  ab\n  cdefgh\n"},
      {.name = "long word",
       .text = "a bcdefghijklm n",
       .indent = 0,
       .width = 5,
       .want = "a\nbcdefghijklm\nn\n"},
      {.name = "spaces", .text = "  a   b ", .indent = 0, .width = 5, .want = "a b\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Wrapped(c.text, c.indent, c.width), c.want);
  }
}

}  // namespace
}  // namespace knx::cmd
