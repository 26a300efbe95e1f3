#include "net/request_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::net {
namespace {

TEST(RequestTarget, IsTakenApartOrRefused) {
  struct Case {
    std::string_view text;
    std::string_view path, query;  // empty path: refused
  };
  const Case cases[] = {
      {"/", "/", ""},
      {"/healthz?verbose", "/healthz", "verbose"},
      {"/healthz?", "/healthz", ""},
      {"/a%2Fb%20c?x=%20", "/a/b c", "x=%20"},
      {"/a?b?c", "/a", "b?c"},
      {"http://host:80/metrics?x", "/metrics", "x"},
      {"https://host/metrics", "/metrics", ""},
      {"*", "*", ""},
      {"//double", "//double", ""},
      {"http://host", "", ""},
      {"http://host?x", "", ""},
      {"host:443", "", ""},
      {"metrics", "", ""},
      {"/%zz", "", ""},
      {"/%2", "", ""},
      {"", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto target = ParseTarget(c.text);
    ASSERT_EQ(target.ok(), !c.path.empty());
    if (!target.ok()) continue;
    EXPECT_EQ(target->path, c.path);
    EXPECT_EQ(target->query, c.query);
  }
}

TEST(RequestTarget, ValuesOfAQueryAreDecodedAndInOrder) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(QueryValues("exclude=a&verbose&exclude=b%20c&exclude=d+e", "exclude"),
              ElementsAre("a", "b c", "d e"));
  EXPECT_THAT(QueryValues("exclude=a&verbose", "verbose"), ElementsAre(""));
  EXPECT_THAT(QueryValues("verbose=", "verbose"), ElementsAre(""));
  EXPECT_THAT(QueryValues("%76erbose=1", "verbose"), ElementsAre("1"));
  EXPECT_THAT(QueryValues("verbose=%z&&=&verbose;x", "verbose"), IsEmpty());
  EXPECT_THAT(QueryValues("", "verbose"), IsEmpty());
}

}  // namespace
}  // namespace knx::net
