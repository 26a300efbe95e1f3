#include "plugins/kube/node_volume_limits/node_volume_limits.h"

#include <gtest/gtest.h>

#include "cluster/testing/volume_builders.h"
#include "plugins/testing/asked.h"

namespace knx::plugins {
namespace {

using cluster::testing::AddNode;
using cluster::testing::AddPod;
using cluster::testing::ClaimBuilder;
using cluster::testing::MakeAttachment;
using cluster::testing::MakeClass;
using cluster::testing::MakeCsiNode;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;
using framework::Code;
using framework::EventKind;
using k8s::VolumeSource;

constexpr const char* kLimitedDriver = "disks.example.com";
constexpr const char* kEbs = "ebs.csi.aws.com";
const testing::Answer kOverLimit = testing::NotNow({"node(s) exceed max volume count"});

// A node to which `limit` volumes of the driver can be attached, and claims a, b and c of it.
struct AttachingNode {
  explicit AttachingNode(std::optional<std::int32_t> limit) {
    row = AddNode(state, NodeBuilder("n"));
    state.UpsertObject(MakeCsiNode("n", {{kLimitedDriver, limit}, {kEbs, limit}}));
    state.UpsertObject(MakeClass("fast", kLimitedDriver));
    for (const std::string name : {"a", "b", "c"}) {
      state.UpsertObject(VolumeBuilder("pv-" + name).Csi(kLimitedDriver, "h-" + name).For(name));
      state.UpsertObject(ClaimBuilder(name).BoundTo("pv-" + name));
    }
  }
  testing::Answer Ask(const k8s::Pod& pod) {
    const auto prepared = plugin.PreFilter(testing::View(state, AddPod(state, pod)));
    EXPECT_EQ(prepared.scope, framework::Scope::kUsage);
    return testing::Judge(prepared, row);
  }
  cluster::State state;
  cluster::NodeRow row;
  NodeVolumeLimits plugin;
};

TEST(NodeVolumeLimits, CountsWhatPodsBring) {
  struct Case {
    std::string_view name;
    std::optional<std::int32_t> limit;
    std::vector<PodBuilder> present;
    PodBuilder wanted;
    bool fits;
  };
  const Case cases[] = {
      {"within", 2, {PodBuilder("q").Claim("a")}, PodBuilder("p").Claim("b"), true},
      {"one too many", 1, {PodBuilder("q").Claim("a")}, PodBuilder("p").Claim("b"), false},
      {"two at once", 1, {}, PodBuilder("p").Claim("a").Claim("b"), false},
      {"shared with a pod there",
       1,
       {PodBuilder("q").Claim("a")},
       PodBuilder("p").Claim("a"),
       true},
      {"named twice", 1, {}, PodBuilder("p").Claim("a").Claim("a"), true},
      {"no limit said",
       std::nullopt,
       {PodBuilder("q").Claim("a")},
       PodBuilder("p").Claim("b"),
       true},
      {"a limit of none", 0, {}, PodBuilder("p").Claim("a"), false},
      {"an overfull node takes what it has",
       1,
       {PodBuilder("q").Claim("a"), PodBuilder("r").Claim("b")},
       PodBuilder("p").Claim("b"),
       true},
      {"another driver's volumes do not count",
       1,
       {PodBuilder("q").Claim("a")},
       PodBuilder("p").Disk(VolumeSource::kAwsEbs, "vol-1"),
       true},
      {"a disk that its driver took over",
       1,
       {PodBuilder("q").Disk(VolumeSource::kAwsEbs, "vol-1")},
       PodBuilder("p").Disk(VolumeSource::kAwsEbs, "vol-2"),
       false},
      {"the same disk",
       1,
       {PodBuilder("q").Disk(VolumeSource::kAwsEbs, "aws:///vol-1")},
       PodBuilder("p").Disk(VolumeSource::kAwsEbs, "vol-1"),
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    AttachingNode cluster(c.limit);
    for (PodBuilder present : c.present) AddPod(cluster.state, present.On("n"));
    EXPECT_EQ(cluster.Ask(c.wanted), c.fits ? testing::Fits() : kOverLimit);
  }
}

TEST(NodeVolumeLimits, CountsVolumesThatAreStillToBeMade) {
  AttachingNode cluster(1);
  cluster.state.UpsertObject(ClaimBuilder("new").Class("fast"));
  cluster.state.UpsertObject(ClaimBuilder("other").Class("fast"));
  cluster.state.UpsertObject(MakeClass("old", "kubernetes.io/aws-ebs"));
  cluster.state.UpsertObject(ClaimBuilder("ebs").Class("old"));
  cluster.state.UpsertObject(MakeClass("files", "kubernetes.io/azure-file"));
  cluster.state.UpsertObject(ClaimBuilder("file").Class("files"));
  EXPECT_EQ(cluster.Ask(PodBuilder("p").Claim("new")), testing::Fits());
  EXPECT_EQ(cluster.Ask(PodBuilder("q").Claim("new").Claim("other")), kOverLimit);
  EXPECT_EQ(cluster.Ask(PodBuilder("r").Claim("new").Claim("ebs")), testing::Fits());
  EXPECT_EQ(cluster.Ask(PodBuilder("s").Claim("ebs").Disk(VolumeSource::kAwsEbs, "vol-1")),
            kOverLimit);
  EXPECT_EQ(cluster.Ask(PodBuilder("t").Claim("new").Claim("file")), testing::Fits());
}

TEST(NodeVolumeLimits, CountsWhatIsAttached) {
  AttachingNode cluster(2);
  cluster.state.UpsertObject(MakeAttachment("at-a", kLimitedDriver, "n", "pv-a"));
  EXPECT_EQ(cluster.Ask(PodBuilder("p").Claim("b")), testing::Fits());
  AddPod(cluster.state, PodBuilder("there").Claim("a").On("n"));
  EXPECT_EQ(cluster.Ask(PodBuilder("q").Claim("b")), testing::Fits()) << "the same volume";
  cluster.state.UpsertObject(MakeAttachment("at-c", kLimitedDriver, "n", "pv-c"));
  EXPECT_EQ(cluster.Ask(PodBuilder("r").Claim("b")), kOverLimit);
  EXPECT_EQ(cluster.Ask(PodBuilder("s").Claim("c")), kOverLimit)
      << "a volume that no pod uses counts twice, as in kube-scheduler";
}

TEST(NodeVolumeLimits, WithoutACsiNodeThereIsNoLimit) {
  AttachingNode cluster(0);
  EXPECT_EQ(cluster.Ask(PodBuilder("p").Claim("a")), kOverLimit);
  cluster.state.RemoveObject(MakeCsiNode("n", {}));
  EXPECT_EQ(cluster.Ask(PodBuilder("q").Claim("a")), testing::Fits());
}

TEST(NodeVolumeLimits, SkipsPodsThatBringNothingToAttach) {
  AttachingNode cluster(0);
  const auto ask = [&](const k8s::Pod& pod) {
    return cluster.plugin.PreFilter(testing::View(cluster.state, AddPod(cluster.state, pod)))
        .outcome.code;
  };
  EXPECT_EQ(ask(PodBuilder("p")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("q").Disk(VolumeSource::kRbd, "i")), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("r").Disk(VolumeSource::kCsi, kLimitedDriver)), Code::kSkip);
  EXPECT_EQ(ask(PodBuilder("s").Ephemeral("v")), Code::kSuccess);
  EXPECT_EQ(ask(PodBuilder("t").Disk(VolumeSource::kAzureFile, "f")), Code::kSuccess);
}

TEST(NodeVolumeLimits, SaysWhichClaimIsMissing) {
  AttachingNode cluster(1);
  EXPECT_EQ(cluster.Ask(PodBuilder("p").Claim("x")),
            testing::Never({"looking up PVC default/x: persistentvolumeclaim \"x\" not found"}));
}

TEST(NodeVolumeLimits, FollowsWhatChanges) {
  AttachingNode cluster(1);
  const cluster::PodId pod = AddPod(cluster.state, PodBuilder("p").Claim("a"));
  const auto prepared = cluster.plugin.PreFilter(testing::View(cluster.state, pod));
  const cluster::PodId other = AddPod(cluster.state, PodBuilder("q").Claim("b").On("n"));
  EXPECT_EQ(testing::Judge(prepared, cluster.row), kOverLimit);
  cluster.state.UpsertObject(MakeCsiNode("n", {{kLimitedDriver, 2}}));
  EXPECT_EQ(testing::Judge(prepared, cluster.row), testing::Fits());
  cluster.state.UpsertObject(MakeCsiNode("n", {{kLimitedDriver, 1}}));
  cluster.state.RemovePod(other);
  EXPECT_EQ(testing::Judge(prepared, cluster.row), testing::Fits());
  EXPECT_TRUE(prepared.filter->Current());
  cluster.state.UpsertObject(VolumeBuilder("pv-a").Csi(kLimitedDriver, "h-new").For("a"));
  EXPECT_FALSE(prepared.filter->Current());
}

TEST(NodeVolumeLimits, IsHelpedByHigherLimitsAndVolumesThatGo) {
  AttachingNode cluster(1);
  const cluster::PodId id =
      AddPod(cluster.state, PodBuilder("p").Claim("a").Disk(VolumeSource::kAwsEbs, "vol-1"));
  const cluster::PodId disk_only =
      AddPod(cluster.state, PodBuilder("d").Disk(VolumeSource::kAwsEbs, "vol-1"));
  const auto helps = [&](EventKind kind, const k8s::Object& now,
                         std::optional<k8s::Object> before = std::nullopt,
                         cluster::PodId waiting = {}) {
    framework::ClusterEvent event;
    event.kind = kind;
    event.object = &now;
    event.object_before = before ? &*before : nullptr;
    EXPECT_TRUE(cluster.plugin.events().Contains(kind));
    return cluster.plugin.MayHelp(event,
                                  testing::View(cluster.state, waiting.valid() ? waiting : id));
  };
  const auto limit = [](std::optional<std::int32_t> n) {
    return MakeCsiNode("n", {{kLimitedDriver, n}});
  };
  EXPECT_TRUE(helps(EventKind::kCsiNodeAdd, limit(1)));
  EXPECT_TRUE(helps(EventKind::kCsiNodeUpdate, limit(2), limit(1)));
  EXPECT_FALSE(helps(EventKind::kCsiNodeUpdate, limit(1), limit(2)));
  EXPECT_TRUE(helps(EventKind::kCsiNodeUpdate, limit(1), limit(std::nullopt)));
  EXPECT_FALSE(helps(EventKind::kCsiNodeUpdate, limit(std::nullopt), limit(1)));
  EXPECT_TRUE(helps(EventKind::kCsiNodeUpdate, limit(1), MakeCsiNode("n", {})));
  EXPECT_TRUE(helps(EventKind::kClaimAdd, ClaimBuilder("a")));
  EXPECT_FALSE(helps(EventKind::kClaimAdd, ClaimBuilder("b")));
  EXPECT_TRUE(helps(EventKind::kAttachmentDelete, MakeAttachment("x", "any", "n", "pv")));
  EXPECT_TRUE(
      helps(EventKind::kAttachmentDelete, MakeAttachment("x", kEbs, "n", "pv"), {}, disk_only));
  EXPECT_FALSE(
      helps(EventKind::kAttachmentDelete, MakeAttachment("x", "any", "n", "pv"), {}, disk_only));
  const auto pod_helps = [&](const k8s::Pod& gone, cluster::NodeRow node) {
    framework::ClusterEvent event;
    event.kind = EventKind::kAssignedPodDelete;
    event.pod_now.pod_class = &cluster.state.class_of(AddPod(cluster.state, gone));
    event.pod_now.node = node;
    return cluster.plugin.MayHelp(event, testing::View(cluster.state, id));
  };
  EXPECT_TRUE(pod_helps(PodBuilder("e").Claim("b"), cluster.row));
  EXPECT_FALSE(pod_helps(PodBuilder("f").Claim("b"), {}));
  EXPECT_FALSE(pod_helps(PodBuilder("g"), cluster.row));
  EXPECT_FALSE(pod_helps(PodBuilder("h").Disk(VolumeSource::kRbd, "i"), cluster.row));
}

}  // namespace
}  // namespace knx::plugins
