// Lists whose pages are too long for us, or take too long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "client/testing/reflector_test_base.h"
#include "client/testing/wire.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NodeList;
using testing::WireObject;

constexpr int kObjects = 40;

class ReflectorListsTest : public ReflectorTest {
 protected:
  ReflectorListsTest() {
    server_.Otherwise([this](ApiServer&, const ApiServer::Asked& asked) {
      if (asked.path.find("sendInitialEvents") != std::string::npos) {
        return server_.http().Answer(asked, 422, testing::JsonStatus(422, "no such option"));
      }
      if (asked.path.find("watch=true") == std::string::npos) return Page(asked);
    });
  }
  static int NumberAfter(const std::string& path, std::string_view key) {
    const std::size_t at = path.find(key);
    int out = 0;
    if (at == std::string::npos) return out;
    std::from_chars(path.data() + at + key.size(), path.data() + path.size(), out);
    return out;
  }
  void Page(const ApiServer::Asked& asked) {
    const int limit = NumberAfter(asked.path, "limit="), at = NumberAfter(asked.path, "continue=");
    limits_.push_back(limit);
    if (limit > slow_from_) return;
    std::vector<WireObject> objects;
    for (int i = at; i < kObjects && i < at + limit; ++i) {
      objects.push_back({fmt::format("n{}", i), i < large_until_ ? std::string(200, 'u') : "u",
                         std::to_string(i + 1)});
    }
    const std::string next = at + limit < kObjects ? std::to_string(at + limit) : "";
    server_.http().Answer(asked, 200, NodeList(objects, "99", next));
  }

  int slow_from_ = 1000;        // pages of more objects never come
  int large_until_ = kObjects;  // the objects before this one are large
  std::vector<int> limits_;
};

TEST_F(ReflectorListsTest, PagesThatAreTooLongAreAskedForAgainWithFewerObjects) {
  longest_answer_ = 3000;
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->synced(); }));
  EXPECT_EQ(told_.size(), kObjects + 1U);
  EXPECT_THAT(std::vector<int>(limits_.begin(), limits_.begin() + 9),
              ElementsAre(1000, 500, 250, 125, 62, 31, 15, 7, 7));
  EXPECT_THAT(troubles_, ElementsAre("/api/v1/nodes: GET /api/v1/nodes: an answer of more than "
                                     "3000 bytes; smaller pages of the list are asked for"));
}

TEST_F(ReflectorListsTest, PagesGrowAgainWhereThereIsRoom) {
  longest_answer_ = 3000;
  large_until_ = 15;
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->synced(); }));
  EXPECT_EQ(told_.size(), kObjects + 1U);
  EXPECT_THAT(limits_, ElementsAre(1000, 500, 250, 125, 62, 31, 15, 7, 7, 7, 14, 28));
}

TEST_F(ReflectorListsTest, PagesThatTakeTooLongAreAskedForAgainWithFewerObjects) {
  page_timeout_ = Duration::Milliseconds(50);
  slow_from_ = 300;
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->synced(); }));
  EXPECT_EQ(told_.size(), kObjects + 1U);
  EXPECT_THAT(limits_, ElementsAre(1000, 500, 250));
  EXPECT_THAT(troubles_, ElementsAre(HasSubstr("no answer within 50ms; smaller pages")));
}

TEST_F(ReflectorListsTest, ObjectsThatTakeLongLeaveTimersTheirTurn) {
  left_out_ = [](const k8s::Object&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return false;
  };
  Follow();
  std::size_t before = 0, most = 0;
  EXPECT_TRUE(RunUntil(loop_, [&] {
    const std::size_t now = told_.size();
    most = std::max(most, now - std::exchange(before, now));
    return reflector_->synced();
  }));
  EXPECT_EQ(told_.size(), kObjects + 1U);
  EXPECT_LE(most, 12U) << "objects without a look at the timers";
}

// The next page comes while this one is told of.
TEST_F(ReflectorListsTest, PagesAreToldOfInTheirOrderHoweverLongTheyTake) {
  longest_answer_ = 3000;
  left_out_ = [](const k8s::Object&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return false;
  };
  Follow();
  ASSERT_TRUE(RunUntil(loop_, [&] { return reflector_->synced(); }));
  ASSERT_EQ(told_.size(), kObjects + 1U);
  for (int i = 0; i < kObjects; ++i) {
    EXPECT_TRUE(told_[static_cast<std::size_t>(i)].starts_with(fmt::format("+n{}:", i)));
  }
  EXPECT_EQ(told_.back(), "synced");
}

TEST_F(ReflectorListsTest, AnObjectThatIsTooLongByItselfIsNoStorm) {
  longest_answer_ = 200;
  Follow();
  RunFor(loop_, Duration::Seconds(1));
  EXPECT_FALSE(reflector_->synced());
  EXPECT_LE(limits_.size(), 20U);
  EXPECT_GE(limits_.size(), 10U);
}

}  // namespace
}  // namespace knx::client
