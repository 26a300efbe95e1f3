// The files that must load, read from where they lie.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "framework/config.h"
#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Show;
using testing::ShowAll;

std::string Contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

SchedulerConfiguration ReadFile(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::path(KNX_SOURCE_DIR) / path;
  Result<SchedulerConfiguration> config = ReadConfiguration(Contents(whole), path);
  if (config.ok()) return *std::move(config);
  ADD_FAILURE() << config.error().ToString();
  return DefaultConfiguration();
}

const ResolvedPlugins& PluginsOf(const SchedulerConfiguration& config, std::string_view name) {
  for (const ProfileConfiguration& profile : config.profiles) {
    if (profile.scheduler_name == name) return profile.resolved;
  }
  ADD_FAILURE() << "no profile " << name;
  return config.profiles.front().resolved;
}

// Where the two differ: "permit: Coscheduling".
std::string BeyondDefault(const ResolvedPlugins& resolved) {
  const ResolvedPlugins standard = Resolve({});
  ResolvedPlugins beyond;
  for (const Point point : kAllPoints) {
    for (const ResolvedPlugin& entry : resolved.at(point)) {
      if (!standard.Contains(point, entry.plugin)) beyond.at(point).push_back(entry);
    }
  }
  return ShowAll(beyond);
}

// But for what kube-scheduler has and we do not need or do not have yet.
TEST(ConfigurationFiles, AllSamplesLoadWithoutAWarning) {
  int count = 0;
  const std::filesystem::path folder = std::filesystem::path(KNX_SOURCE_DIR) / "tests/config";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".md") continue;
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const Result<SchedulerConfiguration> config = ReadConfiguration(Contents(entry.path()), name);
    ASSERT_TRUE(config.ok()) << config.error().ToString();
    for (const std::string& warning : config->warnings) {
      EXPECT_THAT(warning, HasSubstr("percentageOfNodesToScore: has no effect"));
    }
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST(ConfigurationFiles, TheOneOfTheReadmeLoadsUnchanged) {
  const SchedulerConfiguration config = ReadFile("tests/config/readme.yaml");
  EXPECT_EQ(BeyondDefault(PluginsOf(config, "kubenexus-scheduler")),
            "queueSort: Coscheduling\n"
            "preFilter: Coscheduling\n"
            "score: NUMATopology:10\n"
            "permit: Coscheduling\n");
}

TEST(ConfigurationFiles, TheOneOfTheUserGuideLoadsUnchanged) {
  const SchedulerConfiguration config = ReadFile("tests/config/user_guide.yaml");
  EXPECT_EQ(BeyondDefault(PluginsOf(config, "kubenexus-scheduler")),
            "queueSort: Coscheduling\n"
            "preFilter: Coscheduling\n"
            "score: NUMATopology:10\n"
            "reserve: Coscheduling\n"
            "permit: Coscheduling\n");
}

TEST(ConfigurationFiles, TheOneOfTheEarlierDeploymentLoads) {
  const SchedulerConfiguration config = ReadFile("tests/config/deployment.yaml");
  EXPECT_EQ(config.leader_election.resource_name, "kubenexus-scheduler");
  EXPECT_EQ(BeyondDefault(PluginsOf(config, "kubenexus-scheduler")),
            "queueSort: Coscheduling\n"
            "preFilter: ProfileClassifier Coscheduling\n"
            "filter: NetworkFabricScore VRAMScheduler NUMATopology\n"
            "postFilter: GangPreemption\n"
            "score: WorkloadAwareScoring:1 TopologyScoring:1 BackfillScoring:1 "
            "ResourceFragmentationScore:1 TenantHardwareAffinityScore:1 VRAMScheduler:1 "
            "NetworkFabricScore:1 NUMATopology:1\n"
            "reserve: Coscheduling\n"
            "permit: Coscheduling\n");
}

TEST(ConfigurationFiles, TheOneOfTheEarlierImageLoads) {
  const SchedulerConfiguration config = ReadFile("tests/config/image.yaml");
  ASSERT_EQ(config.profiles.size(), 3U);
  EXPECT_EQ(PluginsOf(config, "default-scheduler"), Resolve({}));
  EXPECT_EQ(BeyondDefault(PluginsOf(config, "gang-scheduler")),
            "queueSort: Coscheduling\npreFilter: Coscheduling\npermit: Coscheduling\n");
  EXPECT_EQ(Show(PluginsOf(config, "kubenexus-scheduler"), Point::kReserve),
            "VolumeBinding DynamicResources Coscheduling ResourceReservation");
}

TEST(ConfigurationFiles, TheShortNamesMeanOurPlugins) {
  const SchedulerConfiguration config = ReadFile("tests/config/short_names.yaml");
  EXPECT_EQ(BeyondDefault(PluginsOf(config, "kubenexus-scheduler")),
            "filter: NUMATopology ResourceFragmentationScore NetworkFabricScore\n"
            "score: NUMATopology:10 ResourceFragmentationScore:5 TenantHardwareAffinityScore:1 "
            "NetworkFabricScore:1 WorkloadAwareScoring:5 BackfillScoring:1 TopologyScoring:1\n");
}

TEST(ConfigurationFiles, AStockFileWithSeveralProfilesLoads) {
  const SchedulerConfiguration config = ReadFile("tests/config/several_profiles.yaml");
  ASSERT_EQ(config.profiles.size(), 3U);
  EXPECT_EQ(config.client_connection.qps, 100);
  EXPECT_EQ(config.client_connection.burst, 200);
  EXPECT_EQ(PluginsOf(config, "default-scheduler"), Resolve({}));
  EXPECT_EQ(Show(PluginsOf(config, "no-scoring-scheduler"), Point::kScore), "");
  EXPECT_EQ(Show(PluginsOf(config, "no-scoring-scheduler"), Point::kPreScore), "");
  EXPECT_EQ(Show(PluginsOf(config, "no-scoring-scheduler"), Point::kFilter),
            Show(Resolve({}), Point::kFilter));
  EXPECT_EQ(Show(PluginsOf(config, "packing-scheduler"), Point::kScore),
            "NodeResourcesFit:5 TaintToleration:3 NodeAffinity:2 VolumeBinding:1 "
            "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 ImageLocality:1");
  EXPECT_EQ(config.profiles[2].percentage_of_nodes_to_score, 50);
  EXPECT_NE(config.profiles[2].plugin_config[0].args->Find("scoringStrategy"), nullptr);
}

TEST(ConfigurationFiles, EveryFieldThereIsIsRead) {
  const SchedulerConfiguration config = ReadFile("tests/config/everything.yaml");
  EXPECT_EQ(config.parallelism, 8);
  EXPECT_EQ(config.leader_election.lease_duration, Duration::Seconds(30));
  EXPECT_EQ(config.leader_election.renew_deadline, Duration::Seconds(20));
  EXPECT_EQ(config.leader_election.retry_period, Duration::Seconds(4));
  EXPECT_EQ(config.leader_election.resource_name, "my-scheduler");
  EXPECT_EQ(config.leader_election.resource_namespace, "scheduling");
  EXPECT_EQ(config.client_connection.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(config.client_connection.accept_content_types, "application/json");
  EXPECT_EQ(config.client_connection.content_type, "application/json");
  EXPECT_EQ(config.client_connection.qps, 12.5);
  EXPECT_EQ(config.client_connection.burst, 25);
  EXPECT_FALSE(config.enable_profiling);
  EXPECT_EQ(config.percentage_of_nodes_to_score, 100);
  EXPECT_EQ(config.pod_initial_backoff_seconds, 2);
  EXPECT_EQ(config.pod_max_backoff_seconds, 20);
  EXPECT_TRUE(config.delay_cache_until_active);
  EXPECT_EQ(config.profiles.front().percentage_of_nodes_to_score, 0);
  EXPECT_EQ(ShowAll(PluginsOf(config, "my-scheduler")),
            "preEnqueue: SchedulingGates DynamicResources DefaultPreemption\n"
            "queueSort: PrioritySort\n"
            "preFilter: NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
            "VolumeBinding PodTopologySpread InterPodAffinity DynamicResources "
            "NodeDeclaredFeatures\n"
            "filter: NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
            "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding PodTopologySpread "
            "InterPodAffinity DynamicResources NodeDeclaredFeatures\n"
            "postFilter: DynamicResources\n"
            "preScore: TaintToleration NodeAffinity NodeResourcesFit VolumeBinding "
            "PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation\n"
            "score: ImageLocality:4 TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 "
            "VolumeBinding:1 PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 "
            "NodeResourcesBalancedAllocation:1\n"
            "reserve: VolumeBinding DynamicResources\n"
            "permit: GangScheduling\n"
            "preBind: VolumeBinding DynamicResources\n"
            "bind: DefaultBinder\n"
            "placementGenerate: TopologyPlacementGenerator\n"
            "placementScore: NodeResourcesFit:1 PodGroupPodsCount:2\n");
}

TEST(ConfigurationFiles, EveryFieldOfAnExtenderIsRead) {
  const SchedulerConfiguration config = ReadFile("tests/config/everything.yaml");
  ASSERT_EQ(config.extenders.size(), 2U);
  const Extender& extender = config.extenders.front();
  EXPECT_EQ(extender.place, "extenders[0]");
  EXPECT_EQ(extender.url_prefix, "https://extender.example.com:8443/scheduler");
  EXPECT_EQ(extender.filter_verb, "filter");
  EXPECT_EQ(extender.preempt_verb, "preempt");
  EXPECT_EQ(extender.prioritize_verb, "prioritize");
  EXPECT_EQ(extender.weight, 2);
  EXPECT_EQ(extender.bind_verb, "bind");
  EXPECT_TRUE(extender.enable_https);
  ASSERT_TRUE(extender.tls.has_value());
  EXPECT_FALSE(extender.tls->insecure);
  EXPECT_EQ(extender.tls->server_name, "extender.example.com");
  EXPECT_EQ(extender.tls->cert_file, "/etc/extender/tls.crt");
  EXPECT_EQ(extender.tls->key_file, "/etc/extender/tls.key");
  EXPECT_EQ(extender.tls->ca_file, "");
  EXPECT_EQ(extender.tls->ca_data, "-----BEGIN");
  EXPECT_EQ(extender.http_timeout, Duration::Milliseconds(2500));
  EXPECT_TRUE(extender.node_cache_capable);
  ASSERT_EQ(extender.managed_resources.size(), 2U);
  EXPECT_EQ(extender.managed_resources[0].name, "example.com/gpu");
  EXPECT_TRUE(extender.managed_resources[0].ignored_by_scheduler);
  EXPECT_FALSE(extender.managed_resources[1].ignored_by_scheduler);
  EXPECT_TRUE(extender.ignorable);
  EXPECT_FALSE(config.extenders[1].tls.has_value());
}

TEST(ConfigurationFiles, JsonIsReadAlike) {
  const SchedulerConfiguration config = ReadFile("tests/config/json.json");
  EXPECT_FALSE(config.leader_election.leader_elect);
  EXPECT_FALSE(PluginsOf(config, "default-scheduler").Contains(FindPlugin("ImageLocality")));
}

TEST(ShippedConfiguration, HasKubeSchedulersSetInOneProfileAndAllOfOursInTheOther) {
  const SchedulerConfiguration config = ReadFile("config/config.yaml");
  ASSERT_EQ(config.profiles.size(), 2U);
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_EQ(config.leader_election.resource_name, "kubenexus-scheduler");
  EXPECT_EQ(PluginsOf(config, "default-scheduler"), Resolve({}));
  const ResolvedPlugins& ours = PluginsOf(config, "kubenexus-scheduler");
  for (const KnownPlugin& plugin : KnownPlugins()) {
    // PrioritySort orders nothing where Coscheduling does; everything else stands beside each
    // other.
    const bool want = plugin.origin != PluginOrigin::kOptional && plugin.name != "PrioritySort";
    EXPECT_EQ(ours.Contains(&plugin), want) << plugin.name;
  }
  EXPECT_EQ(BeyondDefault(ours),
            "preEnqueue: QueueFairness\n"
            "queueSort: Coscheduling\n"
            "preFilter: ProfileClassifier Coscheduling ResourceReservation\n"
            "filter: ResourceReservation VRAMScheduler GPUTopology NUMATopology NetworkFabricScore "
            "ResourceFragmentationScore\n"
            "postFilter: QueueFairness GangPreemption\n"
            "score: VRAMScheduler:1 GPUTopology:1 NUMATopology:10 NetworkFabricScore:1 "
            "ResourceFragmentationScore:5 WorkloadAwareScoring:5 TenantHardwareAffinityScore:1 "
            "TopologyScoring:1 BackfillScoring:1\n"
            "reserve: Coscheduling ResourceReservation\n"
            "permit: Coscheduling\n"
            "postBind: ResourceReservation\n");
}

TEST(ConfigurationPage, TellsEveryPluginWithItsPoints) {
  const std::string page =
      Contents(std::filesystem::path(KNX_SOURCE_DIR) / "docs/configuration.md");
  for (const KnownPlugin& plugin : KnownPlugins()) {
    const std::string name = fmt::format("`{}`", plugin.name), points = PointNames(plugin.points);
    bool found = false;
    for (std::size_t at = page.find(name); at != std::string::npos && !found;
         at = page.find(name, at + 1)) {
      // In a row of a table, or in parentheses behind the name, perhaps on the next line.
      const std::string line = page.substr(at, page.find('\n', at) - at);
      const std::string behind = page.substr(at + name.size(), points.size() + 3);
      found = line.ends_with(fmt::format("| {} |", points)) ||
              behind.substr(1) == fmt::format("({})", points);
    }
    EXPECT_TRUE(found) << name << " extends " << points;
  }
}

}  // namespace
}  // namespace knx::framework
