#include "client/credential_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/endpoint.h"
#include "client/testing/files.h"
#include "net/testing/certificates.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunUntil;
using testing::TemporaryFolder;

TEST(CredentialWatch, HearsFromAPluginWhileTheLoopRuns) {
  const TemporaryFolder folder;
  const auto answer = [&](std::string_view token, std::string_view certificate) {
    folder.Write("answer",
                 fmt::format(R"({{"kind":"ExecCredential","apiVersion":)"
                             R"("client.authentication.k8s.io/v1","status":{{"token":"{}",)"
                             R"("clientCertificateData":"{}","clientKeyData":"{}",)"
                             R"("expirationTimestamp":"2000-01-01T00:00:00Z"}}}})",
                             token, certificate, certificate));
  };
  answer("one", "first");
  ApiAccess access;
  access.server = *ParseServerUrl("https://a");
  ExecPlugin plugin;
  plugin.command = folder.Script("plugin", fmt::format("cat {}/answer", folder.path()));
  access.credential = plugin;
  TokenSource source(access);
  EXPECT_TRUE(source.may_change());
  Time now{1'800'000'000'000'000'000};
  const auto first = source.GetOrWait(now);
  net::EventLoop loop;
  std::vector<std::string> certificates, troubles;
  ASSERT_TRUE(first.ok());
  CredentialWatch watch(loop, source, **first, [&] { return now; });
  watch.set_callbacks(
      {.certificate_changed =
           [&](const Credentials& newer) { certificates.push_back(newer.client_certificate_pem); },
       .trouble = [&](std::string_view what) { troubles.emplace_back(what); }});
  answer("two", "second");
  now = now + Duration::Minutes(1);
  const Authorization old_one = watch.Current();
  EXPECT_EQ(old_one.header, "Bearer one");
  EXPECT_TRUE(old_one.pending);
  ASSERT_TRUE(RunUntil(loop, [&] { return !certificates.empty(); }));
  EXPECT_THAT(certificates, ::testing::ElementsAre("second"));
  EXPECT_THAT(troubles, ::testing::IsEmpty());
}

ApiAccess Behind(std::string_view proxy) {
  ApiAccess access;
  access.server = *ParseServerUrl("https://api:6443");
  access.proxy = *ParseProxyUrl(proxy);
  access.skip_tls_verify = true;
  return access;
}

TEST(EndpointFor, TakesAProxyOver) {
  const auto plain = EndpointFor(Behind("http://me:secret@proxy:3128"), {});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->proxy.host, "proxy");
  EXPECT_EQ(plain->proxy.port, 3128);
  EXPECT_EQ(plain->proxy.authorization, "Basic bWU6c2VjcmV0");
  EXPECT_EQ(plain->proxy.tls, nullptr);
  EXPECT_NE(plain->tls, nullptr);
  const auto secured = EndpointFor(Behind("https://proxy"), {});
  EXPECT_NE(secured->proxy.tls, nullptr);
  EXPECT_EQ(secured->proxy.authorization, "");
}

TEST(EndpointFor, PrefersTheCertificateOfAPlugin) {
  const net::testing::Authority authority("ca");
  const auto good = authority.Issue({.names = "DNS:me"});
  ApiAccess access;
  access.server = *ParseServerUrl("https://api:6443");
  access.client_certificate_pem = access.client_key_pem = "none";
  EXPECT_FALSE(EndpointFor(access, {}).ok());
  EXPECT_TRUE(EndpointFor(access, {.authorization = "",
                                   .client_certificate_pem = good.cert_pem,
                                   .client_key_pem = good.key_pem})
                  .ok());
  ExecPlugin plugin;
  plugin.command = "get-me";
  access.credential = plugin;
  EXPECT_EQ(EndpointFor(access, {.authorization = "",
                                 .client_certificate_pem = good.cert_pem,
                                 .client_key_pem = authority.Issue({.names = "DNS:me"}).key_pem})
                .error()
                .message,
            "credential plugin \"get-me\": the client key does not belong to the client "
            "certificate: key values mismatch");
}

}  // namespace
}  // namespace knx::client
