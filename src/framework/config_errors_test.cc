#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "framework/config.h"
#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::kHead;
using ::testing::StartsWith;

std::string ErrorOf(std::string_view text) {
  const Result<SchedulerConfiguration> config = ReadConfiguration(text, "c.yaml");
  return config.ok() ? "no error" : config.error().ToString();
}

struct Case {
  std::string_view rest;  // after the two lines that say what it is
  std::string_view want;
};

void Check(std::span<const Case> cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rest);
    EXPECT_EQ(ErrorOf(fmt::format("{}{}", kHead, c.rest)), c.want);
  }
}

TEST(ConfigurationErrors, TheTypeMustBeRight) {
  EXPECT_EQ(ErrorOf(""), "c.yaml: empty; a configuration begins with apiVersion and kind");
  EXPECT_EQ(ErrorOf("[1]"), "c.yaml:1:1: expected a map, found a list");
  EXPECT_EQ(ErrorOf("kind: KubeSchedulerConfiguration"),
            "c.yaml:1:1: apiVersion: missing, but required");
  EXPECT_EQ(ErrorOf("apiVersion: kubescheduler.config.k8s.io/v1"),
            "c.yaml:1:1: kind: missing, but required");
  EXPECT_EQ(ErrorOf("apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy"),
            "c.yaml:2:7: kind: \"Policy\" is not allowed; allowed is KubeSchedulerConfiguration");
  EXPECT_EQ(ErrorOf("apiVersion: v1\nkind: ConfigMap"),
            "c.yaml:1:13: apiVersion: \"v1\" is not allowed; allowed is "
            "kubescheduler.config.k8s.io/v1");
  EXPECT_EQ(ErrorOf(fmt::format("{}---\na: b\n", kHead)),
            "c.yaml:4:1: a second document; a configuration is one");
}

TEST(ConfigurationErrors, AnOlderVersionSaysHowToMoveOn) {
  const auto error = [](std::string_view version) {
    return ErrorOf(
        fmt::format("apiVersion: kubescheduler.config.k8s.io/{}\n"
                    "kind: KubeSchedulerConfiguration\n",
                    version));
  };
  EXPECT_THAT(error("v1beta3"), EndsWith("allowed is kubescheduler.config.k8s.io/v1; v1 has the "
                                         "same fields, so changing this line is enough"));
  EXPECT_THAT(error("v1beta2"), HasSubstr("other default plugins and weights"));
  EXPECT_THAT(error("v1alpha2"), HasSubstr("no preExtender and no unreserve"));
  EXPECT_THAT(error("v2"), EndsWith("allowed is kubescheduler.config.k8s.io/v1"));
}

TEST(ConfigurationErrors, UnknownAndRepeatedFieldsAreRefusedWithTheirPlace) {
  const Case cases[] = {
      {"paralelism: 8",
       "c.yaml:3:1: paralelism: unknown field; allowed are apiVersion, clientConnection, "
       "delayCacheUntilActive, enableContentionProfiling, enableProfiling, extenders, kind, "
       "leaderElection, parallelism, percentageOfNodesToScore, podInitialBackoffSeconds, "
       "podMaxBackoffSeconds, profiles"},
      {"parallelism: 8\nparallelism: 9",
       "c.yaml:4:1: the key \"parallelism\" is here twice, first in line 3"},
      {"profiles:\n- shedulerName: a\n- shedulerName: b\n",
       "c.yaml:4:3: profiles[0].shedulerName: unknown field; allowed are percentageOfNodesToScore, "
       "pluginConfig, plugins, schedulerName"},
      {"profiles:\n- plugins:\n    preExtender: {}\n",
       "c.yaml:5:5: profiles[0].plugins.preExtender: unknown field; allowed are bind, filter, "
       "multiPoint, permit, placementGenerate, placementScore, postBind, postFilter, preBind, "
       "preEnqueue, preFilter, preScore, queueSort, reserve, score"},
      {"profiles:\n- plugins: {score: {enable: []}}\n",
       "c.yaml:4:21: profiles[0].plugins.score.enable: unknown field; allowed are disabled, "
       "enabled"},
      {"profiles:\n- plugins: {score: {enabled: [{name: ImageLocality, wieght: 2}]}}\n",
       "c.yaml:4:53: profiles[0].plugins.score.enabled[0].wieght: unknown field; allowed are name, "
       "weight"},
      {"leaderElection: {leaderelect: true}",
       "c.yaml:3:18: leaderElection.leaderelect: unknown field; allowed are leaderElect, "
       "leaseDuration, renewDeadline, resourceLock, resourceName, resourceNamespace, retryPeriod"},
      {"extenders: [{url: a}]",
       "c.yaml:3:14: extenders[0].url: unknown field; allowed are bindVerb, enableHTTPS, "
       "filterVerb, httpTimeout, ignorable, managedResources, nodeCacheCapable, preemptVerb, "
       "prioritizeVerb, tlsConfig, urlPrefix, weight"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, ValuesMustBeInRange) {
  const Case cases[] = {
      {"parallelism: 0", "c.yaml:3:14: parallelism: 0 is out of range, allowed is 1 to 2147483647"},
      {"parallelism: many",
       "c.yaml:3:14: parallelism: expected a whole number in decimal digits, found the string "
       "\"many\""},
      {"percentageOfNodesToScore: 101",
       "c.yaml:3:27: percentageOfNodesToScore: 101 is out of range, allowed is 0 to 100"},
      {"profiles: [{percentageOfNodesToScore: -1}]",
       "c.yaml:3:39: profiles[0].percentageOfNodesToScore: -1 is out of range, allowed is 0 to "
       "100"},
      {"podInitialBackoffSeconds: 0",
       "c.yaml:3:27: podInitialBackoffSeconds: 0 is out of range, allowed is 1 to 31536000"},
      {"podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 3",
       "c.yaml:4:23: podMaxBackoffSeconds: podMaxBackoffSeconds 3 must not be less than "
       "podInitialBackoffSeconds 5"},
      {"podInitialBackoffSeconds: 11",
       "c.yaml:3:27: podInitialBackoffSeconds: podMaxBackoffSeconds 10 must not be less than "
       "podInitialBackoffSeconds 11"},
      {"clientConnection: {burst: -1}",
       "c.yaml:3:27: clientConnection.burst: -1 is out of range, allowed is 0 to 2147483647"},
      {"clientConnection: {qps: 1e39}",
       "c.yaml:3:25: clientConnection.qps: is out of range for a 32-bit float"},
      {"leaderElection: {leaseDuration: 10s}",
       "c.yaml:3:33: leaderElection.leaseDuration: 10s must be longer than renewDeadline 10s"},
      {"leaderElection: {renewDeadline: 2400ms}",
       "c.yaml:3:33: leaderElection.renewDeadline: 2.4s must be longer than 1.2 times retryPeriod "
       "2s"},
      {"leaderElection: {retryPeriod: -1s}",
       "c.yaml:3:31: leaderElection.retryPeriod: must be positive"},
      {"leaderElection: {leaseDuration: 9000h}",
       "c.yaml:3:33: leaderElection.leaseDuration: must be at most a year"},
      {"leaderElection: {resourceLock: endpoints}",
       "c.yaml:3:32: leaderElection.resourceLock: must be leases, which is all there is"},
      {"leaderElection: {leaseDuration: 15}",
       "c.yaml:3:33: leaderElection.leaseDuration: expected a duration such as 1m30s, found the "
       "number 15"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, ProfilesNeedNamesThatDiffer) {
  const Case cases[] = {
      {"profiles: [{schedulerName: ''}]",
       "c.yaml:3:28: profiles[0].schedulerName: must not be empty"},
      {"profiles:\n- schedulerName: a\n- {}\n",
       "c.yaml:5:3: profiles[1].schedulerName: missing, but required where there is more than one "
       "profile"},
      {"profiles:\n- schedulerName: a\n- schedulerName: b\n- schedulerName: a\n",
       "c.yaml:6:18: profiles[2].schedulerName: \"a\" is the name of profiles[0] already"},
      {"profiles:\n- null\n", "c.yaml:4:3: profiles[0]: expected a map, found nothing"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, PluginsMustBeKnownAndStandWhereTheyCan) {
  const Case cases[] = {
      {"profiles: [{plugins: {score: {enabled: [{name: NodeAfinity}]}}}]",
       "c.yaml:3:48: profiles[0].plugins.score.enabled[0].name: unknown plugin \"NodeAfinity\"; "
       "did "
       "you mean NodeAffinity?"},
      {"profiles: [{plugins: {multiPoint: {enabled: [{name: MyOwnThing}]}}}]",
       "c.yaml:3:53: profiles[0].plugins.multiPoint.enabled[0].name: unknown plugin "
       "\"MyOwnThing\""},
      {"profiles: [{plugins: {multiPoint: {enabled: [{name: '*'}]}}}]",
       "c.yaml:3:53: profiles[0].plugins.multiPoint.enabled[0].name: unknown plugin \"*\""},
      {"profiles: [{plugins: {score: {enabled: [{weight: 1}]}}}]",
       "c.yaml:3:41: profiles[0].plugins.score.enabled[0].name: missing, but required"},
      {"profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]",
       "c.yaml:3:49: profiles[0].plugins.filter.enabled[0].name: EBSLimits was removed from "
       "kube-scheduler; NodeVolumeLimits does its work"},
      {"profiles: [{pluginConfig: [{name: AzureDiskLimits}]}]",
       "c.yaml:3:35: profiles[0].pluginConfig[0].name: AzureDiskLimits was removed from "
       "kube-scheduler; NodeVolumeLimits does its work"},
      {"profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]",
       "c.yaml:3:48: profiles[0].plugins.score.enabled[0].name: NodeName does not extend score; it "
       "extends filter"},
      {"profiles: [{plugins: {bind: {enabled: [{name: Coscheduling}]}}}]",
       "c.yaml:3:47: profiles[0].plugins.bind.enabled[0].name: Coscheduling does not extend bind; "
       "it extends queueSort, preFilter, reserve, permit"},
      {"profiles:\n- plugins:\n    score:\n      enabled:\n      - name: NUMATopology\n      - "
       "name: NUMATopologyScoring\n",
       "c.yaml:8:15: profiles[0].plugins.score.enabled[1].name: NUMATopology is enabled twice "
       "here, "
       "first in line 7"},
      {"profiles: [{plugins: {multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}}}]",
       "c.yaml:3:71: profiles[0].plugins.multiPoint.enabled[1].name: NodeName is enabled twice "
       "here, first in line 3"},
      {"profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: -2}]}}}]",
       "c.yaml:3:71: profiles[0].plugins.score.enabled[0].weight: -2 is out of range, allowed is 0 "
       "to 2147483647"},
      {"profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 21474836}]}}}]",
       "c.yaml:3:12: profiles[0]: the weights of score plugins and extenders add up to more than "
       "21474836, so that the total score of a node could overflow"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, AProfileNeedsToOrderAndToBind) {
  const Case cases[] = {
      {"profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
       "c.yaml:3:34: profiles[0].plugins.queueSort: no queue sort plugin is left, and one is "
       "needed: PrioritySort or Coscheduling"},
      {"profiles: [{plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}}]",
       "c.yaml:3:22: profiles[0].plugins.queueSort: no queue sort plugin is left, and one is "
       "needed: PrioritySort or Coscheduling"},
      {"profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: "
       "Coscheduling}]}}}]",
       "c.yaml:3:34: profiles[0].plugins.queueSort: only one queue sort plugin can be enabled"},
      {"profiles: [{plugins: {bind: {disabled: [{name: DefaultBinder}]}}}]",
       "c.yaml:3:29: profiles[0].plugins.bind: no bind plugin is left, and one is needed: "
       "DefaultBinder"},
      {"profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}]}}}]",
       "c.yaml:3:22: profiles[0].plugins.bind: no bind plugin is left, and one is needed: "
       "DefaultBinder"},
      {"profiles:\n"
       "- schedulerName: a\n"
       "  plugins: {queueSort: {enabled: [{name: Coscheduling}]}}\n"
       "- schedulerName: b\n"
       "  plugins: {queueSort: {enabled: [{name: Coscheduling}]}}\n"
       "  pluginConfig: [{name: Coscheduling, args: {x: 1}}]\n",
       "c.yaml:8:17: profiles[1].pluginConfig: Coscheduling orders the one queue of all profiles, "
       "so its arguments must be the same as in profile \"a\""},
      {"profiles:\n"
       "- schedulerName: a\n"
       "  plugins: {preFilter: {enabled: [{name: ProfileClassifier}]}}\n"
       "- schedulerName: b\n"
       "- schedulerName: c\n"
       "  plugins: {preFilter: {enabled: [{name: ProfileClassifier}]}}\n"
       "  pluginConfig: [{name: ProfileClassifier, args: {defaultTier: gold}}]\n",
       "c.yaml:9:17: profiles[2].pluginConfig: ProfileClassifier says of the pods of all profiles "
       "what they are for, so its arguments must be the same as in profile \"a\""},
  };
  Check(cases);
}

TEST(ConfigurationErrors, ArgumentsMustBeAMapOfTheRightKindOncePerPlugin) {
  const Case cases[] = {
      {"profiles:\n- pluginConfig:\n  - name: NetworkFabricScore\n  - name: NetworkFabric\n",
       "c.yaml:6:11: profiles[0].pluginConfig[1].name: NetworkFabricScore is configured twice, "
       "first in line 5"},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: 3}]}]",
       "c.yaml:3:55: profiles[0].pluginConfig[0].args: expected a map, found the number 3"},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: NodeNameArgs}}]}]",
       "c.yaml:3:62: profiles[0].pluginConfig[0].args.kind: \"NodeNameArgs\" is not allowed; "
       "allowed is NodeAffinityArgs"},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: v1}}]}]",
       "c.yaml:3:68: profiles[0].pluginConfig[0].args.apiVersion: \"v1\" is not allowed; allowed "
       "is kubescheduler.config.k8s.io/v1"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, ExtendersFollowKubeSchedulersRules) {
  const Case cases[] = {
      {"extenders: [{prioritizeVerb: p}]",
       "c.yaml:3:13: extenders[0].weight: must be positive for an extender with a prioritizeVerb"},
      {"extenders: [{bindVerb: b}, {bindVerb: b}]",
       "c.yaml:3:39: extenders[1].bindVerb: only one extender can bind, and extenders[0] does"},
      {"extenders: [{managedResources: [{name: cpu}]}]",
       "c.yaml:3:40: extenders[0].managedResources[0].name: \"cpu\" is not the name of an extended "
       "resource, such as example.com/gpu"},
      {"extenders: [{managedResources: [{name: a.b/c}]}, {managedResources: [{name: a.b/c}]}]",
       "c.yaml:3:77: extenders[1].managedResources[0].name: \"a.b/c\" is managed by an extender "
       "already"},
      {"extenders: [{httpTimeout: -1s}]",
       "c.yaml:3:27: extenders[0].httpTimeout: must not be negative, and at most a year"},
      {"extenders: [{tlsConfig: {insecure: true, caFile: a}}]",
       "c.yaml:3:36: extenders[0].tlsConfig.insecure: contradicts the certificate authority beside "
       "it"},
      {"extenders: [{tlsConfig: {caData: '%'}}]",
       "c.yaml:3:34: extenders[0].tlsConfig.caData: is not base64"},
      {"extenders: [{prioritizeVerb: p, weight: 9223372036854775807}]\nprofiles: [{}]",
       "c.yaml:4:12: profiles[0]: the weights of score plugins and extenders add up to more than "
       "21474836, so that the total score of a node could overflow"},
  };
  Check(cases);
}

TEST(ConfigurationErrors, SizeIsLimited) {
  EXPECT_THAT(ErrorOf(std::string(kMaxConfigurationBytes + 1, '#')),
              StartsWith("c.yaml: too large for a configuration: 1048577 bytes"));
  std::string many = fmt::format("{}profiles:\n", kHead);
  for (std::size_t i = 0; i <= kMaxProfiles; ++i) many += fmt::format("- schedulerName: s{}\n", i);
  EXPECT_EQ(ErrorOf(many), "c.yaml:4:1: profiles: 1001 are too many; at most 1000 are allowed");
}

}  // namespace
}  // namespace knx::framework
