#include "framework/profile_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/testing_config.h"

namespace knx::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kHead;

// ---- plugins that do nothing but stand somewhere ----

class Named : public Plugin {
 public:
  explicit Named(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

class Filtering : public Named, public FilterPlugin {
 public:
  using Named::Named;
  [[nodiscard]] PreFilterResult PreFilter(const PodView&) const override { return {}; }
};

class Scoring : public Named, public ScorePlugin {
 public:
  using Named::Named;
  [[nodiscard]] PreScoreResult PreScore(const PodView&) const override { return {}; }
};

class FilteringAndScoring : public Filtering, public ScorePlugin {
 public:
  using Filtering::Filtering;
  [[nodiscard]] PreScoreResult PreScore(const PodView&) const override { return {}; }
};

class Everything : public FilteringAndScoring,
                   public PreEnqueuePlugin,
                   public PostFilterPlugin,
                   public ReservePlugin,
                   public PermitPlugin,
                   public PreBindPlugin,
                   public BindPlugin,
                   public PostBindPlugin {
 public:
  using FilteringAndScoring::FilteringAndScoring;
  [[nodiscard]] Outcome PreEnqueue(const PodView&) const override { return {}; }
  [[nodiscard]] PostFilterResult PostFilter(const PodView&, const Rejections&) const override {
    return {};
  }
  [[nodiscard]] Outcome Reserve(const PodView&, cluster::NodeRow, cluster::State&) const override {
    return {};
  }
  void Unreserve(const PodView&, cluster::NodeRow, cluster::State&) const override {}
  [[nodiscard]] StepResult Permit(const PodView&, cluster::NodeRow) const override { return {}; }
  [[nodiscard]] StepResult ResumePermit(const PodView&, cluster::NodeRow,
                                        const Answer&) const override {
    return {};
  }
  [[nodiscard]] StepResult PreBind(const PodView&, cluster::NodeRow) const override { return {}; }
  [[nodiscard]] StepResult ResumePreBind(const PodView&, cluster::NodeRow,
                                         const Answer&) const override {
    return {};
  }
  [[nodiscard]] Outcome Bind(const PodView&, cluster::NodeRow) const override { return {}; }
  void PostBind(const PodView&, cluster::NodeRow) const override {}
};

template <class T, const char* name>
Result<std::unique_ptr<Plugin>> Make(const PluginArgs& args) {
  if (args.node != nullptr) {
    KNX_TRY_DONE(k8s::ReadNode(
        *args.node, {.file = args.file, .unknown = k8s::UnknownFields::kRefuse, .path = args.path},
        [](k8s::FieldReader& fields) { fields.Allow({"fine"}); }));
  }
  return std::unique_ptr<Plugin>(std::make_unique<T>(name));
}

constexpr char kNodeName[] = "NodeName", kTaints[] = "TaintToleration",
               kAffinity[] = "NodeAffinity", kPorts[] = "NodePorts", kImages[] = "ImageLocality",
               kBinder[] = "DefaultBinder", kDynamic[] = "DynamicResources",
               kReservation[] = "ResourceReservation", kCoscheduling[] = "Coscheduling",
               kSort[] = "PrioritySort";

// In no order, as a registry may be.
const PluginEntry kRegistry[] = {
    {kPorts, Make<Filtering, kPorts>},
    {kImages, Make<Scoring, kImages>},
    {kBinder, Make<Everything, kBinder>},
    {kNodeName, Make<Filtering, kNodeName>},
    {kAffinity, Make<FilteringAndScoring, kAffinity>},
    {kTaints, Make<FilteringAndScoring, kTaints>},
    {kDynamic, Make<Everything, kDynamic>},
    {kReservation, Make<Everything, kReservation>},
    {kCoscheduling, Make<Everything, kCoscheduling>},
    {kSort, Make<Named, kSort>},
};

SchedulerConfiguration Read(std::string_view rest) {
  Result<SchedulerConfiguration> config =
      ReadConfiguration(fmt::format("{}{}", kHead, rest), "c.yaml");
  if (config.ok()) return *std::move(config);
  ADD_FAILURE() << config.error().ToString();
  return DefaultConfiguration();
}

std::vector<Profile> Build(std::string_view rest) {
  Result<std::vector<Profile>> profiles = BuildProfiles(Read(rest), kRegistry);
  if (profiles.ok()) return *std::move(profiles);
  ADD_FAILURE() << profiles.error().ToString();
  return {};
}

std::string BuildErrorOf(std::string_view rest) {
  const Result<std::vector<Profile>> profiles = BuildProfiles(Read(rest), kRegistry);
  return profiles.ok() ? "no error" : profiles.error().ToString();
}

std::string_view NameAt(const Profile& profile, std::uint8_t index) {
  return profile.plugins.at(index)->name();
}

template <class T>
std::string Show(const Profile& profile, const std::vector<Profile::Entry<T>>& entries) {
  std::string out;
  for (const auto& entry : entries) {
    EXPECT_EQ(dynamic_cast<const T*>(profile.plugins.at(entry.index).get()), entry.plugin);
    out += fmt::format("{} ", NameAt(profile, entry.index));
  }
  return out;
}

std::string ShowFilters(const Profile& profile) {
  std::string out;
  for (const Profile::FilterEntry& entry : profile.filters) {
    EXPECT_EQ(dynamic_cast<const FilterPlugin*>(profile.plugins.at(entry.index).get()),
              entry.plugin);
    out += fmt::format("{}{}{} ", NameAt(profile, entry.index), entry.pre_filter ? "+pre" : "",
                       entry.filter ? "+filter" : "");
  }
  return out;
}

std::string ShowScores(const Profile& profile) {
  std::string out;
  for (const Profile::ScoreEntry& entry : profile.scores) {
    EXPECT_EQ(dynamic_cast<const ScorePlugin*>(profile.plugins.at(entry.index).get()),
              entry.plugin);
    out += fmt::format("{}:{} ", NameAt(profile, entry.index), entry.weight);
  }
  return out;
}

// ---- building ----

TEST(BuildProfiles, TheDefaultConfigurationUsesWhatIsBuiltOfTheDefaultSet) {
  const Result<std::vector<Profile>> profiles = BuildProfiles(DefaultConfiguration(), kRegistry);
  ASSERT_TRUE(profiles.ok()) << profiles.error().ToString();
  ASSERT_EQ(profiles->size(), 1U);
  const Profile& profile = profiles->front();
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_EQ(ShowFilters(profile),
            "NodeName+filter TaintToleration+filter NodeAffinity+pre+filter NodePorts+pre+filter "
            "DynamicResources+pre+filter ");
  EXPECT_EQ(ShowScores(profile),
            "TaintToleration:3 NodeAffinity:2 DynamicResources:2 ImageLocality:1 ");
  EXPECT_EQ(Show(profile, profile.pre_enqueue), "DynamicResources ");
  EXPECT_EQ(Show(profile, profile.post_filter), "DynamicResources ");
  EXPECT_EQ(Show(profile, profile.reserve), "DynamicResources ");
  EXPECT_EQ(Show(profile, profile.permit), "");
  EXPECT_EQ(Show(profile, profile.pre_bind), "DynamicResources ");
  EXPECT_EQ(Show(profile, profile.bind), "DefaultBinder ");
  EXPECT_EQ(Show(profile, profile.post_bind), "");
}

TEST(BuildProfiles, APluginIsMadeOncePerProfileAndOnlyIfItStandsSomewhere) {
  const std::vector<Profile> profiles = Build(
      "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {multiPoint: {disabled: [{name: "
      "NodeName}], enabled: [{name: ResourceReservation}]}}}]");
  ASSERT_EQ(profiles.size(), 2U);
  const auto names = [](const Profile& profile) {
    std::vector<std::string_view> out;
    for (const auto& plugin : profile.plugins) out.push_back(plugin->name());
    return out;
  };
  EXPECT_THAT(names(profiles[0]),
              ElementsAre("PrioritySort", "NodeName", "TaintToleration", "NodeAffinity",
                          "NodePorts", "DynamicResources", "ImageLocality", "DefaultBinder"));
  EXPECT_THAT(names(profiles[1]), ElementsAre("PrioritySort", "TaintToleration", "NodeAffinity",
                                              "NodePorts", "DynamicResources", "ImageLocality",
                                              "DefaultBinder", "ResourceReservation"));
  EXPECT_NE(profiles[0].plugins[0].get(), profiles[1].plugins[0].get());
  EXPECT_EQ(Show(profiles[1], profiles[1].post_bind), "ResourceReservation ");
}

TEST(BuildProfiles, FiltersKeepTheOrderOfTheirPointAndSayWhichOfTheTwoIsOn) {
  // preFilter has an order of its own, which only matters for those that are there alone.
  const std::vector<Profile> profiles = Build(
      "profiles:\n"
      "- plugins:\n"
      "    preFilter:\n"
      "      enabled: [{name: Coscheduling}, {name: ResourceReservation}]\n"
      "      disabled: [{name: NodeAffinity}]\n"
      "    filter:\n"
      "      enabled: [{name: TaintToleration}]\n"
      "      disabled: [{name: NodePorts}]\n");
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(
      ShowFilters(profiles[0]),
      "TaintToleration+filter NodeName+filter NodeAffinity+filter DynamicResources+pre+filter "
      "NodePorts+pre Coscheduling+pre ResourceReservation+pre ");
}

TEST(BuildProfiles, ScoresTakeTheirWeights) {
  const std::vector<Profile> profiles = Build(
      "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 7}, {name: "
      "NodeAffinity}]}}}]");
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(ShowScores(profiles[0]),
            "ImageLocality:7 NodeAffinity:1 TaintToleration:3 DynamicResources:2 ");
}

TEST(BuildProfiles, ARegistryWithNothingInItGivesAProfileWithNothingInIt) {
  const Result<std::vector<Profile>> profiles = BuildProfiles(DefaultConfiguration(), {});
  ASSERT_TRUE(profiles.ok());
  ASSERT_EQ(profiles->size(), 1U);
  EXPECT_THAT(profiles->front().plugins, IsEmpty());
  EXPECT_THAT(profiles->front().filters, IsEmpty());
}

TEST(BuildProfiles, APluginReadsItsArguments) {
  EXPECT_EQ(Build("profiles: [{pluginConfig: [{name: NodeName, args: {fine: 1}}]}]").size(), 1U);
  EXPECT_EQ(BuildErrorOf("profiles:\n"
                         "- schedulerName: mine\n"
                         "  pluginConfig:\n"
                         "  - name: NodePorts\n"
                         "  - name: NodeName\n"
                         "    args:\n"
                         "      wrong: 1\n"),
            "c.yaml:9:7: profile \"mine\": plugin NodeName: "
            "profiles[0].pluginConfig[1].args.wrong: unknown field; allowed are fine");
}

TEST(BuildProfiles, ArgumentsOfAPluginThatStandsNowhereAreReadToo) {
  EXPECT_THAT(BuildErrorOf("profiles: [{plugins: {multiPoint: {disabled: [{name: NodeName}]}}, "
                           "pluginConfig: [{name: NodeName, args: {wrong: 1}}]}]"),
              HasSubstr("args.wrong: unknown field"));
  // Of what is not built nobody knows the arguments.
  EXPECT_EQ(Build("profiles: [{pluginConfig: [{name: NUMATopology, args: {wrong: 1}}]}]").size(),
            1U);
}

TEST(BuildProfiles, TheArgumentsMayCallThePluginByAnotherName) {
  static constexpr char kNuma[] = "NUMATopology";
  const PluginEntry registry[] = {{kNuma, Make<Scoring, kNuma>}};
  const SchedulerConfiguration config = Read(
      "profiles: [{plugins: {score: {enabled: [{name: NUMATopologyScoring}]}}, pluginConfig: "
      "[{name: NodeResourceTopology, args: {wrong: 1}}]}]");
  EXPECT_FALSE(BuildProfiles(config, registry).ok());
}

TEST(BuildProfiles, WeightsAreCheckedAgain) {
  SchedulerConfiguration config = DefaultConfiguration();
  config.profiles.front().resolved.at(Point::kScore).front().weight = kMaxTotalScore;
  const Result<std::vector<Profile>> profiles = BuildProfiles(config, kRegistry);
  ASSERT_FALSE(profiles.ok());
  EXPECT_THAT(profiles.error().message, HasSubstr("could overflow"));
}

// ---- warnings ----

std::vector<PluginEntry> AllBut(std::initializer_list<std::string_view> missing) {
  std::vector<PluginEntry> registry;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    if (std::find(missing.begin(), missing.end(), plugin.name) == missing.end()) {
      registry.push_back({plugin.name, Make<Everything, kNodeName>});
    }
  }
  return registry;
}

TEST(Warnings, ThereAreNoneWhereEverythingIsBuilt) {
  EXPECT_THAT(Warnings(DefaultConfiguration(), AllBut({})), IsEmpty());
  EXPECT_THAT(Warnings(Read("profiles: [{plugins: {score: {enabled: [{name: NUMATopology}]}}}]"),
                       AllBut({})),
              IsEmpty());
}

TEST(Warnings, NameWhatIsKnownButNotBuiltWithItsPlace) {
  const SchedulerConfiguration config = Read(
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins:\n"
      "    score:\n"
      "      enabled:\n"
      "      - name: NUMATopology\n"
      "      - name: GPUTopology\n"
      "    filter:\n"
      "      enabled:\n"
      "      - name: NUMATopology\n"
      "- schedulerName: b\n"
      "  plugins: {permit: {enabled: [{name: GangScheduling}]}}\n");
  EXPECT_THAT(Warnings(config, AllBut({"NUMATopology", "GangScheduling", "GPUTopology"})),
              ElementsAre("c.yaml:8:9: profile \"a\": known but not built yet, so without effect: "
                          "NUMATopology, GPUTopology",
                          "c.yaml:14:32: profile \"b\": known but not built yet, so without "
                          "effect: GangScheduling"));
}

TEST(Warnings, SayThatRoomForGangsIsMadeOnlyWhereThereAreGangs) {
  EXPECT_THAT(
      Warnings(Read("profiles:\n"
                    "- schedulerName: a\n"
                    "  plugins: {multiPoint: {enabled: [{name: GangPreemption}]}}\n"
                    "- schedulerName: b\n"
                    "  plugins: {multiPoint: {enabled: [{name: GangPreemption}, {name: "
                    "Coscheduling}]}}\n"),
               AllBut({})),
      ElementsAre("c.yaml:5:36: profile \"a\": GangPreemption has no effect without Coscheduling, "
                  "because members of gangs are pods like any other then"));
}

TEST(Warnings, PutWhatIsMissingOfTheDefaultSetIntoOneLine) {
  EXPECT_THAT(Warnings(DefaultConfiguration(), AllBut({"VolumeBinding", "DynamicResources"})),
              ElementsAre("of the default set these plugins are not built yet, so they have no "
                          "effect: VolumeBinding, DynamicResources"));
  EXPECT_THAT(
      Warnings(Read("profiles:\n- schedulerName: a\n- schedulerName: b\n"), AllBut({"VolumeZone"})),
      ElementsAre("c.yaml: of the default set these plugins are not built yet, so they have "
                  "no effect: VolumeZone"));
  const std::string differ =
      "profiles:\n"
      "- schedulerName: a\n"
      "- schedulerName: b\n"
      "  plugins: {multiPoint: {disabled: [{name: VolumeZone}]}}\n"
      "- schedulerName: c\n";
  EXPECT_THAT(Warnings(Read(differ), AllBut({"VolumeBinding", "VolumeZone"})),
              ElementsAre("c.yaml:4:3: profiles \"a\", \"c\": of the default set these plugins are "
                          "not built yet, so they have no effect: VolumeBinding, VolumeZone",
                          "c.yaml:5:3: profile \"b\": of the default set these plugins are not "
                          "built yet, so they have no effect: VolumeBinding"));
  EXPECT_THAT(
      Warnings(Read("profiles: [{plugins: {multiPoint: {disabled: [{name: VolumeZone}]}}}]"),
               AllBut({"VolumeZone"})),
      IsEmpty());
}

TEST(Warnings, NameSettingsThatHaveNoEffect) {
  const SchedulerConfiguration config = Read(
      "percentageOfNodesToScore: 30\n"
      "profiles: [{percentageOfNodesToScore: 40, plugins: {score: {disabled: [{name: Nothing}]}}}]"
      "\n");
  EXPECT_THAT(
      Warnings(config, AllBut({})),
      ElementsAre("c.yaml:3:27: percentageOfNodesToScore: has no effect, all nodes are considered",
                  "c.yaml:4:39: profiles[0].percentageOfNodesToScore: has no effect, all nodes are "
                  "considered",
                  "c.yaml:4:72: profiles[0].plugins.score.disabled[0]: unknown plugin \"Nothing\" "
                  "is disabled, which changes nothing"));
  EXPECT_THAT(Warnings(Read("percentageOfNodesToScore: 100\n"), AllBut({})), IsEmpty());
}

TEST(Warnings, NameArgumentsOfPluginsThatAreNotEnabled) {
  const SchedulerConfiguration config = Read(
      "profiles:\n"
      "- schedulerName: a\n"
      "  plugins: {multiPoint: {enabled: [{name: Coscheduling}], disabled: [{name: "
      "ImageLocality}]}}"
      "\n"
      "  pluginConfig: [{name: Coscheduling, args: {}}, {name: NodeResourcesFit, args: {}}]\n"
      "- schedulerName: b\n"
      "  pluginConfig:\n"
      "  - {name: Coscheduling, args: {}}\n");
  EXPECT_THAT(Warnings(config, AllBut({})),
              ElementsAre("c.yaml:9:5: profile \"b\": these arguments have no effect, because "
                          "Coscheduling is not enabled in it"));
}

}  // namespace
}  // namespace knx::framework
