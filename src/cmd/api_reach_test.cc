#include "cmd/api_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

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

TEST(ProxyRemark, AProxyOfTheEnvironmentIsSaidNotToBeRead) {
  for (const char* name : {"https_proxy", "HTTPS_PROXY"}) ::unsetenv(name);
  client::ApiAccess access;
  access.server = *client::ParseServerUrl("https://api.example");
  EXPECT_EQ(ProxyRemark(access), "");
  ::setenv("https_proxy", "http://me:secret@proxy:1", 1);
  EXPECT_EQ(ProxyRemark(access),
            "https_proxy is set and not read here: the API server is reached without a proxy, "
            "unless the kubeconfig names one in proxy-url");
  access.proxy = *client::ParseProxyUrl("http://named:1");
  EXPECT_EQ(ProxyRemark(access), "");
  access.proxy = {};
  access.server = *client::ParseServerUrl("http://api.example");
  EXPECT_EQ(ProxyRemark(access), "");
  ::unsetenv("https_proxy");
}

class FindAccessTest : public ::testing::Test {
 protected:
  FindAccessTest() {
    std::ofstream(path_) << "current-context: c\n"
                            "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                            "clusters: [{name: k, cluster: {server: 'https://a'}}]\n"
                            "users: [{name: u, user: {token: secret}}]\n";
  }
  ~FindAccessTest() override { std::remove(path_.c_str()); }

  const std::string path_ = ::testing::TempDir() + "knx_api_reach_kubeconfig";
};

TEST_F(FindAccessTest, AnotherServerGetsTheCredentialsByTlsOnly) {
  const auto by_tls = FindAccess(path_, "https://b");
  ASSERT_TRUE(by_tls.ok()) << by_tls.error().ToString();
  EXPECT_EQ(by_tls->server.host, "b");
  EXPECT_TRUE(std::holds_alternative<client::TokenCredential>(by_tls->credential));
  EXPECT_TRUE(by_tls->warnings.empty());
  const auto plain = FindAccess(path_, "http://b:8080");
  EXPECT_TRUE(std::holds_alternative<client::NoCredential>(plain->credential));
  EXPECT_THAT(plain->warnings,
              ElementsAre("what the kubeconfig says of the user: not used, because credentials are "
                          "not sent to a server without TLS"));
}

TEST_F(FindAccessTest, AServerWithoutASchemeIsRemarkedUpon) {
  const auto access = FindAccess("", "b");
  EXPECT_FALSE(access->server.tls);
  EXPECT_THAT(access->warnings,
              ElementsAre("--master: names no scheme, so http is meant, with port 80"));
}

}  // namespace
}  // namespace knx::cmd
