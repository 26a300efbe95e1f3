#include "base/digest.h"

#include <gtest/gtest.h>

namespace knx {
namespace {

TEST(Digest, IsFnv1aOfTheWholeText) {
  EXPECT_EQ(DigestOf(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(DigestOf("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(DigestOf("foobar"), 0x85944171f73967e8ULL);
  Digest parts;
  parts.Add("foo");
  parts.Add("bar");
  EXPECT_EQ(parts.value(), DigestOf("foobar"));
}

}  // namespace
}  // namespace knx
