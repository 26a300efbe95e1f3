#include "client/reporting_controller.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace knx::client {
namespace {

TEST(ReportingController, IsAsNearToTheNameAsTheApiServerTakes) {
  const std::string longest(63, 'a'), domain(253, 'd');
  const struct {
    std::string name, want;
  } cases[] = {
      {"default-scheduler", "default-scheduler"},
      {"UPPER_case.1", "UPPER_case.1"},
      {longest, longest},
      {longest + "b", longest},
      {longest.substr(1) + "-b", longest.substr(1)},
      {"white space", "white-space"},
      {"-at the ends-", "at-the-ends"},
      {"example.com/gpu", "example.com/gpu"},
      {domain + "/gpu", domain + "/gpu"},
      {"Example.com/gpu", "Example.com-gpu"},
      {"/gpu", "gpu"},
      {"a/b/c", "a-b-c"},
      {"größe", "gr----e"},
      {"你", "scheduler"},
      {"", "scheduler"},
  };
  for (const auto& one : cases) EXPECT_EQ(ReportingController(one.name), one.want) << one.name;
}

TEST(ReportingController, AnInstanceIsOnAHost) {
  EXPECT_EQ(ReportingInstance("a", "here"), "a-here");
  EXPECT_EQ(ReportingInstance(std::string(100, 'a'), std::string(100, 'b')),
            fmt::format("{}-{}", std::string(100, 'a'), std::string(27, 'b')));
}

}  // namespace
}  // namespace knx::client
