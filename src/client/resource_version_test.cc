#include "client/resource_version.h"

#include <gtest/gtest.h>

namespace knx::client {
namespace {

TEST(ResourceVersion, IsLaterAsANumberIsGreater) {
  const struct {
    std::string_view version, than;
    bool later;
  } cases[] = {
      {"10", "9", true},
      {"9", "10", false},
      {"11", "10", true},
      {"10", "10", false},
      {"1", "", true},
      {"100000000000000000000", "99999999999999999999", true},
      {"", "", false},
      {"", "1", false},
      {"0", "", false},
      {"10", "09", false},
      {"b", "a", false},
      {"2", "a", false},
      {"-1", "", false},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(IsLaterVersion(one.version, one.than), one.later)
        << "\"" << one.version << "\" after \"" << one.than << "\"";
  }
}

}  // namespace
}  // namespace knx::client
