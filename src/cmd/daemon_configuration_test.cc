#include "cmd/daemon_configuration.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cmd/configuration_document.h"
#include "cmd/json_writer.h"

namespace knx::cmd {
namespace {

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

TEST(DaemonConfiguration, ConnectionFlagsCountWithoutAFile) {
  DaemonOptions options;
  options.kubeconfig = "k";
  options.kube_api_qps = 5;
  const auto read = ReadDaemonConfiguration(options, "");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->config.client_connection.kubeconfig, "k");
  EXPECT_TRUE(read->config.client_connection.qps_set);
  EXPECT_EQ(read->config.client_connection.qps, 5);
  EXPECT_EQ(read->config.client_connection.burst, 100);
  EXPECT_FALSE(ReadDaemonConfiguration({}, "")->config.client_connection.qps_set);
}

TEST(DaemonConfiguration, BesideAFileConnectionFlagsHaveNoEffect) {
  DaemonOptions options;
  options.config_file = "c.yaml";
  options.kubeconfig = "k";
  options.kube_api_qps = 5;
  const auto read = ReadDaemonConfiguration(
      options, std::string(kHead) + "clientConnection: {kubeconfig: f, qps: 7}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->config.client_connection.kubeconfig, "f");
  EXPECT_EQ(read->config.client_connection.qps, 7);
  ASSERT_GE(read->warnings.size(), 2U);
  EXPECT_EQ(read->warnings[0],
            "--kube-api-qps has no effect beside --config; clientConnection.qps in the file has");
  EXPECT_EQ(read->warnings[1],
            "--kubeconfig has no effect beside --config; clientConnection.kubeconfig in the file "
            "has");
}

TEST(DaemonConfiguration, AFileWithoutAKubeconfigLeavesItToTheFlag) {
  DaemonOptions options;
  options.config_file = "c.yaml";
  options.kubeconfig = "k";
  const auto read = ReadDaemonConfiguration(options, kHead);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->config.client_connection.kubeconfig, "k");
  EXPECT_FALSE(read->warnings.empty());
}

TEST(DaemonConfiguration, AShadowSaysWhichProfileLooksAtTheOthersPods) {
  DaemonOptions options;
  options.config_file = "c.yaml";
  options.shadow = true;
  const std::string two = std::string(kHead) + "profiles: [{schedulerName: a}, {schedulerName: b}]";
  const auto first = ReadDaemonConfiguration(options, two);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->profiles[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(first->profiles[1].scheduler_name, "b");
  ASSERT_EQ(first->warnings.size(), 1U);
  EXPECT_EQ(first->warnings[0],
            "the pods of \"default-scheduler\" are looked at with the profile \"a\", the first "
            "one, since no profile has that name");
  options.shadow_scheduler_name = "b";
  const auto named = ReadDaemonConfiguration(options, two);
  EXPECT_EQ(named->profiles[0].scheduler_name, "a");
  EXPECT_TRUE(named->warnings.empty());
}

TEST(DaemonConfiguration, WhatNeedsARestartIsNamed) {
  const auto before = *ReadDaemonConfiguration({}, "");
  auto now = before.config;
  EXPECT_TRUE(NeedsRestart(before.config, now).empty());
  now.pod_max_backoff_seconds = 99;
  EXPECT_TRUE(NeedsRestart(before.config, now).empty());
  now.leader_election.resource_name = "other";
  now.client_connection.burst = 1;
  now.delay_cache_until_active = true;
  EXPECT_EQ(NeedsRestart(before.config, now),
            (std::vector<std::string_view>{"leaderElection", "clientConnection",
                                           "delayCacheUntilActive"}));
}

TEST(DaemonConfiguration, WhatNeedsARestartIsNotInForceBeforeIt) {
  const auto before = ReadDaemonConfiguration({}, "")->config;
  auto now = before;
  now.leader_election.leader_elect = false;
  now.client_connection.qps = 5;
  now.delay_cache_until_active = true;
  now.pod_max_backoff_seconds = 77;
  const auto in_force = InForce(before, now);
  EXPECT_TRUE(NeedsRestart(before, in_force).empty());
  EXPECT_EQ(in_force.pod_max_backoff_seconds, 77);
}

// Of a configuration, what both of two texts must come to.
std::string WithoutPlaces(const framework::SchedulerConfiguration& config) {
  std::string out;
  JsonWriter writer(out);
  WriteConfiguration(config, SecretsAre::kKept, writer);
  return out;
}

TEST(ConfigurationDocument, WhatIsWrittenIsReadAlike) {
  const std::string folder = std::string(KNX_SOURCE_DIR) + "/tests/config/";
  for (const std::string_view name : {"minimal.yaml", "everything.yaml", "several_profiles.yaml",
                                      "short_names.yaml", "user_guide.yaml", "json.json"}) {
    SCOPED_TRACE(name);
    std::stringstream text;
    text << std::ifstream(folder + std::string(name)).rdbuf();
    const auto read = framework::ReadConfiguration(text.str(), name);
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    const std::string yaml = ConfigurationYaml(*read);
    const auto again = framework::ReadConfiguration(yaml, "written.yaml");
    ASSERT_TRUE(again.ok()) << again.error().ToString() << "\n" << yaml;
    EXPECT_EQ(WithoutPlaces(*again), WithoutPlaces(*read));
    ASSERT_EQ(again->profiles.size(), read->profiles.size());
    for (std::size_t i = 0; i < read->profiles.size(); ++i) {
      EXPECT_EQ(again->profiles[i].resolved, read->profiles[i].resolved);
    }
  }
}

TEST(ConfigurationDocument, KeysAreLeftOutWhereOthersLook) {
  const auto read = framework::ReadConfiguration(
      std::string(kHead) +
          "extenders: [{urlPrefix: 'https://e', tlsConfig: {certData: YQ==, keyData: c2VjcmV0}}]\n",
      "c.yaml");
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  std::string shown;
  JsonWriter writer(shown);
  WriteConfiguration(*read, SecretsAre::kLeftOut, writer);
  EXPECT_EQ(shown.find("c2VjcmV0"), std::string::npos) << shown;
  EXPECT_NE(ConfigurationYaml(*read).find("c2VjcmV0"), std::string::npos);
}

}  // namespace
}  // namespace knx::cmd
