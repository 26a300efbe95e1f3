#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/kubeconfig.h"
#include "client/testing/files.h"

namespace knx::client {
namespace {

using ::testing::HasSubstr;
using testing::MemoryFiles;
using ::testing::Not;
using testing::Pem;

struct ErrorCase {
  std::string_view text, want;
};

std::string ErrorOfKubeconfig(std::string_view text, std::string_view context = "") {
  MemoryFiles files;
  files.files = {{"/k", std::string(text)},
                 {"/ca", Pem("CERTIFICATE")},
                 {"/key", Pem("PRIVATE KEY")},
                 {"/text", "no PEM\nat all"},
                 {"/empty", " \n"}};
  const auto access = ReadKubeconfigs({{"/k"}, true, "--kubeconfig"}, context, files);
  return access.ok() ? "no error" : access.error().ToString();
}

constexpr std::string_view kContext =
    "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n";

// Cases are the fields of the cluster.
void CheckClusters(std::span<const ErrorCase> cases) {
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOfKubeconfig(fmt::format("{}users: [{{name: u}}]\nclusters:\n- name: k\n"
                                            "  cluster: {{{}}}\n",
                                            kContext, c.text)),
              c.want);
  }
}

// Cases are the fields of the user.
void CheckUsers(std::span<const ErrorCase> cases) {
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOfKubeconfig(fmt::format("{}clusters: [{{name: k, cluster: {{server: "
                                            "'https://a'}}}}]\nusers:\n- name: u\n  user: {{{}}}\n",
                                            kContext, c.text)),
              c.want);
  }
}

TEST(KubeconfigErrors, TheFileMustBeAKubeconfig) {
  const ErrorCase cases[] = {
      {"", "/k: is empty, so there is no context to choose"},
      {"# nothing\n---\n", "/k: is empty, so there is no context to choose"},
      {"[1]", "/k:1:1: expected a map"},
      {"secret", "/k:1:1: expected a map"},
      {"a: [", "/k:1:1: not valid YAML: end of sequence flow not found"},
      {"a: 1\n---\nb: 2\n", "/k:3:1: a second document; a kubeconfig is one"},
      {"a: 1\na: 2\n", "/k:2:1: the key \"a\" is here twice, first in line 1"},
      {"kind: Pod", "/k:1:7: kind: \"Pod\" is not allowed; allowed are Config"},
      {"apiVersion: v2", "/k:1:13: apiVersion: \"v2\" is not allowed; allowed are v1"},
      {"clusters: {a: b}", "/k:1:11: clusters: expected a list"},
      {"users: secret", "/k:1:8: users: expected a list"},
      {"users: [secret]", "/k:1:9: users[0]: expected a map"},
      {"contexts: [{name: 1}]", "/k:1:19: contexts[0].name: expected a string; quote it"},
      {"clusters: [{name: a}, {name: a}]",
       "/k:1:30: clusters[1].name: \"a\" is the name of clusters[0] already"},
  };
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOfKubeconfig(c.text), c.want);
  }
}

TEST(KubeconfigErrors, AContextMustLeadSomewhere) {
  const ErrorCase cases[] = {
      {"contexts: [{name: b}, {name: a}]",
       "/k: current-context: missing, so no context is chosen; there are \"a\", \"b\""},
      {"contexts: [{name: b}]\ncurrent-context: a\n",
       "/k:2:18: current-context: there is no context \"a\"; there is \"b\""},
      {"contexts: [{name: c}]\ncurrent-context: c\n", "/k: contexts[0].context: expected a map"},
      {"contexts: [{name: c, context: {user: u}}]\nusers: [{name: u}]\ncurrent-context: c\n",
       "/k:1:31: contexts[0].context.cluster: missing, but required"},
      {"contexts: [{name: c, context: {cluster: k}}]\ncurrent-context: c\n",
       "/k:1:41: contexts[0].context.cluster: there is no cluster \"k\"; there are none"},
      {"contexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n"
       "clusters: [{name: k}]\nusers: [{name: v}]\n",
       "/k:1:50: contexts[0].context.user: there is no user \"u\"; there is \"v\""},
      {"contexts: [{name: c, context: {cluster: k}}]\ncurrent-context: c\nclusters: [{name: k}]\n",
       "/k: clusters[0].cluster: expected a map"},
  };
  for (const ErrorCase& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOfKubeconfig(c.text), c.want);
  }
  EXPECT_EQ(ErrorOfKubeconfig("contexts: [{name: a}, {name: b}]", "x"),
            "there is no context \"x\"; there are \"a\", \"b\"");
  std::string many = "contexts:\n";
  for (int i = 10; i < 30; ++i) many += fmt::format("- name: a{}\n", i);
  EXPECT_EQ(ErrorOfKubeconfig(many, "x"),
            "there is no context \"x\"; there are \"a10\", \"a11\", \"a12\", \"a13\", \"a14\", "
            "\"a15\", \"a16\", \"a17\", \"a18\", \"a19\" and others");
}

TEST(KubeconfigErrors, WithoutAFileItIsSaidWhereItWasLookedFor) {
  const auto access = ReadKubeconfigs(FindKubeconfigs({}, "/a:/b", "/h"), "", MemoryFiles{});
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(access.error().ToString(), "no kubeconfig found; looked for /a, /b (KUBECONFIG)");
}

TEST(KubeconfigErrors, AClusterIsChecked) {
  const ErrorCase cases[] = {
      {"", "/k:6:12: clusters[0].cluster.server: missing, but required"},
      {"server: ''", "/k:6:21: clusters[0].cluster.server: missing, but required"},
      {"server: 'ftp://a'",
       "/k:6:21: clusters[0].cluster.server: the scheme is not allowed; allowed are http, https"},
      {"server: 'https://a', proxy-url: 'me:secret@proxy'",
       "/k:6:45: clusters[0].cluster.proxy-url: the scheme is not allowed; allowed are http, "
       "https"},
      {"server: 'https://a', proxy-url: 'socks5://proxy'",
       "/k:6:45: clusters[0].cluster.proxy-url: socks5 is not supported; allowed are http, https"},
      {"server: 'https://a', insecure-skip-tls-verify: maybe",
       "/k:6:60: clusters[0].cluster.insecure-skip-tls-verify: expected true or false"},
      {"server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: ca",
       "/k:6:60: clusters[0].cluster.insecure-skip-tls-verify: contradicts the certificate "
       "authority beside it"},
      {"server: 'https://a', certificate-authority: gone",
       "/k:6:57: clusters[0].cluster.certificate-authority: /gone: cannot be read: not there"},
      {"server: 'https://a', certificate-authority: text",
       "/k:6:57: clusters[0].cluster.certificate-authority: holds no certificate in PEM format"},
      {"server: 'https://a', certificate-authority: key",
       "/k:6:57: clusters[0].cluster.certificate-authority: holds no certificate in PEM format"},
      {"server: 'https://a', certificate-authority-data: '%'",
       "/k:6:62: clusters[0].cluster.certificate-authority-data: is not base64"},
      {"server: 'https://a', certificate-authority-data: AAAA",
       "/k:6:62: clusters[0].cluster.certificate-authority-data: holds no certificate in PEM "
       "format"},
      {"server: 'https://a', extensions: [1]",
       "/k:6:47: clusters[0].cluster.extensions[0]: expected a map"},
  };
  CheckClusters(cases);
}

TEST(KubeconfigErrors, AUserIsChecked) {
  const ErrorCase cases[] = {
      {"token: 12345", "/k:6:17: users[0].user.token: expected a string; quote it"},
      {"token: {secret: x}", "/k:6:17: users[0].user.token: expected a string"},
      {"token: \"two\\nlines\"",
       "/k:6:17: users[0].user.token: must be one line of printable ASCII characters"},
      {"token: \"a\\0b\"", "/k:6:17: users[0].user.token: must not hold the character NUL"},
      {"username: me, token: x",
       "/k:6:20: users[0].user.username: only one of a token and username with password is "
       "allowed"},
      {"password: s, tokenFile: empty",
       "/k:6:20: users[0].user.password: only one of a token and username with password is "
       "allowed"},
      {"tokenFile: gone", "/k:6:21: users[0].user.tokenFile: /gone: cannot be read: not there"},
      {"tokenFile: empty",
       "/k:6:21: users[0].user.tokenFile: what it holds must be one line of printable ASCII "
       "characters"},
      {"tokenFile: text",
       "/k:6:21: users[0].user.tokenFile: what it holds must be one line of printable ASCII "
       "characters"},
      {"client-certificate: ca",
       "/k:6:9: users[0].user.client-key: missing, but required beside a client certificate; "
       "client-key-data will do as well"},
      {"client-certificate: ca, client-key: ca",
       "/k:6:46: users[0].user.client-key: holds no private key in PEM format"},
      {"client-certificate: ca, client-key-data: c2VjcmV0",
       "/k:6:51: users[0].user.client-key-data: holds no private key in PEM format"},
      {"auth-provider: {name: oidc}",
       "/k:6:25: users[0].user.auth-provider: is not supported; client-go dropped most providers, "
       "and a credential plugin (exec) takes their place"},
      {"as: admin", "/k:6:14: users[0].user.as: impersonation is not supported"},
      {"as-groups: [a]", "/k:6:21: users[0].user.as-groups: impersonation is not supported"},
  };
  CheckUsers(cases);
}

TEST(KubeconfigErrors, APluginIsChecked) {
  const ErrorCase cases[] = {
      {"exec: secret", "/k:6:16: users[0].user.exec: expected a map"},
      {"exec: {command: x}", "/k:6:16: users[0].user.exec.apiVersion: missing, but required"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}",
       "/k:6:29: users[0].user.exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not "
       "allowed; allowed are client.authentication.k8s.io/v1, "
       "client.authentication.k8s.io/v1beta1"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1}",
       "/k:6:16: users[0].user.exec.command: missing, but required"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x}",
       "/k:6:16: users[0].user.exec.interactiveMode: missing, but required; allowed are "
       "IfAvailable, Never"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}",
       "/k:6:91: users[0].user.exec.interactiveMode: Always needs a terminal, and there is none "
       "here; allowed are IfAvailable, Never"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: never}",
       "/k:6:91: users[0].user.exec.interactiveMode: \"never\" is not allowed; allowed are "
       "IfAvailable, Never, Always"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: secret}",
       "/k:6:80: users[0].user.exec.args: expected a list of strings"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [a, 1]}",
       "/k:6:84: users[0].user.exec.args[1]: expected a string; quote it"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{value: a}]}",
       "/k:6:80: users[0].user.exec.env[0].name: must be the name of a variable"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{name: a=b}]}",
       "/k:6:87: users[0].user.exec.env[0].name: must be the name of a variable"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{name: a, value: "
       "5}]}",
       "/k:6:97: users[0].user.exec.env[0].value: expected a string; quote it"},
  };
  CheckUsers(cases);
}

TEST(KubeconfigErrors, NoErrorShowsASecret) {
  constexpr std::string_view kSecret = "hunter2";
  for (const std::string_view user :
       {"token: [hunter2]", "token: {hunter2: x}", "password: [hunter2]", "hunter2",
        "token: \"hunter2\\n\"", "exec: hunter2", "exec: [hunter2]",
        "client-certificate: ca, client-key-data: '%hunter2'",
        "client-certificate-data: 'hunter2%'", "username: hunter2, token: hunter2",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [[hunter2]]}",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: hunter2}",
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [hunter2]}"}) {
    SCOPED_TRACE(user);
    const std::string value = user == kSecret ? std::string(user) : fmt::format("{{{}}}", user);
    const std::string error = ErrorOfKubeconfig(
        fmt::format("{}clusters: [{{name: k, cluster: {{server: 'https://a', proxy-url: "
                    "'http://me:hunter2@proxy'}}}}]\nusers:\n- name: u\n  user: {}\n",
                    kContext, value));
    EXPECT_THAT(error, Not(HasSubstr(std::string(kSecret))));
    EXPECT_THAT(error, HasSubstr("/k:6:"));
  }
}

}  // namespace
}  // namespace knx::client
