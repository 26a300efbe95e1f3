#include "client/condition_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::client {
namespace {

using ::testing::HasSubstr;

TEST(ConditionJson, SaysAsMuchAsIsTaken) {
  k8s::Condition condition;
  condition.type = "Ready";
  condition.message = "short";
  EXPECT_THAT(ConditionJson(condition, Time{}), HasSubstr(R"("message":"short")"));
  condition.message = std::string(1'000'000, 'x');
  const std::string json = ConditionJson(condition, Time{});
  EXPECT_THAT(json, HasSubstr("x…\""));
  EXPECT_GT(json.size(), kLongestConditionMessage);
  EXPECT_LT(json.size(), kLongestConditionMessage + 200);
}

}  // namespace
}  // namespace knx::client
