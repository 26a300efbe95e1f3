#include "client/in_cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/files.h"

namespace knx::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Pem;
using testing::TemporaryFolder;

TEST(InCluster, TakesTheServiceAndTheAccountOfThePod) {
  const TemporaryFolder folder;
  folder.Write("token", "t\n");
  folder.Write("ca.crt", Pem("CERTIFICATE"));
  folder.Write("namespace", "kube-system\n");
  const auto access = ReadInCluster({"fd00::1", "443", folder.path()});
  ASSERT_TRUE(access.ok()) << access.error().ToString();
  EXPECT_EQ(access->server.text, "https://[fd00::1]:443");
  EXPECT_EQ(access->server.host, "fd00::1");
  EXPECT_TRUE(access->server.tls);
  EXPECT_EQ(access->ca_pem, Pem("CERTIFICATE"));
  EXPECT_EQ(access->default_namespace, "kube-system");
  EXPECT_EQ(std::get<TokenFileCredential>(access->credential).path, folder.path() + "/token");
  EXPECT_THAT(access->warnings, IsEmpty());
}

TEST(InCluster, GoesOnWithoutAnAuthorityOfItsOwn) {
  const TemporaryFolder folder;
  folder.Write("token", "t");
  const auto access = ReadInCluster({"10.0.0.1", "6443", folder.path()});
  ASSERT_TRUE(access.ok()) << access.error().ToString();
  EXPECT_EQ(access->server.port, 6443);
  EXPECT_EQ(access->ca_pem, "");
  EXPECT_THAT(access->warnings,
              ElementsAre(fmt::format("{}/ca.crt: cannot be read: No such file or directory",
                                      folder.path())));
  folder.Write("ca.crt", "x");
  EXPECT_THAT(
      ReadInCluster({"10.0.0.1", "6443", folder.path()})->warnings,
      ElementsAre(fmt::format("{}/ca.crt: holds no certificate in PEM format", folder.path())));
}

TEST(InCluster, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  for (const auto& [host, port] : {std::pair("", ""), {"10.0.0.1", ""}, {"", "443"}}) {
    const auto access = ReadInCluster({host, port, folder.path()});
    ASSERT_FALSE(access.ok());
    EXPECT_EQ(access.error().kind, ErrorKind::kNotFound);
    EXPECT_EQ(access.error().message,
              "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const auto bad_port = ReadInCluster({"10.0.0.1", "tcp", folder.path()});
  ASSERT_FALSE(bad_port.ok());
  EXPECT_EQ(bad_port.error().message,
            "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: the port must be a number from 1 "
            "to 65535");
  const auto no_token = ReadInCluster({"10.0.0.1", "443", folder.path()});
  ASSERT_FALSE(no_token.ok());
  EXPECT_EQ(no_token.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(no_token.error().message,
            fmt::format("{}/token: cannot be read: No such file or directory; does the pod mount "
                        "its service account's token?",
                        folder.path()));
  folder.Write("token", "\n");
  const auto empty = ReadInCluster({"10.0.0.1", "443", folder.path()});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message,
            fmt::format("{}/token: what it holds must be one line of printable ASCII characters",
                        folder.path()));
}

}  // namespace
}  // namespace knx::client
