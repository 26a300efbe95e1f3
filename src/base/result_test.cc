#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace knx {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidError("odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  KNX_TRY(const int half, Half(n));
  return Half(half);
}

Status CheckEven(int n) {
  KNX_TRY_DONE(Half(n).ok() ? Ok() : Status(NotFoundError("no half")));
  return Ok();
}

TEST(Result, HoldsAValueOrTheReasonWhyThereIsNone) {
  const Result<int> good = Half(4);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 2);
  const Result<int> bad = Half(3);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(bad.error().message, "odd");
}

TEST(Result, TryReturnsTheFirstErrorToTheCaller) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_EQ(Quarter(5).error().message, "odd");
  EXPECT_TRUE(CheckEven(2).ok());
  EXPECT_EQ(CheckEven(1).error().kind, ErrorKind::kNotFound);
}

TEST(Result, GivesAwayWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, StopsTheProgramWhenAMissingValueIsUsed) {
  EXPECT_DEATH({ [[maybe_unused]] const int n = *Half(1); }, "value of a failed Result used");
}

TEST(Error, IsPrintedWithThePlaceAsFarAsItIsKnown) {
  struct Case {
    SourcePlace place;
    std::string_view want;
  };
  const Case cases[] = {
      {{}, "bad"},
      {{.file = "a.yaml", .line = 0, .column = 0}, "a.yaml: bad"},
      {{.file = "a.yaml", .line = 3, .column = 0}, "a.yaml:3: bad"},
      {{.file = "a.yaml", .line = 3, .column = 7}, "a.yaml:3:7: bad"},
      {{.file = "a.yaml", .line = 0, .column = 7}, "a.yaml: bad"},
      {{.file = "", .line = 3, .column = 7}, "<input>:3:7: bad"},
  };
  for (const Case& c : cases) EXPECT_EQ(InvalidError("bad", c.place).ToString(), c.want);
}

TEST(Error, CollectsContextInFrontAndKeepsKindAndPlace) {
  const SourcePlace place{.file = "p.yaml", .line = 2, .column = 1};
  const Error error = InvalidError("unknown field", place).Within("score").Within("profile");
  EXPECT_EQ(error.message, "profile: score: unknown field");
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_EQ(error.place, place);
}

}  // namespace
}  // namespace knx
