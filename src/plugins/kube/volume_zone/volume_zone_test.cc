#include "plugins/kube/volume_zone/volume_zone.h"

#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::ClaimBuilder;
using cluster::testing::MakeClass;
using cluster::testing::MakeImmediateClass;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using framework::Code;
using framework::EventKind;

using Objects = std::vector<k8s::Object>;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr const char* kZoneBeta = "failure-domain.beta.kubernetes.io/zone";
const testing::Answer kElsewhere = testing::Never({"node(s) had no available volume zone"});

TEST(VolumeZone, KeepsAPodInTheZoneOfItsVolumes) {
  struct Case {
    std::string_view name;
    VolumeBuilder volume;
    NodeBuilder node;
    bool fits;
  };
  const Case cases[] = {
      {"the volume says nothing", VolumeBuilder("pv"), NodeBuilder("n").Label(kZone, "a"), true},
      {"the node says nothing", VolumeBuilder("pv").Label(kZone, "a"), NodeBuilder("n"), true},
      {"the same zone", VolumeBuilder("pv").Label(kZone, "a"), NodeBuilder("n").Label(kZone, "a"),
       true},
      {"another zone", VolumeBuilder("pv").Label(kZone, "a"), NodeBuilder("n").Label(kZone, "b"),
       false},
      {"one of several", VolumeBuilder("pv").Label(kZone, "a__b"),
       NodeBuilder("n").Label(kZone, "b"), true},
      {"none of several", VolumeBuilder("pv").Label(kZone, "a__b"),
       NodeBuilder("n").Label(kZone, "c"), false},
      {"a list with a hole says nothing", VolumeBuilder("pv").Label(kZone, "a__"),
       NodeBuilder("n").Label(kZone, "b"), true},
      {"the node says its region only", VolumeBuilder("pv").Label(kZone, "a"),
       NodeBuilder("n").Label(kRegion, "r"), false},
      {"zone and region", VolumeBuilder("pv").Label(kZone, "a").Label(kRegion, "r"),
       NodeBuilder("n").Label(kZone, "a").Label(kRegion, "s"), false},
      {"the volume speaks as of old", VolumeBuilder("pv").Label(kZoneBeta, "a"),
       NodeBuilder("n").Label(kZone, "a"), true},
      {"the node speaks as of old", VolumeBuilder("pv").Label(kZone, "a"),
       NodeBuilder("n").Label(kZoneBeta, "a"), false},
  };
  const VolumeZone plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    const cluster::NodeRow row = AddNode(state, c.node);
    state.UpsertObject(c.volume);
    state.UpsertObject(ClaimBuilder("x").Names("pv"));
    const auto prepared =
        plugin.PreFilter(testing::View(state, AddPod(state, PodBuilder("p").Claim("x"))));
    ASSERT_EQ(prepared.outcome.code, Code::kSuccess) << prepared.outcome.reason;
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_EQ(testing::Judge(prepared, row), c.fits ? testing::Fits() : kElsewhere);
  }
}

TEST(VolumeZone, RejectsPodsOfWhoseVolumesNothingIsKnown) {
  struct Case {
    std::string_view name;
    Objects objects;
    std::string_view why;  // empty: nothing is wrong
  };
  const Case cases[] = {
      {"no claim", {}, "persistentvolumeclaim \"x\" not found"},
      {"no class",
       {ClaimBuilder("x")},
       "PersistentVolumeClaim had no pv name and storageClass name"},
      {"a class that is not there",
       {ClaimBuilder("x").Class("fast")},
       "storageclass.storage.k8s.io \"fast\" not found"},
      {"a class that binds at once",
       {ClaimBuilder("x").Class("fast"), MakeImmediateClass("fast", "d")},
       "PersistentVolume had no name"},
      {"a class that waits", {ClaimBuilder("x").Class("fast"), MakeClass("fast", "d")}, ""},
      {"no volume", {ClaimBuilder("x").BoundTo("pv")}, "persistentvolume \"pv\" not found"},
  };
  const VolumeZone plugin;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    cluster::State state;
    for (const k8s::Object& object : c.objects) state.UpsertObject(object);
    const auto prepared =
        plugin.PreFilter(testing::View(state, AddPod(state, PodBuilder("p").Claim("x"))));
    EXPECT_EQ(prepared.outcome.code, c.why.empty() ? Code::kSuccess : Code::kUnresolvable);
    EXPECT_EQ(prepared.outcome.reason, c.why);
    EXPECT_EQ(prepared.scope == framework::Scope::kCluster, !c.why.empty());
  }
}

TEST(VolumeZone, LooksOnlyAtClaimsThatThePodNames) {
  cluster::State state;
  const VolumeZone plugin;
  const auto ask = [&](const k8s::Pod& pod) {
    return plugin.PreFilter(testing::View(state, AddPod(state, pod))).outcome.code;
  };
  EXPECT_EQ(ask(PodBuilder("p")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("q").Ephemeral("v")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("r").Disk(k8s::VolumeSource::kGcePd, "d")), Code::kSkip);
}

TEST(VolumeZone, PreparesAnewWhenAVolumeMoves) {
  cluster::State state;
  const cluster::NodeRow row = AddNode(state, NodeBuilder("n").Label(kZone, "a"));
  state.UpsertObject(VolumeBuilder("pv"));
  state.UpsertObject(ClaimBuilder("x").BoundTo("pv"));
  const VolumeZone plugin;
  const cluster::PodId pod = AddPod(state, PodBuilder("p").Claim("x"));
  const auto before = plugin.PreFilter(testing::View(state, pod));
  EXPECT_EQ(testing::Judge(before, row), testing::Fits());
  EXPECT_TRUE(before.filter->Current());
  state.UpsertObject(VolumeBuilder("pv").Label(kZone, "b"));
  EXPECT_FALSE(before.filter->Current());
  EXPECT_EQ(testing::Judge(plugin.PreFilter(testing::View(state, pod)), row), kElsewhere);
}

TEST(VolumeZone, IsHelpedByClaimsVolumesAndClasses) {
  cluster::State state;
  const VolumeZone plugin;
  const cluster::PodId id = AddPod(state, PodBuilder("p").Claim("x").Ephemeral("v"));
  const auto helps = [&](EventKind kind, const k8s::Object& now,
                         std::optional<k8s::Object> before = std::nullopt) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.object = &now;
    event.object_before = before ? &*before : nullptr;
    EXPECT_TRUE(plugin.events().Contains(kind));
    return plugin.MayHelp(event, testing::View(state, id));
  };
  EXPECT_TRUE(helps(EventKind::kClaimAdd, ClaimBuilder("x")));
  EXPECT_FALSE(helps(EventKind::kClaimUpdate, ClaimBuilder("y"), ClaimBuilder("y")));
  EXPECT_FALSE(helps(EventKind::kClaimAdd, ClaimBuilder("p-v"))) << "not named by the pod";
  EXPECT_TRUE(helps(EventKind::kStorageClassAdd, MakeClass("fast", "d")));
  EXPECT_FALSE(helps(EventKind::kStorageClassAdd, MakeImmediateClass("fast", "d")));
  EXPECT_TRUE(helps(EventKind::kVolumeAdd, VolumeBuilder("pv")));
  EXPECT_FALSE(helps(EventKind::kVolumeUpdate, VolumeBuilder("pv"), VolumeBuilder("pv")));
  EXPECT_TRUE(
      helps(EventKind::kVolumeUpdate, VolumeBuilder("pv").Label(kZone, "a"), VolumeBuilder("pv")));
  EXPECT_FALSE(plugin.events().Contains(EventKind::kStorageClassUpdate));
}

}  // namespace
}  // namespace knx::plugins
