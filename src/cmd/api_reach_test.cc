#include "cmd/api_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/certificates.h"

namespace knx::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

client::ApiAccess AccessUntil(Duration lifetime) {
  const net::testing::Authority authority("ca");
  const auto issued = authority.Issue({.common_name = "me", .lifetime = lifetime});
  client::ApiAccess access;
  access.server = *client::ParseServerUrl("https://localhost:1");
  access.ca_pem = authority.pem();
  access.client_certificate_pem = issued.cert_pem;
  access.client_key_pem = issued.key_pem;
  access.client_certificate_place = {"users[0].user.client-certificate-data", {"/k", 1, 2}};
  return access;
}

TEST(ApiReach, ACertificateThatHasEndedIsSaidBeforeAServerIsAsked) {
  const auto loop = *net::EventLoop::Make();
  const auto way = ApiReach::Open(*loop, AccessUntil(Duration::Minutes(-1)), {});
  ASSERT_FALSE(way.ok());
  EXPECT_THAT(way.error().ToString(),
              StartsWith("/k:1:2: users[0].user.client-certificate-data: the certificate ended "));
}

TEST(ApiReach, ACertificateThatEndsSoonIsRemarkedUpon) {
  const auto loop = *net::EventLoop::Make();
  const auto way = ApiReach::Open(*loop, AccessUntil(Duration::Minutes(60)), {});
  ASSERT_TRUE(way.ok()) << way.error().ToString();
  std::vector<std::string> said;
  (*way)->Follow([](const net::Endpoint&) {},
                 [&said](std::string_view what) { said.emplace_back(what); });
  EXPECT_THAT(said, ElementsAre(StartsWith(
                        "/k:1:2: users[0].user.client-certificate-data: the certificate ends ")));
}

}  // namespace
}  // namespace knx::cmd
