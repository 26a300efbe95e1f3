#include "base/bitmap.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace knx {
namespace {

std::vector<std::uint32_t> Members(const Bitmap& bitmap) {
  std::vector<std::uint32_t> out;
  bitmap.ForEach([&out](std::uint32_t i) { out.push_back(i); });
  return out;
}

TEST(Bitmap, IsEmptyUntilSomethingIsSet) {
  Bitmap bitmap;
  EXPECT_FALSE(bitmap.Any());
  EXPECT_EQ(bitmap.Count(), 0U);
  EXPECT_FALSE(bitmap.Test(0));
  EXPECT_FALSE(bitmap.Test(4'000'000'000));
  bitmap.Reset(4'000'000'000);
  EXPECT_EQ(bitmap.bytes(), 0U);
  EXPECT_TRUE(Members(bitmap).empty());
}

TEST(Bitmap, AgreesWithASetAndVisitsInAscendingOrder) {
  Bitmap bitmap;
  std::set<std::uint32_t> model;
  // Around the edges of the 64-bit words, and some twice.
  for (const std::uint32_t i : {63U, 0U, 64U, 127U, 128U, 1000U, 64U, 65U}) {
    bitmap.Set(i);
    model.insert(i);
  }
  for (const std::uint32_t i : {64U, 128U, 5U}) {
    bitmap.Reset(i);
    model.erase(i);
  }
  for (std::uint32_t i = 0; i < 1100; ++i) EXPECT_EQ(bitmap.Test(i), model.contains(i)) << i;
  EXPECT_EQ(bitmap.Count(), model.size());
  EXPECT_TRUE(bitmap.Any());
  EXPECT_EQ(Members(bitmap), std::vector<std::uint32_t>(model.begin(), model.end()));
}

TEST(Bitmap, AssignSetsAndResets) {
  Bitmap bitmap;
  bitmap.Assign(70, true);
  EXPECT_TRUE(bitmap.Test(70));
  bitmap.Assign(70, false);
  EXPECT_FALSE(bitmap.Test(70));
  EXPECT_FALSE(bitmap.Any());
}

}  // namespace
}  // namespace knx
