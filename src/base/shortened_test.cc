#include "base/shortened.h"

#include <gtest/gtest.h>

namespace knx {
namespace {

TEST(Shortened, IsNeverLongerThanAllowedAndNeverCutsACharacter) {
  struct Case {
    std::string_view name, text;
    std::size_t most;
    std::string_view want;
  };
  const Case cases[] = {
      {.name = "short", .text = "train", .most = 5, .want = "train"},
      {.name = "empty", .text = "", .most = 0, .want = ""},
      {.name = "long", .text = "training", .most = 7, .want = "trai…"},
      {.name = "within two bytes", .text = "aüüü", .most = 6, .want = "aü…"},
      {.name = "between two", .text = "üüü", .most = 5, .want = "ü…"},
      {.name = "within four bytes", .text = "a🙂🙂", .most = 8, .want = "a🙂…"},
      {.name = "room for the end only", .text = "training", .most = 3, .want = "…"},
      {.name = "room for nothing", .text = "training", .most = 2, .want = ""},
      {.name = "no text at all", .text = "\x80\x80\x80\x80\x80", .most = 4, .want = "…"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string short_one = Shortened(c.text, c.most);
    EXPECT_EQ(short_one, c.want);
    EXPECT_LE(short_one.size(), c.most);
  }
}

TEST(Shortened, EndsAsIsWanted) { EXPECT_EQ(Shortened("a message", 8, " ..."), "a me ..."); }

}  // namespace
}  // namespace knx
