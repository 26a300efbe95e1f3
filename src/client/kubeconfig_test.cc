#include "client/kubeconfig.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/files.h"

namespace knx::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MemoryFiles;
using ::testing::Pair;
using testing::Pem;

// A kubeconfig with one context, the fields of whose cluster and user are given.
std::string Config(std::string_view cluster, std::string_view user) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
      "contexts: [{{name: c, context: {{cluster: k, user: u, namespace: ns}}}}]\n"
      "clusters: [{{name: k, cluster: {{{}}}}}]\nusers: [{{name: u, user: {{{}}}}}]\n",
      cluster, user);
}

Result<ApiAccess> ReadOne(std::string_view text, MemoryFiles files = {}) {
  files.files["/k/config"] = text;
  return ReadKubeconfigs({{"/k/config"}, true, "--kubeconfig"}, "", files);
}

ApiAccess Accepted(const Result<ApiAccess>& access) {
  EXPECT_TRUE(access.ok()) << access.error().ToString();
  return access.ok() ? *access : ApiAccess{};
}

TEST(FindKubeconfigs, AsksTheFlagThenTheVariableThenTheHomeFolder) {
  const auto flag = FindKubeconfigs({"a:b", "c"}, "d:e", "/h");
  EXPECT_THAT(flag.paths, ElementsAre("a:b", "c"));
  EXPECT_TRUE(flag.must_exist);
  const auto variable = FindKubeconfigs({}, ":d::e:d:", "/h");
  EXPECT_THAT(variable.paths, ElementsAre("d", "e"));
  EXPECT_FALSE(variable.must_exist);
  const auto home = FindKubeconfigs({}, "", "/h");
  EXPECT_THAT(home.paths, ElementsAre("/h/.kube/config"));
  EXPECT_FALSE(home.must_exist);
}

TEST(Kubeconfig, ReadsServerAuthorityAndCertificatesFromData) {
  const std::string ca = Pem("CERTIFICATE", "ca"), cert = Pem("CERTIFICATE", "me");
  const std::string key = Pem("RSA PRIVATE KEY");
  const ApiAccess access = Accepted(
      ReadOne(Config(fmt::format("server: 'https://[fd00::1]:6443/base', tls-server-name: api, "
                                 "certificate-authority-data: {}, disable-compression: true, "
                                 "proxy-url: 'https://proxy:1'",
                                 absl::Base64Escape(ca)),
                     fmt::format("client-certificate-data: {}, client-key-data: {}",
                                 absl::Base64Escape(cert), absl::Base64Escape(key)))));
  EXPECT_TRUE(access.server.tls);
  EXPECT_EQ(access.server.host, "fd00::1");
  EXPECT_EQ(access.server.port, 6443);
  EXPECT_EQ(access.server.base_path, "/base");
  EXPECT_EQ(access.tls_server_name, "api");
  EXPECT_EQ(access.ca_pem, ca);
  EXPECT_EQ(access.client_certificate_pem, cert);
  EXPECT_EQ(access.client_key_pem, key);
  EXPECT_EQ(access.proxy.scheme, ProxyUrl::Scheme::kHttps);
  EXPECT_EQ(access.proxy.host, "proxy");
  EXPECT_EQ(access.default_namespace, "ns");
  EXPECT_FALSE(access.skip_tls_verify);
  EXPECT_TRUE(std::holds_alternative<NoCredential>(access.credential));
  EXPECT_THAT(access.warnings, IsEmpty());
}

TEST(Kubeconfig, RelativePathsBeginWhereTheFileIs) {
  const ApiAccess access = Accepted(ReadOne(
      Config("server: 'https://a', certificate-authority: ca.crt",
             "client-certificate: ../pki/me.crt, client-key: /abs/me.key, tokenFile: ./token"),
      {{{"/k/ca.crt", Pem("CERTIFICATE", "ca")},
        {"/pki/me.crt", Pem("CERTIFICATE", "me")},
        {"/abs/me.key", Pem("PRIVATE KEY")},
        {"/k/token", "t\n"}}}));
  EXPECT_EQ(access.ca_pem, Pem("CERTIFICATE", "ca"));
  EXPECT_EQ(access.client_certificate_pem, Pem("CERTIFICATE", "me"));
  EXPECT_EQ(access.client_key_pem, Pem("PRIVATE KEY"));
  EXPECT_EQ(access.client_certificate_place.field, "users[0].user.client-certificate: /pki/me.crt");
  EXPECT_EQ(access.client_certificate_place.place, (SourcePlace{"/k/config", 6, 46}));
  EXPECT_EQ(access.client_key_place.field, "users[0].user.client-key: /abs/me.key");
  EXPECT_EQ(access.ca_place.field, "clusters[0].cluster.certificate-authority: /k/ca.crt");
  ASSERT_TRUE(std::holds_alternative<TokenFileCredential>(access.credential));
  EXPECT_EQ(std::get<TokenFileCredential>(access.credential).path, "/k/token");
}

TEST(Kubeconfig, DataWinsOverAFileAndSaysSo) {
  const std::string data = Pem("CERTIFICATE", "data");
  const ApiAccess access =
      Accepted(ReadOne(Config(fmt::format("server: 'https://a', certificate-authority: gone.crt, "
                                          "certificate-authority-data: {}",
                                          absl::Base64Escape(data)),
                              "")));
  EXPECT_EQ(access.ca_pem, data);
  EXPECT_THAT(access.warnings,
              ElementsAre("clusters[0].cluster.certificate-authority: not used, because "
                          "certificate-authority-data stands beside it"));
}

TEST(Kubeconfig, ReadsEveryKindOfCredential) {
  const auto credential = [](std::string_view user) {
    return Accepted(ReadOne(Config("server: 'https://a'", user), {{{"/k/t", "from-file"}}}))
        .credential;
  };
  EXPECT_TRUE(std::holds_alternative<NoCredential>(credential("")));
  EXPECT_EQ(std::get<TokenCredential>(credential("token: abc")).token, "abc");
  const auto file = std::get<TokenFileCredential>(credential("tokenFile: t, token: abc"));
  EXPECT_EQ(file.path, "/k/t");
  EXPECT_EQ(file.until_read, "abc");
  EXPECT_EQ(std::get<TokenFileCredential>(credential("tokenFile: gone, token: abc")).path,
            "/k/gone");
  const auto basic = std::get<BasicCredential>(credential("username: me, password: \"p\""));
  EXPECT_EQ(basic.username, "me");
  EXPECT_EQ(basic.password, "p");
}

TEST(Kubeconfig, ReadsACredentialPlugin) {
  const ApiAccess access = Accepted(ReadOne(
      Config("server: 'https://a', extensions: [{name: other, extension: 1}, "
             "{name: client.authentication.k8s.io/exec, extension: {audience: x, n: 3, f: 0x1F, "
             "list: [true, 'true', null, 1.5]}}]",
             "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/get-token, "
             "args: [--a, b], env: [{name: X, value: why}, {name: Z}], provideClusterInfo: true, "
             "interactiveMode: IfAvailable, installHint: get it}")));
  const auto plugin = std::get<ExecPlugin>(access.credential);
  EXPECT_EQ(plugin.version, ExecPlugin::Version::kV1);
  EXPECT_EQ(plugin.command, "/k/bin/get-token");
  EXPECT_THAT(plugin.args, ElementsAre("--a", "b"));
  EXPECT_THAT(plugin.env, ElementsAre(Pair("X", "why"), Pair("Z", "")));
  EXPECT_TRUE(plugin.provide_cluster_info);
  EXPECT_EQ(plugin.install_hint, "get it");
  EXPECT_EQ(plugin.cluster_config,
            R"({"audience":"x","n":3,"f":"0x1F","list":[true,"true",null,1.5]})");
}

TEST(Kubeconfig, APluginOfTheOldVersionNeedsNoInteractiveModeAndIsLookedForInThePath) {
  const ApiAccess access = Accepted(
      ReadOne(Config("server: 'https://a'",
                     "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}")));
  const auto plugin = std::get<ExecPlugin>(access.credential);
  EXPECT_EQ(plugin.version, ExecPlugin::Version::kV1Beta1);
  EXPECT_EQ(plugin.command, "aws");
  EXPECT_FALSE(plugin.provide_cluster_info);
  EXPECT_EQ(plugin.cluster_config, "null");
}

TEST(Kubeconfig, APluginIsNotAskedBesideAnotherCredential) {
  const ApiAccess access = Accepted(ReadOne(
      Config("server: 'https://a'",
             "token: abc, exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}")));
  EXPECT_TRUE(std::holds_alternative<TokenCredential>(access.credential));
  EXPECT_THAT(access.warnings, ElementsAre("users[0].user.exec: not used, because another "
                                           "credential stands beside it"));
}

TEST(Kubeconfig, CredentialsAreNotSentWithoutTls) {
  const ApiAccess access = Accepted(ReadOne(Config("server: 'localhost:8080'", "token: abc")));
  EXPECT_FALSE(access.server.tls);
  EXPECT_TRUE(std::holds_alternative<NoCredential>(access.credential));
  EXPECT_THAT(access.warnings, ElementsAre("clusters[0].cluster.server: names no scheme, so http "
                                           "is meant, with port 8080",
                                           "users[0].user: not used, because credentials are not "
                                           "sent to a server without TLS"));
}

TEST(Kubeconfig, SkippingVerificationIsTakenOver) {
  EXPECT_TRUE(Accepted(ReadOne(Config("server: 'https://a', insecure-skip-tls-verify: true", "")))
                  .skip_tls_verify);
}

TEST(Kubeconfig, FilesAreMergedAndTheFirstOneWins) {
  const MemoryFiles files = {{
      {"/1/config",
       "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
       "users: [{name: u, user: {token: first}}]\n"},
      {"/2/config", ""},
      {"/3/config",
       "current-context: c\n"
       "contexts: [{name: c, context: {cluster: gone}}]\n"
       "clusters: [{name: k, cluster: {server: 'https://three', "
       "certificate-authority: ca}}]\n"
       "users: [{name: u, user: {token: third}}]\n"},
      {"/3/ca", Pem("CERTIFICATE")},
      {"/4/config", "current-context: other\nclusters: [{name: k, cluster: {server: four}}]\n"},
  }};
  const KubeconfigFiles found = {
      {"/1/config", "/gone", "/2/config", "/3/config", "/4/config"}, false, "KUBECONFIG"};
  const ApiAccess access = Accepted(ReadKubeconfigs(found, "", files));
  EXPECT_EQ(access.server.host, "three");
  EXPECT_EQ(access.ca_pem, Pem("CERTIFICATE"));
  EXPECT_EQ(std::get<TokenCredential>(access.credential).token, "first");
}

TEST(Kubeconfig, AContextCanBeAskedFor) {
  const MemoryFiles files = {{{"/k",
                               "current-context: a\n"
                               "contexts:\n"
                               "- {name: a, context: {cluster: a}}\n"
                               "- {name: b, context: {cluster: b}}\n"
                               "clusters:\n"
                               "- {name: a, cluster: {server: 'https://a'}}\n"
                               "- {name: b, cluster: {server: 'https://b'}}\n"}}};
  EXPECT_EQ(Accepted(ReadKubeconfigs({{"/k"}, true, ""}, "", files)).server.host, "a");
  EXPECT_EQ(Accepted(ReadKubeconfigs({{"/k"}, true, ""}, "b", files)).server.host, "b");
}

TEST(Kubeconfig, MistakesOfOthersDoNoHarm) {
  const ApiAccess access = Accepted(
      ReadOne("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
              "clusters: [{name: k, cluster: {server: 'https://a'}}, {name: x, cluster: {}}]\n"
              "users: [{name: u, user: {auth-provider: {name: gcp}}}]\nfuture: field\n"));
  EXPECT_EQ(access.server.host, "a");
}

TEST(Kubeconfig, IsReadFromRealFiles) {
  const testing::TemporaryFolder folder;
  folder.Write("ca.crt", Pem("CERTIFICATE"));
  const std::string path =
      folder.Write("config", Config("server: 'https://a', certificate-authority: ca.crt", ""));
  const ApiAccess access = Accepted(ReadKubeconfigs(FindKubeconfigs({path}, "", ""), ""));
  EXPECT_EQ(access.ca_pem, Pem("CERTIFICATE"));
  const auto missing = ReadKubeconfigs(FindKubeconfigs({path + "x"}, "", ""), "");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().ToString(), fmt::format("--kubeconfig: {}x: cannot be read: No such "
                                                    "file or directory",
                                                    path));
}

}  // namespace
}  // namespace knx::client
