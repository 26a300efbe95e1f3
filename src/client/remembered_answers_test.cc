#include "client/remembered_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::client {
namespace {

using ::testing::ElementsAre;

constexpr Time AtSecond(std::int64_t second) { return Time{} + Duration::Seconds(second); }

TEST(RememberedAnswers, AsksOnceAndTellsEverybody) {
  RememberedAnswers<int> answers(Duration::Seconds(10), 5);
  std::vector<int> told;
  const auto tell = [&](const Result<int>& answer) { told.push_back(answer.ok() ? *answer : -1); };
  EXPECT_TRUE(answers.Ask("a", AtSecond(0), tell));
  EXPECT_FALSE(answers.Ask("a", AtSecond(1), tell));
  EXPECT_TRUE(answers.Ask("b", AtSecond(1), tell));
  answers.Put("a", AtSecond(2), 7);
  EXPECT_THAT(told, ElementsAre(7, 7));
  EXPECT_FALSE(answers.Ask("a", AtSecond(11), tell));
  EXPECT_THAT(told, ElementsAre(7, 7, 7));
  EXPECT_TRUE(answers.Ask("a", AtSecond(12), tell)) << "ten seconds have passed";
}

TEST(RememberedAnswers, TellsErrorsAndForgetsThem) {
  RememberedAnswers<int> answers(Duration::Seconds(10), 5);
  std::vector<std::string> told;
  const auto tell = [&](const Result<int>& answer) { told.push_back(answer.error().message); };
  EXPECT_TRUE(answers.Ask("a", AtSecond(0), tell));
  EXPECT_FALSE(answers.Ask("a", AtSecond(0), tell));
  answers.Put("a", AtSecond(0), InvalidError("no"));
  EXPECT_THAT(told, ElementsAre("no", "no"));
  EXPECT_TRUE(answers.Ask("a", AtSecond(0), tell));
}

TEST(RememberedAnswers, ForgetsTheOldestWhenThereAreTooMany) {
  RememberedAnswers<int> answers(Duration::Seconds(10), 3);
  const auto ignore = [](const Result<int>&) {};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(answers.Ask(std::to_string(i), AtSecond(0), ignore));
    answers.Put(std::to_string(i), AtSecond(0), i);
    ASSERT_LE(answers.size(), 3U);
  }
  EXPECT_TRUE(answers.Ask("96", AtSecond(0), ignore));
  EXPECT_FALSE(answers.Ask("97", AtSecond(0), ignore));
  EXPECT_FALSE(answers.Ask("99", AtSecond(0), ignore));
}

TEST(RememberedAnswers, WhoIsToldMayAskAgain) {
  RememberedAnswers<int> answers(Duration{}, 1);
  int asked = 0;
  const std::function<void(const Result<int>&)> again = [&](const Result<int>&) {
    if (++asked < 3) answers.Ask("a", AtSecond(0), again);
  };
  answers.Ask("a", AtSecond(0), again);
  for (int i = 0; i < 5; ++i) answers.Put("a", AtSecond(0), i);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace knx::client
