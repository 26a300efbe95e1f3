#include "k8s/csi_migration.h"

#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

PersistentVolume Disk(VolumeSource source, std::string id, StringMap labels = {}) {
  PersistentVolume volume;
  volume.source = source;
  volume.id = std::move(id);
  volume.meta.labels = std::move(labels);
  return volume;
}

NodeSelector OneTerm(std::string key, std::vector<std::string> values) {
  NodeSelector selector;
  selector.terms.push_back({{{std::move(key), SelectorOperator::kIn, std::move(values)}}, {}});
  return selector;
}

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kZoneBeta = "failure-domain.beta.kubernetes.io/zone";

TEST(AttachedAs, GivesDriverAndHandle) {
  struct Case {
    std::string_view name;
    PersistentVolume volume;
    std::optional<CsiVolume> want;
  };
  PersistentVolume csi = Disk(VolumeSource::kCsi, "h");
  csi.driver = "d.example.com";
  PersistentVolume unmanaged = Disk(VolumeSource::kAzureDisk, "/x");
  unmanaged.disk_kind = "Dedicated";
  PersistentVolume managed = Disk(VolumeSource::kAzureDisk, "/x");
  managed.disk_kind = "Managed";
  const Case cases[] = {
      {"csi", csi, CsiVolume{"d.example.com", "h"}},
      {"ebs", Disk(VolumeSource::kAwsEbs, "vol-1"), CsiVolume{"ebs.csi.aws.com", "vol-1"}},
      {"ebs with a zone", Disk(VolumeSource::kAwsEbs, "aws://us-east-1a/vol-1"),
       CsiVolume{"ebs.csi.aws.com", "vol-1"}},
      {"ebs without a zone", Disk(VolumeSource::kAwsEbs, "aws:///vol-1"),
       CsiVolume{"ebs.csi.aws.com", "vol-1"}},
      {"ebs that makes no sense", Disk(VolumeSource::kAwsEbs, "aws://zone/disk"), std::nullopt},
      {"ebs without an id", Disk(VolumeSource::kAwsEbs, "aws://zone"), std::nullopt},
      {"gce anywhere", Disk(VolumeSource::kGcePd, "d"),
       CsiVolume{"pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"}},
      {"gce in a zone", Disk(VolumeSource::kGcePd, "d", {{kZone, "us-central1-a"}}),
       CsiVolume{"pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/us-central1-a/disks/d"}},
      {"gce in a region",
       Disk(VolumeSource::kGcePd, "d", {{kZone, "us-central1-a__us-central1-b"}}),
       CsiVolume{"pd.csi.storage.gke.io", "projects/UNSPECIFIED/regions/us-central1/disks/d"}},
      {"gce in two regions", Disk(VolumeSource::kGcePd, "d", {{kZone, "us-east1-a__us-west1-b"}}),
       std::nullopt},
      {"azure", managed, CsiVolume{"disk.csi.azure.com", "/x"}},
      {"azure, not managed", unmanaged, std::nullopt},
      {"cinder", Disk(VolumeSource::kCinder, "c"), CsiVolume{"cinder.csi.openstack.org", "c"}},
      {"portworx", Disk(VolumeSource::kPortworx, "p"), CsiVolume{"pxd.portworx.com", "p"}},
      {"azure files are not attached", Disk(VolumeSource::kAzureFile, "s"), std::nullopt},
      {"neither is what nobody took over", Disk(VolumeSource::kVsphere, "v"), std::nullopt},
      {"nor what no driver knows", Disk(VolumeSource::kRbd, "i"), std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(AttachedAs(c.volume), c.want);
  }
}

TEST(AttachedAs, VolumesOfAPodToo) {
  Volume disk;
  disk.source = VolumeSource::kGcePd;
  disk.id = "d";
  EXPECT_EQ(AttachedAs(disk)->handle, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
  disk.source = VolumeSource::kCsi;
  EXPECT_EQ(AttachedAs(disk), std::nullopt) << "a driver's own volume is not attached";
}

TEST(MigratedAffinity, SpeaksOfZonesInTheDriversWords) {
  constexpr const char* kEbsZone = "topology.ebs.csi.aws.com/zone";
  struct Case {
    std::string_view name;
    std::optional<NodeSelector> affinity;
    StringMap labels;
    std::optional<NodeSelector> want;
  };
  const Case cases[] = {
      {"nothing said", std::nullopt, {}, std::nullopt},
      {"zone in the affinity", OneTerm(kZone, {"a"}), {}, OneTerm(kEbsZone, {"a"})},
      {"old word in the affinity", OneTerm(kZoneBeta, {"a"}), {}, OneTerm(kEbsZone, {"a"})},
      {"zones in a label", std::nullopt, {{kZone, "b__a"}}, OneTerm(kEbsZone, {"a", "b"})},
      {"old word in a label", std::nullopt, {{kZoneBeta, "a"}}, OneTerm(kEbsZone, {"a"})},
      {"the affinity wins", OneTerm(kZone, {"a"}), {{kZone, "b"}}, OneTerm(kEbsZone, {"a"})},
      {"something else stays", OneTerm("rack", {"r"}), {}, OneTerm("rack", {"r"})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PersistentVolume volume = Disk(VolumeSource::kAwsEbs, "vol-1", c.labels);
    volume.node_affinity = c.affinity;
    const auto got = MigratedAffinity(volume);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(*got, c.want);
  }
}

TEST(MigratedAffinity, LeavesDisksWithoutZonesAsTheyAreAndRefusesWhatItCannotTakeOver) {
  PersistentVolume azure = Disk(VolumeSource::kAzureDisk, "/x", {{kZone, "a"}});
  azure.node_affinity = OneTerm(kZone, {"a"});
  EXPECT_EQ(*MigratedAffinity(azure), azure.node_affinity);
  azure.disk_kind = "Shared";
  const auto refused = MigratedAffinity(azure);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "kind(Shared) is not supported in csi migration");
}

TEST(Migration, KnowsPluginsByName) {
  EXPECT_EQ(MigratedDriver("kubernetes.io/aws-ebs"), "ebs.csi.aws.com");
  EXPECT_EQ(MigratedDriver("kubernetes.io/vsphere-volume"), "");
  EXPECT_TRUE(IsMigratablePlugin("kubernetes.io/vsphere-volume"));
  EXPECT_FALSE(IsMigratablePlugin("disks.example.com"));
  EXPECT_EQ(InTreePlugin(VolumeSource::kCinder), "kubernetes.io/cinder");
  EXPECT_TRUE(ListsPlugin("kubernetes.io/gce-pd,kubernetes.io/cinder", "kubernetes.io/cinder"));
  EXPECT_FALSE(ListsPlugin("kubernetes.io/gce-pd", "kubernetes.io/gce"));
  EXPECT_FALSE(ListsPlugin("", "kubernetes.io/gce-pd"));
}

}  // namespace
}  // namespace knx::k8s
