// Watches that end sooner than they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/reflector_test_base.h"
#include "client/testing/wire.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using testing::BookmarkEvent;
using ::testing::ElementsAre;
using testing::ErrorEvent;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NodeEvent;

class ReflectorEndsTest : public ReflectorTest {};

TEST_F(ReflectorEndsTest, StreamsThatEndAtOnceAreNoStorm) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, BookmarkEvent("9", true),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 10U);
}

TEST_F(ReflectorEndsTest, AStreamThatWasQuietForLongEnoughIsOpenedAgainSoon) {
  server_.Otherwise([this](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Begin(asked, 200, {{"content-type", ApiServer::kProtobufWatch}});
    loop_.After(Duration::Milliseconds(40), [&server, asked] { server.http().End(asked); });
  });
  Follow();
  EXPECT_TRUE(RunUntil(loop_, [&] { return server_.asked().size() == 20; }, Duration::Seconds(3)));
  EXPECT_EQ(failures_, 0);
}

TEST_F(ReflectorEndsTest, StreamsThatEndAtOnceAgainAndAgainAreSaidOnceAndCounted) {
  server_.NextWatch(BookmarkEvent("9", true));
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, "", {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  Told(1);
  RunFor(loop_, Duration::Milliseconds(50));
  server_.EndWatch();  // which was long enough
  ASSERT_TRUE(RunUntil(loop_, [&] { return !troubles_.empty(); }));
  const int before = failures_;
  EXPECT_GE(before, 3);
  ASSERT_TRUE(RunUntil(loop_, [&] { return failures_ > before; }));
  EXPECT_THAT(troubles_,
              ElementsAre(HasSubstr("/api/v1/nodes: watches are let in and ended within 30ms")));
  EXPECT_EQ(opened_.substr(0, 4), "annn");
}

// As a server that is too busy to tell us things as fast as they happen does.
TEST_F(ReflectorEndsTest, AStreamThatEndsAfterNewsIsOpenedAgainAtOnce) {
  constexpr int kChanges = 40;
  server_.NextWatch(BookmarkEvent("9", true));
  int changes = 0;
  server_.Otherwise([&](ApiServer& server, const ApiServer::Asked& asked) {
    if (++changes > kChanges) return;
    const std::string number = std::to_string(changes);
    server.http().Answer(asked, 200, NodeEvent("ADDED", {"n" + number, number, "1" + number}),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  Told(1);
  RunFor(loop_, Duration::Milliseconds(50));
  server_.EndWatch();
  EXPECT_EQ(Told(kChanges).size(), static_cast<std::size_t>(kChanges));
  EXPECT_EQ(failures_, 0);
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(ReflectorEndsTest, AServerThatAlwaysForgetsIsNotStormedEither) {
  server_.Otherwise([](ApiServer& server, const ApiServer::Asked& asked) {
    server.http().Answer(asked, 200, ErrorEvent(410, "Expired", "too old"),
                         {{"content-type", ApiServer::kProtobufWatch}});
  });
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_LE(server_.asked().size(), 10U);
  EXPECT_THAT(troubles_, IsEmpty());
}

}  // namespace
}  // namespace knx::client
