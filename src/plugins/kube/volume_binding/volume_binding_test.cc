#include "plugins/kube/volume_binding/volume_binding.h"

#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::ClaimBuilder;
using cluster::testing::MakeCapacity;
using cluster::testing::MakeClass;
using cluster::testing::MakeCsiNode;
using cluster::testing::MakeDriver;
using cluster::testing::MakeImmediateClass;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using framework::Code;
using framework::EventKind;
using k8s::VolumeSource;

using Objects = std::vector<k8s::Object>;

constexpr const char* kDriver = "disks.example.com";
constexpr const char* kNone = "kubernetes.io/no-provisioner";
const testing::Answer kNodeConflict =
    testing::Never({"node(s) didn't match PersistentVolume's node affinity"});
const testing::Answer kNoVolume =
    testing::Never({"node(s) didn't find available persistent volumes to bind"});
const testing::Answer kNoSpace = testing::Never({"node(s) did not have enough free storage"});
const testing::Answer kVolumeGone =
    testing::Never({"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"});

// A node in zone a, and one in zone b.
struct Cluster {
  explicit Cluster(const Objects& objects) {
    a = AddNode(state, NodeBuilder("a").Label("zone", "a"));
    b = AddNode(state, NodeBuilder("b").Label("zone", "b"));
    for (const k8s::Object& object : objects) state.UpsertObject(object);
  }
  framework::PreFilterResult Ask(const k8s::Pod& pod) {
    return plugin.PreFilter(testing::View(state, AddPod(state, pod)));
  }
  cluster::State state;
  cluster::NodeRow a, b;
  VolumeBinding plugin;
};

TEST(VolumeBinding, HasNothingToSayAboutPodsWithoutClaims) {
  Cluster cluster({});
  EXPECT_EQ(cluster.Ask(PodBuilder("p")).outcome.code, Code::kSkip);
  EXPECT_EQ(cluster.Ask(PodBuilder("q").Disk(VolumeSource::kAwsEbs, "vol-1")).outcome.code,
            Code::kSkip);
}

TEST(VolumeBinding, RejectsPodsWhoseClaimsCannotBeServedAnywhere) {
  struct Case {
    std::string_view name;
    Objects objects;
    PodBuilder pod;
    std::string_view why;
  };
  const Case cases[] = {
      {"no such claim", {}, PodBuilder("p").Claim("x"), "persistentvolumeclaim \"x\" not found"},
      {"in another namespace",
       {ClaimBuilder("x").Namespace("shop")},
       PodBuilder("p").Claim("x"),
       "persistentvolumeclaim \"x\" not found"},
      {"not made yet",
       {},
       PodBuilder("p").Ephemeral("v"),
       "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\""},
      {"made for somebody else",
       {ClaimBuilder("p-v").OwnedBy("uid-other")},
       PodBuilder("p").Ephemeral("v"),
       "PVC default/p-v was not created for pod default/p (pod is not owner)"},
      {"lost",
       {ClaimBuilder("x").BoundTo("pv").Lost()},
       PodBuilder("p").Claim("x"),
       "persistentvolumeclaim \"x\" bound to non-existent persistentvolume \"pv\""},
      {"about to go",
       {ClaimBuilder("x").Deleted()},
       PodBuilder("p").Claim("x"),
       "persistentvolumeclaim \"x\" is being deleted"},
      {"without a class",
       {ClaimBuilder("x")},
       PodBuilder("p").Claim("x"),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"of a class that is not there",
       {ClaimBuilder("x").Class("fast")},
       PodBuilder("p").Claim("x"),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"of a class that binds at once",
       {MakeImmediateClass("fast", kDriver), ClaimBuilder("x").Class("fast")},
       PodBuilder("p").Claim("x"),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"names its volume, which nobody confirmed",
       {MakeClass("fast", kDriver), ClaimBuilder("x").Class("fast").Names("pv")},
       PodBuilder("p").Claim("x"),
       "pod has unbound immediate PersistentVolumeClaims"},
      {"one of two",
       {MakeClass("fast", kDriver), ClaimBuilder("x").Class("fast"), ClaimBuilder("y")},
       PodBuilder("p").Claim("x").Claim("y"),
       "pod has unbound immediate PersistentVolumeClaims"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Cluster cluster(c.objects);
    const auto prepared = cluster.Ask(c.pod);
    EXPECT_EQ(prepared.outcome.code, Code::kUnresolvable);
    EXPECT_EQ(prepared.outcome.reason, c.why);
    EXPECT_EQ(prepared.scope, framework::Scope::kCluster) << "must be asked anew every time";
  }
}

struct NodeCase {
  std::string_view name;
  Objects objects;
  PodBuilder pod;
  testing::Answer a, b;
};

void Check(const std::vector<NodeCase>& cases) {
  for (const NodeCase& c : cases) {
    SCOPED_TRACE(c.name);
    Cluster cluster(c.objects);
    const auto prepared = cluster.Ask(c.pod);
    ASSERT_EQ(prepared.outcome.code, Code::kSuccess) << prepared.outcome.reason;
    EXPECT_EQ(prepared.scope, framework::Scope::kFacts);
    EXPECT_EQ(testing::Judge(prepared, cluster.a), c.a);
    EXPECT_EQ(testing::Judge(prepared, cluster.b), c.b);
    EXPECT_TRUE(prepared.filter->Current());
  }
}

TEST(VolumeBinding, BoundClaimsKeepAPodWhereTheirVolumesAre) {
  const PodBuilder pod = PodBuilder("p").Claim("x");
  const auto both = testing::Never({"node(s) didn't match PersistentVolume's node affinity",
                                    "node(s) didn't find available persistent volumes to bind"});
  Check({
      {"usable everywhere",
       {VolumeBuilder("pv"), ClaimBuilder("x").BoundTo("pv")},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"usable in one zone",
       {VolumeBuilder("pv").OnlyWhere("zone", {"a"}), ClaimBuilder("x").BoundTo("pv")},
       pod,
       testing::Fits(),
       kNodeConflict},
      {"in either",
       {VolumeBuilder("pv").OnlyWhere("zone", {"a"}).OnlyWhere("zone", {"b"}),
        ClaimBuilder("x").BoundTo("pv")},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"the volume is gone", {ClaimBuilder("x").BoundTo("pv")}, pod, kVolumeGone, kVolumeGone},
      {"two volumes in two zones",
       {VolumeBuilder("pv").OnlyWhere("zone", {"a"}), ClaimBuilder("x").BoundTo("pv"),
        VolumeBuilder("pw").OnlyWhere("zone", {"b"}), ClaimBuilder("y").BoundTo("pw")},
       PodBuilder("p").Claim("x").Claim("y"),
       kNodeConflict,
       kNodeConflict},
      {"the first that is wrong is what counts",
       {VolumeBuilder("pv").OnlyWhere("zone", {"a"}), ClaimBuilder("x").BoundTo("pv"),
        ClaimBuilder("y").BoundTo("gone")},
       PodBuilder("p").Claim("x").Claim("y"),
       kVolumeGone,
       kNodeConflict},
      {"bound ones and others are judged apart",
       {MakeClass("local", kNone), VolumeBuilder("pv").OnlyWhere("zone", {"a"}),
        ClaimBuilder("x").BoundTo("pv"), ClaimBuilder("y").Class("local")},
       PodBuilder("p").Claim("x").Claim("y"),
       kNoVolume,
       both},
      {"one made for the pod",
       {VolumeBuilder("pv").OnlyWhere("zone", {"b"}),
        ClaimBuilder("p-v").BoundTo("pv").OwnedBy("uid-p")},
       PodBuilder("p").Ephemeral("v"),
       kNodeConflict,
       testing::Fits()},
  });
}

TEST(VolumeBinding, DisksOfOldAreWhereTheirDriverSays) {
  const PodBuilder pod = PodBuilder("p").Claim("x");
  const Objects disk = {VolumeBuilder("pv")
                            .Disk(VolumeSource::kAwsEbs, "vol-1")
                            .Label("topology.kubernetes.io/zone", "z1"),
                        ClaimBuilder("x").BoundTo("pv")};
  Objects migrated = disk;
  migrated.push_back(MakeCsiNode("b", {}, "kubernetes.io/aws-ebs"));
  migrated.push_back(MakeCsiNode("a", {}, "kubernetes.io/cinder"));
  Check({
      {"nobody took over", disk, pod, testing::Fits(), testing::Fits()},
      {"the driver of one node did, and that is not in the zone", migrated, pod, testing::Fits(),
       kNodeConflict},
  });
}

TEST(VolumeBinding, ClaimsThatWaitGetAVolumeThatIsFreeOnTheNode) {
  const k8s::StorageClass local = MakeClass("local", kNone);
  const ClaimBuilder claim = ClaimBuilder("x").Class("local").Asks("5Gi");
  const PodBuilder pod = PodBuilder("p").Claim("x");
  const auto volume = [] { return VolumeBuilder("pv").Class("local").Size("5Gi"); };
  Check({
      {"none there", {local, claim}, pod, kNoVolume, kNoVolume},
      {"one anywhere", {local, claim, volume()}, pod, testing::Fits(), testing::Fits()},
      {"one in zone a",
       {local, claim, volume().OnlyWhere("zone", {"a"})},
       pod,
       testing::Fits(),
       kNoVolume},
      {"of another class", {local, claim, volume().Class("fast")}, pod, kNoVolume, kNoVolume},
      {"too small", {local, claim, volume().Size("4Gi")}, pod, kNoVolume, kNoVolume},
      {"of another mode", {local, claim, volume().Block()}, pod, kNoVolume, kNoVolume},
      {"of another access mode",
       {local, claim, volume().Mode(k8s::AccessMode::kReadOnlyMany)},
       pod,
       kNoVolume,
       kNoVolume},
      {"with other attributes",
       {local, claim, volume().AttributesClass("gold")},
       pod,
       kNoVolume,
       kNoVolume},
      {"not available",
       {local, claim, volume().Phase(k8s::VolumePhase::kReleased)},
       pod,
       kNoVolume,
       kNoVolume},
      {"on its way out", {local, claim, volume().Deleted()}, pod, kNoVolume, kNoVolume},
      {"of somebody else", {local, claim, volume().For("y")}, pod, kNoVolume, kNoVolume},
      {"of a claim of that name that was",
       {local, claim, volume().For("x", "uid-old")},
       pod,
       kNoVolume,
       kNoVolume},
      {"set aside for it, in zone b",
       {local, claim, volume().For("x").OnlyWhere("zone", {"b"}),
        VolumeBuilder("pw").Class("local").Size("5Gi")},
       pod,
       kNoVolume,
       testing::Fits()},
      {"set aside for it, phase is no matter",
       {local, claim, volume().For("x", "uid-x").Phase(k8s::VolumePhase::kBound)},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"not selected",
       {local, ClaimBuilder("x").Class("local").Select("disk", "ssd"), volume()},
       pod,
       kNoVolume,
       kNoVolume},
      {"selected",
       {local, ClaimBuilder("x").Class("local").Select("disk", "ssd"),
        volume().Label("disk", "ssd")},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"two claims need two volumes",
       {local, claim, ClaimBuilder("y").Class("local"), volume()},
       PodBuilder("p").Claim("x").Claim("y"),
       kNoVolume,
       kNoVolume},
      {"two claims, and the small one takes the small volume",
       {local, ClaimBuilder("x").Class("local").Asks("9Gi"),
        ClaimBuilder("y").Class("local").Asks("1Gi"), volume(),
        VolumeBuilder("big").Class("local").Size("10Gi")},
       PodBuilder("p").Claim("x").Claim("y"),
       testing::Fits(),
       testing::Fits()},
      {"by the old annotation",
       {local, ClaimBuilder("x").Annotate("volume.beta.kubernetes.io/storage-class", "local"),
        volume()},
       pod,
       testing::Fits(),
       testing::Fits()},
  });
}

TEST(VolumeBinding, OrAVolumeIsMadeForThem) {
  const ClaimBuilder claim = ClaimBuilder("x").Class("fast").Asks("5Gi");
  const PodBuilder pod = PodBuilder("p").Claim("x");
  const k8s::StorageClass fast = MakeClass("fast", kDriver);
  const k8s::StorageClass in_a = MakeClass("fast", kDriver, {{{"zone", {"a"}}}});
  k8s::CsiStorageCapacity at_most = MakeCapacity("c", "fast", "100Gi", "zone", "a");
  at_most.maximum_volume_size = cluster::testing::AmountOf("1Gi");
  k8s::CsiStorageCapacity nowhere = MakeCapacity("c", "fast", "100Gi", "zone", "a");
  nowhere.node_topology.reset();
  Check({
      {"anywhere", {fast, claim}, pod, testing::Fits(), testing::Fits()},
      {"where the class allows", {in_a, claim}, pod, testing::Fits(), kNoVolume},
      {"a node was chosen",
       {fast, ClaimBuilder("x").Class("fast").SelectedNode("b")},
       pod,
       kNoVolume,
       testing::Fits()},
      {"a node was chosen that is not allowed",
       {in_a, ClaimBuilder("x").Class("fast").SelectedNode("b")},
       pod,
       kNoVolume,
       kNoVolume},
      {"the driver says nothing of room",
       {fast, claim, MakeDriver(kDriver, false)},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"there is no room", {fast, claim, MakeDriver(kDriver, true)}, pod, kNoSpace, kNoSpace},
      {"there is room in zone a",
       {fast, claim, MakeDriver(kDriver, true), MakeCapacity("c", "fast", "5Gi", "zone", "a")},
       pod,
       testing::Fits(),
       kNoSpace},
      {"not enough of it",
       {fast, claim, MakeDriver(kDriver, true), MakeCapacity("c", "fast", "4Gi", "zone", "a")},
       pod,
       kNoSpace,
       kNoSpace},
      {"of another class",
       {fast, claim, MakeDriver(kDriver, true), MakeCapacity("c", "slow", "9Gi", "zone", "a")},
       pod,
       kNoSpace,
       kNoSpace},
      {"not in one piece",
       {fast, claim, MakeDriver(kDriver, true), at_most},
       pod,
       kNoSpace,
       kNoSpace},
      {"no node has access",
       {fast, claim, MakeDriver(kDriver, true), nowhere},
       pod,
       kNoSpace,
       kNoSpace},
      {"a claim without a size needs no room",
       {fast, ClaimBuilder("x").Class("fast"), MakeDriver(kDriver, true)},
       pod,
       testing::Fits(),
       testing::Fits()},
      {"a free volume needs none either",
       {fast, claim, MakeDriver(kDriver, true),
        VolumeBuilder("pv").Class("fast").Size("5Gi").OnlyWhere("zone", {"b"})},
       pod,
       kNoSpace,
       testing::Fits()},
  });
}

TEST(VolumeBinding, PreparesAnewWhenAnythingAboutVolumesChanges) {
  const Objects changes[] = {
      {ClaimBuilder("other")},
      {VolumeBuilder("other")},
      {MakeClass("other", kDriver)},
      {MakeDriver("other", true)},
      {MakeCapacity("other", "fast", "1Gi", "zone", "a")},
  };
  for (const Objects& change : changes) {
    Cluster cluster({MakeClass("fast", kDriver), ClaimBuilder("x").Class("fast")});
    const auto prepared = cluster.Ask(PodBuilder("p").Claim("x"));
    EXPECT_TRUE(prepared.filter->Current());
    for (const k8s::Object& object : change) cluster.state.UpsertObject(object);
    EXPECT_FALSE(prepared.filter->Current());
  }
}

TEST(VolumeBinding, ScoresNothing) {
  Cluster cluster({});
  const cluster::PodId pod = AddPod(cluster.state, PodBuilder("p").Claim("x"));
  EXPECT_EQ(cluster.plugin.PreScore(testing::View(cluster.state, pod)).outcome.code, Code::kSkip);
}

TEST(VolumeBinding, ReadsItsArguments) {
  EXPECT_TRUE(testing::MakeFromYaml(&VolumeBinding::Make, "bindTimeoutSeconds: 0").ok());
  const auto negative = testing::MakeFromYaml(&VolumeBinding::Make, "bindTimeoutSeconds: -1");
  ASSERT_FALSE(negative.ok());
  EXPECT_NE(negative.error().ToString().find("config.yaml:1:21: args.bindTimeoutSeconds"),
            std::string::npos)
      << negative.error().ToString();
  const auto shape = testing::MakeFromYaml(&VolumeBinding::Make, "shape: []");
  ASSERT_FALSE(shape.ok());
  EXPECT_NE(shape.error().message.find("StorageCapacityScoring"), std::string::npos);
}

TEST(VolumeBinding, IsHelpedByWhatMayServeItsClaims) {
  Cluster cluster({});
  const cluster::PodId id = AddPod(
      cluster.state, PodBuilder("p").Claim("x").Ephemeral("v").Disk(VolumeSource::kCsi, kDriver));
  const auto helps = [&](EventKind kind, const k8s::Object& now,
                         std::optional<k8s::Object> before = std::nullopt) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.object = &now;
    event.object_before = before ? &*before : nullptr;
    EXPECT_TRUE(cluster.plugin.events().Contains(kind));
    return cluster.plugin.MayHelp(event, testing::View(cluster.state, id));
  };
  EXPECT_TRUE(helps(EventKind::kClaimAdd, ClaimBuilder("x")));
  EXPECT_TRUE(helps(EventKind::kClaimUpdate, ClaimBuilder("p-v"), ClaimBuilder("p-v")));
  EXPECT_FALSE(helps(EventKind::kClaimAdd, ClaimBuilder("y")));
  EXPECT_FALSE(helps(EventKind::kClaimAdd, ClaimBuilder("x").Namespace("shop")));
  EXPECT_TRUE(helps(EventKind::kVolumeAdd, VolumeBuilder("pv")));
  EXPECT_TRUE(helps(EventKind::kVolumeUpdate, VolumeBuilder("pv"), VolumeBuilder("pv")));
  const k8s::StorageClass fast = MakeClass("fast", kDriver);
  EXPECT_TRUE(helps(EventKind::kStorageClassAdd, fast));
  EXPECT_FALSE(helps(EventKind::kStorageClassUpdate, fast, fast));
  EXPECT_TRUE(
      helps(EventKind::kStorageClassUpdate, MakeClass("fast", kDriver, {{{"z", {"a"}}}}), fast));
  EXPECT_TRUE(helps(EventKind::kCsiNodeAdd, MakeCsiNode("a", {})));
  EXPECT_FALSE(
      helps(EventKind::kCsiNodeUpdate, MakeCsiNode("a", {{kDriver, 1}}), MakeCsiNode("a", {})));
  EXPECT_TRUE(helps(EventKind::kCsiNodeUpdate, MakeCsiNode("a", {}, "x"), MakeCsiNode("a", {})));
  EXPECT_TRUE(
      helps(EventKind::kCsiDriverUpdate, MakeDriver(kDriver, false), MakeDriver(kDriver, true)));
  EXPECT_FALSE(
      helps(EventKind::kCsiDriverUpdate, MakeDriver(kDriver, true), MakeDriver(kDriver, false)));
  EXPECT_FALSE(
      helps(EventKind::kCsiDriverUpdate, MakeDriver("other", false), MakeDriver("other", true)));
  const auto room = [](std::string_view size) { return MakeCapacity("c", "fast", size, "z", "a"); };
  EXPECT_TRUE(helps(EventKind::kCapacityAdd, room("1Gi")));
  EXPECT_TRUE(helps(EventKind::kCapacityUpdate, room("2Gi"), room("1Gi")));
  EXPECT_FALSE(helps(EventKind::kCapacityUpdate, room("1Gi"), room("2Gi")));
  framework::ClusterEvent node;
  for (const EventKind kind : {EventKind::kNodeAdd, EventKind::kNodeLabel, EventKind::kNodeTaint}) {
    node.kind = kind;
    EXPECT_TRUE(cluster.plugin.events().Contains(kind));
    EXPECT_TRUE(cluster.plugin.MayHelp(node, testing::View(cluster.state, id)));
  }
}

}  // namespace
}  // namespace knx::plugins
