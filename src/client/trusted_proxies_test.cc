#include "client/trusted_proxies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/access_review.h"
#include "net/testing/certificates.h"

namespace knx::client {
namespace {

using net::testing::Authority;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::string> ChainOf(const Authority& issuer, const std::string& name) {
  return {net::testing::DerOfPem(issuer.Issue({.common_name = name}).cert_pem)};
}

class TrustedProxiesTest : public ::testing::Test {
 protected:
  TrustedProxiesTest() {
    auto made = net::ClientAuthorities::Make(front_.pem());
    EXPECT_TRUE(made.ok());
    proxies_.authorities = *made;
    proxies_.allowed_names = {"front", "gate"};
  }

  const Authority front_{"front authority"}, clients_{"clients"};
  TrustedProxies proxies_;
  const net::Headers jane_ = {{"x-remote-user", "jane"}};
};

TEST_F(TrustedProxiesTest, ReadsWhoAsksFromTheHeaders) {
  proxies_.user_headers = {"X-First", "X-Remote-User"};
  proxies_.uid_headers = {"X-Remote-Uid"};
  proxies_.extra_prefixes = {"", "X-Remote-Extra-"};
  const auto caller = CallerBehind(proxies_, ChainOf(front_, "gate"),
                                   {{"x-first", ""},
                                    {"x-remote-user", "jane"},
                                    {"x-remote-user", "joe"},
                                    {"x-remote-uid", "7"},
                                    {"x-remote-group", "dev"},
                                    {"x-remote-group", ""},
                                    {"x-remote-group", "ops"},
                                    {"x-remote-extra-example.com%2fkey", "one"},
                                    {"x-remote-extra-example.com%2fkey", "two"},
                                    {"x-remote-extra-bad%", "kept"}});
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->user, "jane");
  EXPECT_EQ(caller->uid, "7");
  EXPECT_THAT(caller->groups, ElementsAre("dev", "ops"));
  EXPECT_THAT(caller->extra, ElementsAre(Pair("bad%", ElementsAre("kept")),
                                         Pair("example.com/key", ElementsAre("one", "two"))));
}

TEST_F(TrustedProxiesTest, BelievesNobodyElse) {
  EXPECT_FALSE(CallerBehind(proxies_, {}, jane_).has_value());
  EXPECT_FALSE(CallerBehind(proxies_, {"garbage"}, jane_).has_value());
  EXPECT_FALSE(CallerBehind(proxies_, ChainOf(clients_, "front"), jane_).has_value());
  EXPECT_FALSE(CallerBehind(proxies_, ChainOf(front_, "other"), jane_).has_value());
  EXPECT_FALSE(CallerBehind(proxies_, ChainOf(front_, "front"), {}).has_value());
  EXPECT_TRUE(CallerBehind(proxies_, ChainOf(front_, "front"), jane_).has_value());
  proxies_.allowed_names.clear();
  EXPECT_TRUE(CallerBehind(proxies_, ChainOf(front_, "other"), jane_).has_value());
  EXPECT_FALSE(CallerBehind({}, ChainOf(front_, "front"), jane_).has_value());
}

TEST_F(TrustedProxiesTest, WhomAProxyNamesIsReviewedLikeEverybody) {
  std::string asked;
  AccessReview review(
      [&](const ApiClient::Call& call, const ApiClient::Done& done) {
        asked = call.body;
        done(Response{201, {}, R"({"status":{"allowed":true}})"});
      },
      {});
  review.TrustProxies(proxies_);
  const auto ask = [&](const std::vector<std::string>& certificates) {
    AccessReview::Answer out;
    review.Ask({"get", "/metrics", "", certificates, jane_},
               [&](const AccessReview::Answer& answer) { out = answer; });
    return out;
  };
  EXPECT_EQ(ask(ChainOf(front_, "front")).user, "jane");
  EXPECT_THAT(asked, HasSubstr(R"("user":"jane","uid":"","groups":["system:authenticated"])"));
  EXPECT_EQ(ask(ChainOf(clients_, "front")).user, "system:anonymous");
}

}  // namespace
}  // namespace knx::client
