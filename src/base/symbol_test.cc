#include "base/symbol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx {
namespace {

TEST(SymbolTable, GivesEqualTextsEqualSymbolsInOrderOfFirstUse) {
  SymbolTable table;
  const Symbol a = table.Intern("zone-a");
  const Symbol empty = table.Intern("");
  EXPECT_EQ(a.index, 0U);
  EXPECT_EQ(empty.index, 1U);
  EXPECT_EQ(table.Intern("zone-a"), a);
  EXPECT_NE(a, empty);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.Text(a), "zone-a");
  EXPECT_EQ(table.Text(empty), "");
}

TEST(SymbolTable, FindsOnlyWhatWasInterned) {
  SymbolTable table;
  const Symbol a = table.Intern("a");
  EXPECT_EQ(table.Find("a"), a);
  EXPECT_FALSE(table.Find("b").valid());
  EXPECT_FALSE(table.Find("").valid());
  EXPECT_EQ(table.size(), 1U);
}

TEST(SymbolTable, KeepsTextsWhereTheyAreWhileItGrows) {
  SymbolTable table;
  const std::string_view first = table.Text(table.Intern("short"));
  for (int i = 0; i < 10'000; ++i) table.Intern(fmt::format("a-label-value-of-some-length-{}", i));
  EXPECT_EQ(table.Text(Symbol{0}).data(), first.data());
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    ASSERT_EQ(table.Find(table.Text(Symbol{i})).index, i);
  }
}

TEST(SymbolTable, CountsTheBytesOfLongTexts) {
  SymbolTable table;
  table.Intern("a");
  const std::size_t before = table.bytes();
  table.Intern(std::string(1000, 'x'));
  EXPECT_GE(table.bytes(), before + 1000);
}

}  // namespace
}  // namespace knx
