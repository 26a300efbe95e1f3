#include "base/percent.h"

#include <gtest/gtest.h>

namespace knx {
namespace {

TEST(Percent, DecodesEscapesAndRefusesBrokenOnes) {
  struct Case {
    std::string_view text;
    std::optional<std::string> want;
  };
  const Case cases[] = {
      {"", ""},
      {"plain/path", "plain/path"},
      {"%41%62", "Ab"},
      {"a%2Fb%2fc", "a/b/c"},
      {"%00", std::string(1, '\0')},
      {"%25", "%"},
      {"100%", std::nullopt},
      {"%4", std::nullopt},
      {"%4g", std::nullopt},
      {"%%41", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(DecodePercent(c.text), c.want) << c.text;
}

}  // namespace
}  // namespace knx
