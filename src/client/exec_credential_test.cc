#include "client/exec_credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/files.h"

namespace knx::client {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ExecPlugin TestPlugin() {
  ExecPlugin plugin;
  plugin.command = "get-token";
  plugin.install_hint = "install it with\nbrew";
  return plugin;
}

ChildOutcome Printed(std::string_view text) {
  return {.output = std::string(text), .error_tail = {}};
}

TEST(PluginCommand, TellsThePluginTheVersion) {
  ExecPlugin plugin = TestPlugin();
  plugin.args = {"-a"};
  plugin.env = {{"X", "y"}};
  const ChildCommand command = PluginCommand(plugin, {}, Duration::Seconds(7));
  EXPECT_EQ(command.program, "get-token");
  EXPECT_THAT(command.args, ElementsAre("-a"));
  EXPECT_EQ(command.timeout, Duration::Seconds(7));
  EXPECT_THAT(command.env,
              ElementsAre(Pair("X", "y"), Pair("KUBERNETES_EXEC_INFO",
                                               R"({"kind":"ExecCredential","apiVersion":)"
                                               R"("client.authentication.k8s.io/v1","spec":)"
                                               R"({"interactive":false}})")));
}

TEST(PluginCommand, TellsThePluginOfTheClusterIfItIsToKnow) {
  ExecPlugin plugin = TestPlugin();
  plugin.version = ExecPlugin::Version::kV1Beta1;
  plugin.provide_cluster_info = true;
  ApiAccess access;
  access.server = *ParseServerUrl("https://a");
  EXPECT_EQ(PluginCommand(plugin, access, {}).env.back().second,
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
            R"("spec":{"cluster":{"server":"https://a","config":null},"interactive":false}})");
  plugin.cluster_config = R"({"audience":"x"})";
  access.ca_pem = "ca";
  access.tls_server_name = "name";
  access.skip_tls_verify = true;
  access.proxy = *ParseProxyUrl("http://proxy:1");
  EXPECT_EQ(PluginCommand(plugin, access, {}).env.back().second,
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",)"
            R"("spec":{"cluster":{"server":"https://a","tls-server-name":"name",)"
            R"("insecure-skip-tls-verify":true,"certificate-authority-data":"Y2E=",)"
            R"("proxy-url":"http://proxy:1","config":{"audience":"x"}},"interactive":false}})");
}

TEST(ReadPluginAnswer, TakesTokenCertificateAndTimeOfExpiry) {
  const auto answer = ReadPluginAnswer(
      TestPlugin(),
      Printed(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
              R"("spec":{},"status":{"token":"t","expirationTimestamp":"2026-01-01T00:00:00Z",)"
              R"("clientCertificateData":"cert","clientKeyData":"key","new":1}})"),
      {});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->token, "t");
  EXPECT_EQ(answer->client_certificate_pem, "cert");
  EXPECT_EQ(answer->client_key_pem, "key");
  EXPECT_EQ(answer->expires, *ParseTime("2026-01-01T00:00:00Z"));

  const auto forever =
      ReadPluginAnswer(TestPlugin(),
                       Printed("kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n"
                               "status: {token: t, expirationTimestamp: null}\n"),
                       {});
  ASSERT_TRUE(forever.ok()) << forever.error().message;
  EXPECT_EQ(forever->expires, kNever);
}

TEST(ReadPluginAnswer, SaysWhatIsWrongWithTheAnswer) {
  struct Case {
    std::string_view output, want;
  };
  const Case cases[] = {
      {"", "printed nothing"},
      {"hunter2", "its output:1:1: expected a map"},
      {"[hunter2]", "its output:1:1: expected a map"},
      {"{", "its output:1:1: not valid YAML: end of map flow not found"},
      {"kind: Pod", "its output:1:7: kind: must be ExecCredential"},
      {"{}", "its output:1:1: kind: must be ExecCredential"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1beta1",
       "its output:2:13: apiVersion: must be client.authentication.k8s.io/v1, as the kubeconfig "
       "says"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1",
       "its output:1:1: status: missing, but required"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: hunter2",
       "its output:3:9: status: expected a map"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: {}",
       "its output:3:9: status: neither a token nor a client certificate is in it"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: {token: 5}",
       "its output:3:17: status.token: expected a string; quote it"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n"
       "status: {token: \"a\\nb\"}",
       "its output:3:17: status.token: must be one line of printable ASCII characters"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n"
       "status: {token: t, expirationTimestamp: hunter2}",
       "its output:3:41: status.expirationTimestamp: expected a time such as "
       "2026-01-31T12:00:00Z"},
      {"kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n"
       "status: {token: hunter2, clientKeyData: hunter2}",
       "its output:3:9: status: clientCertificateData and clientKeyData must come together"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.output);
    const auto answer = ReadPluginAnswer(TestPlugin(), Printed(c.output), {});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(answer.error().message, "credential plugin \"get-token\": " + std::string(c.want));
  }
}

TEST(ReadPluginAnswer, SaysHowThePluginEnded) {
  using End = ChildOutcome::End;
  struct Case {
    End end;
    int code;
    std::string_view error_tail, want;
  };
  const Case cases[] = {
      {End::kExited, 1, "", "exit code 1"},
      {End::kExited, 2, "Traceback:\n  token expired\n\n", "exit code 2: token expired"},
      {End::kExited, 1, "\x1b[31mred\x1b[0m", "exit code 1: \\u001b[31mred\\u001b[0m"},
      {End::kExited, 127, "sh: aws: not found\n",
       "exit code 127: sh: aws: not found; install it with brew"},
      {End::kSignalled, 9, "", "ended by signal 9"},
      {End::kTimedOut, 0, "open this page\n", "no answer within 1m0s: open this page"},
      {End::kTooMuchOutput, 0, "", "printed more than 1048576 bytes"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const auto answer = ReadPluginAnswer(
        TestPlugin(), {c.end, c.code, "hunter2", std::string(c.error_tail)}, Duration::Minutes(1));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().message, "credential plugin \"get-token\": " + std::string(c.want));
  }
}

TEST(PluginNotStarted, TellsHowToGetIt) {
  EXPECT_EQ(PluginNotStarted(TestPlugin(), NotFoundError("No such file or directory")).message,
            "credential plugin \"get-token\": cannot be started: No such file or directory; "
            "install it with brew");
  ExecPlugin plugin = TestPlugin();
  plugin.install_hint.clear();
  EXPECT_EQ(PluginNotStarted(plugin, InvalidError("Permission denied")).message,
            "credential plugin \"get-token\": cannot be started: Permission denied");
}

}  // namespace
}  // namespace knx::client
