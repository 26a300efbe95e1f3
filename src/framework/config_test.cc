#include "framework/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kHead;
using testing::Show;

SchedulerConfiguration ReadGood(std::string_view rest) {
  Result<SchedulerConfiguration> config =
      ReadConfiguration(fmt::format("{}{}", kHead, rest), "test.yaml");
  if (config.ok()) return *std::move(config);
  ADD_FAILURE() << config.error().ToString();
  return DefaultConfiguration();
}

void ExpectDefaults(const SchedulerConfiguration& config) {
  EXPECT_EQ(config.parallelism, 16);
  EXPECT_TRUE(config.leader_election.leader_elect);
  EXPECT_EQ(config.leader_election.lease_duration, Duration::Seconds(15));
  EXPECT_EQ(config.leader_election.renew_deadline, Duration::Seconds(10));
  EXPECT_EQ(config.leader_election.retry_period, Duration::Seconds(2));
  EXPECT_EQ(config.leader_election.resource_lock, "leases");
  EXPECT_EQ(config.leader_election.resource_name, "kube-scheduler");
  EXPECT_EQ(config.leader_election.resource_namespace, "kube-system");
  EXPECT_EQ(config.client_connection.kubeconfig, "");
  EXPECT_EQ(config.client_connection.accept_content_types, "");
  EXPECT_EQ(config.client_connection.content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(config.client_connection.qps, 50);
  EXPECT_EQ(config.client_connection.burst, 100);
  EXPECT_TRUE(config.enable_profiling);
  EXPECT_TRUE(config.enable_contention_profiling);
  EXPECT_EQ(config.percentage_of_nodes_to_score, 0);
  EXPECT_EQ(config.pod_initial_backoff_seconds, 1);
  EXPECT_EQ(config.pod_max_backoff_seconds, 10);
  EXPECT_FALSE(config.delay_cache_until_active);
  EXPECT_THAT(config.extenders, IsEmpty());
  EXPECT_THAT(config.warnings, IsEmpty());
  ASSERT_EQ(config.profiles.size(), 1U);
  const ProfileConfiguration& profile = config.profiles.front();
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(profile.percentage_of_nodes_to_score, std::nullopt);
  EXPECT_THAT(profile.plugin_config, IsEmpty());
  EXPECT_EQ(profile.resolved, Resolve({}));
}

TEST(Configuration, AFileThatSaysNothingGivesKubeSchedulersDefaults) {
  ExpectDefaults(DefaultConfiguration());
  ExpectDefaults(ReadGood(""));
  ExpectDefaults(ReadGood("profiles: []\nextenders: []\n"));
  ExpectDefaults(ReadGood("profiles:\nleaderElection:\nclientConnection: {}\n"));
  ExpectDefaults(ReadGood("profiles:\n- {}\n"));
  ExpectDefaults(ReadGood("profiles:\n- {plugins: {}, pluginConfig: []}\n"));
}

TEST(Configuration, EmptyAndZeroMeanTheDefaultWhereKubeSchedulerSaysSo) {
  ExpectDefaults(
      ReadGood("leaderElection: {leaseDuration: 0s, renewDeadline: 0s, retryPeriod: 0s,"
               " resourceLock: '', resourceName: '', resourceNamespace: ''}\n"
               "clientConnection: {contentType: '', qps: 0, burst: 0}\n"));
}

TEST(Configuration, ContentionIsProfiledWhereProfilingIsOn) {
  EXPECT_FALSE(ReadGood("enableProfiling: false\n").enable_contention_profiling);
  EXPECT_FALSE(ReadGood("enableContentionProfiling: false\n").enable_contention_profiling);
  EXPECT_TRUE(ReadGood("enableProfiling: false\nenableContentionProfiling: true\n")
                  .enable_contention_profiling);
}

TEST(Configuration, ANegativeRateMeansNoLimitOfOurOwn) {
  EXPECT_EQ(ReadGood("clientConnection: {qps: -1}\n").client_connection.qps, -1);
}

TEST(Configuration, WithoutElectionItsTimesAreNoMatter) {
  const SchedulerConfiguration config = ReadGood(
      "leaderElection: {leaderElect: false, leaseDuration: 1s, resourceLock: endpoints}\n");
  EXPECT_FALSE(config.leader_election.leader_elect);
  EXPECT_EQ(config.leader_election.lease_duration, Duration::Seconds(1));
}

TEST(Configuration, AnExtenderWithoutATimeoutHasFiveSeconds) {
  const SchedulerConfiguration config =
      ReadGood("extenders: [{urlPrefix: 'http://a'}, {httpTimeout: 0s}, {httpTimeout: 100ms}]\n");
  ASSERT_EQ(config.extenders.size(), 3U);
  EXPECT_EQ(config.extenders[0].http_timeout, Duration::Seconds(5));
  EXPECT_EQ(config.extenders[1].http_timeout, Duration::Seconds(5));
  EXPECT_EQ(config.extenders[2].http_timeout, Duration::Milliseconds(100));
}

TEST(Configuration, KeepsTheArgumentsOfPluginsUnread) {
  const SchedulerConfiguration config = ReadGood(
      "profiles:\n"
      "- pluginConfig:\n"
      "  - name: NodeAffinity\n"
      "  - name: NodeResourcesFit\n"
      "    args:\n"
      "      apiVersion: kubescheduler.config.k8s.io/v1\n"
      "      kind: NodeResourcesFitArgs\n"
      "      anything: [1, 2]\n");
  const std::vector<PluginArguments>& args = config.profiles.front().plugin_config;
  ASSERT_EQ(args.size(), 2U);
  EXPECT_EQ(args[0].plugin, FindPlugin("NodeAffinity"));
  EXPECT_FALSE(args[0].args.has_value());
  EXPECT_EQ(args[1].plugin, FindPlugin("NodeResourcesFit"));
  EXPECT_EQ(args[1].path, "profiles[0].pluginConfig[1].args");
  EXPECT_EQ(args[1].place, (SourcePlace{"test.yaml", 6, 5}));
  ASSERT_TRUE(args[1].args.has_value());
  // What they are is checked here, so that no plugin has to allow for it.
  ASSERT_EQ(args[1].args->children.size(), 1U);
  EXPECT_EQ(args[1].args->children[0].key, "anything");
  EXPECT_EQ(args[1].args->children[0].line, 10);
}

TEST(Configuration, ArgumentsOfAPluginThatIsNotEnabledAreAccepted) {
  const SchedulerConfiguration config = ReadGood(
      "profiles:\n"
      "- plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}\n"
      "  pluginConfig: [{name: NodeAffinity, args: {}}, {name: NUMATopology, args: {a: b}}]\n");
  EXPECT_EQ(config.profiles.front().plugin_config.size(), 2U);
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(Configuration, ProfilesMayMixTheQueueSortPlugins) {
  const SchedulerConfiguration config = ReadGood(
      "profiles:\n"
      "- schedulerName: a\n"
      "- schedulerName: b\n"
      "  plugins: {queueSort: {enabled: [{name: Coscheduling}]}}\n"
      "- schedulerName: c\n"
      "  plugins: {queueSort: {enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}}\n"
      "- schedulerName: d\n"
      "  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}\n");
  std::string sorts;
  for (const ProfileConfiguration& profile : config.profiles) {
    sorts += Show(profile.resolved, Point::kQueueSort) + ' ';
  }
  EXPECT_EQ(sorts, "PrioritySort Coscheduling PrioritySort Coscheduling ");
}

TEST(Configuration, TheArgumentsOfTheQueueSortPluginMayBeRepeated) {
  const SchedulerConfiguration config = ReadGood(
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins: &with {queueSort: {enabled: [{name: Coscheduling}]}}\n"
      "  pluginConfig: [{name: Coscheduling, args: {x: {a: 1, b: [c]}, y: 2}}]\n"
      "- schedulerName: b\n"
      "  plugins: *with\n"
      "  pluginConfig: [{name: Coscheduling, args: {y: 2, x: {b: [c], a: 1}}}]\n"
      // Not at queueSort here, so what it is told here is about other things.
      "- schedulerName: c\n"
      "  plugins: {permit: {enabled: [{name: Coscheduling}]}}\n"
      "  pluginConfig: [{name: Coscheduling, args: {y: 3}}]\n");
  EXPECT_EQ(config.profiles.size(), 3U);
}

TEST(Configuration, WhatChangesNothingIsAcceptedWithAWarning) {
  const SchedulerConfiguration config = ReadGood(
      "profiles:\n"
      "- plugins:\n"
      "    score:\n"
      "      disabled:\n"
      "      - name: SelectorSpread\n"
      "      - name: NodeAfinity\n"
      "  pluginConfig:\n"
      "  - name: MyOwnThing\n"
      "    args: {a: 1}\n");
  EXPECT_THAT(config.warnings,
              ElementsAre("test.yaml:7:9: profiles[0].plugins.score.disabled[0]: unknown plugin "
                          "\"SelectorSpread\" is disabled, which changes nothing",
                          "test.yaml:8:9: profiles[0].plugins.score.disabled[1]: unknown plugin "
                          "\"NodeAfinity\" is disabled, which changes nothing; did you mean "
                          "NodeAffinity?",
                          "test.yaml:10:5: profiles[0].pluginConfig[0]: unknown plugin "
                          "\"MyOwnThing\" has arguments, which nobody reads"));
}

TEST(Configuration, WeightsMayAddUpToTheMostThatFits) {
  const std::string_view text =
      "profiles:\n"
      "- plugins: {{score: {{disabled: [{{name: '*'}}], enabled: [{{name: ImageLocality, weight: "
      "21474835}}, {{name: NodeAffinity, weight: {}}}]}}}}\n";
  EXPECT_EQ(
      Show(ReadGood(fmt::format(fmt::runtime(text), 1)).profiles.front().resolved, Point::kScore),
      "ImageLocality:21474835 NodeAffinity:1");
  EXPECT_FALSE(
      ReadConfiguration(fmt::format("{}{}", kHead, fmt::format(fmt::runtime(text), 2)), "").ok());
}

TEST(WeightsComplaint, CountsExtendersThatScoreAndNeverOverflows) {
  ProfileConfiguration profile = DefaultConfiguration().profiles.front();
  Extender extender;
  extender.weight = INT64_MAX;
  EXPECT_EQ(WeightsComplaint(profile, {extender, extender}), std::nullopt);
  extender.prioritize_verb = "prioritize";
  EXPECT_NE(WeightsComplaint(profile, {extender, extender}), std::nullopt);
  extender.weight = INT64_MIN;
  EXPECT_EQ(WeightsComplaint(profile, {extender, extender}), std::nullopt);
}

TEST(ExtendedResourceName, IsOneWithADomainThatIsNotKubernetesOwn) {
  struct Case {
    std::string name;
    bool want;
  };
  const Case cases[] = {
      {"example.com/gpu", true},
      {"nvidia.com/gpu", true},
      {"a/B_c.D-9", true},
      {std::string(240, 'a') + "/x", true},
      {std::string(245, 'a') + "/x", false},  // too long with requests. in front
      {"example.com/" + std::string(63, 'x'), true},
      {"example.com/" + std::string(64, 'x'), false},
      {"", false},
      {"cpu", false},
      {"/gpu", false},
      {"example.com/", false},
      {"example..com/gpu", false},
      {"Example.com/gpu", false},
      {"example.com/gpu/x", false},
      {"example.com/-gpu", false},
      {"example.com/g\xc3\xa9", false},
      {"kubernetes.io/gpu", false},
      {"my.kubernetes.io/gpu", false},
      {"requests.example.com/gpu", false},
  };
  for (const Case& c : cases) EXPECT_EQ(IsExtendedResourceName(c.name), c.want) << c.name;
}

}  // namespace
}  // namespace knx::framework
