#include <gtest/gtest.h>

#include <string>

#include "k8s/read_json.h"
#include "k8s/read_object.h"

namespace knx::k8s {
namespace {

template <class T>
T ReadOnly(const std::string& yaml) {
  const auto read = ReadManifests(yaml, "f.yaml");
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().ToString());
  if (!read.ok() || read->size() != 1) return {};
  const T* object = std::get_if<T>(&read->front().object);
  EXPECT_NE(object, nullptr);
  return object == nullptr ? T{} : *object;
}

Quantity Amount(std::string_view text) { return *Quantity::Parse(text); }

TEST(ReadVolumes, AClaimWithEverythingWeRead) {
  const auto claim = ReadOnly<PersistentVolumeClaim>(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec:
  storageClassName: fast
  volumeName: pv-1
  accessModes: [ReadWriteOnce, ReadWriteOncePod]
  volumeMode: Block
  resources: {requests: {storage: 10Gi}}
  selector: {matchLabels: {disk: ssd}}
  volumeAttributesClassName: gold
status: {phase: Bound}
)");
  EXPECT_EQ(claim.meta.namespace_, "shop");
  EXPECT_EQ(claim.storage_class, "fast");
  EXPECT_EQ(claim.volume_name, "pv-1");
  EXPECT_EQ(claim.access_modes,
            (std::vector{AccessMode::kReadWriteOnce, AccessMode::kReadWriteOncePod}));
  EXPECT_TRUE(claim.block);
  EXPECT_EQ(claim.request, Amount("10Gi"));
  EXPECT_EQ(claim.selector->match_labels, (StringMap{{"disk", "ssd"}}));
  EXPECT_EQ(claim.attributes_class, "gold");
  EXPECT_EQ(claim.phase, ClaimPhase::kBound);
}

TEST(ReadVolumes, AClaimMaySayNextToNothing) {
  const auto claim = ReadOnly<PersistentVolumeClaim>(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}");
  EXPECT_EQ(claim.meta.namespace_, "default");
  EXPECT_EQ(claim.storage_class, std::nullopt) << "which is not the class without a name";
  EXPECT_EQ(claim.request, std::nullopt);
  EXPECT_FALSE(claim.block);
}

TEST(ReadVolumes, AVolumeOfACsiDriver) {
  const auto volume = ReadOnly<PersistentVolume>(R"(
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  storageClassName: fast
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: shop, name: data, uid: u1}
  csi: {driver: disks.example.com, volumeHandle: h1}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: zone, operator: In, values: [a]}]
status: {phase: Available}
)");
  EXPECT_EQ(volume.capacity, Amount("5Gi"));
  EXPECT_EQ(volume.claim, (ClaimReference{"shop", "data", "u1"}));
  EXPECT_EQ(volume.source, VolumeSource::kCsi);
  EXPECT_EQ(volume.driver, "disks.example.com");
  EXPECT_EQ(volume.id, "h1");
  ASSERT_TRUE(volume.node_affinity);
  EXPECT_EQ(volume.node_affinity->terms[0].match_expressions[0].key, "zone");
  EXPECT_EQ(volume.phase, VolumePhase::kAvailable);
}

TEST(ReadVolumes, WhatDriversSay) {
  const auto storage_class = ReadOnly<StorageClass>(R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: disks.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
- matchLabelExpressions: [{key: zone, values: [a, b]}]
)");
  EXPECT_EQ(storage_class.provisioner, "disks.example.com");
  EXPECT_EQ(storage_class.binding_mode, BindingMode::kWaitForFirstConsumer);
  ASSERT_EQ(storage_class.allowed_topologies.size(), 1u);
  EXPECT_EQ(storage_class.allowed_topologies[0][0].values, (std::vector<std::string>{"a", "b"}));

  const auto node = ReadOnly<CsiNode>(R"(
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: a.example.com, nodeID: x, allocatable: {count: 3}}, {name: b.example.com}]}
)");
  ASSERT_EQ(node.drivers.size(), 2u);
  EXPECT_EQ(node.drivers[0].limit, 3);
  EXPECT_EQ(node.drivers[1].limit, std::nullopt);

  EXPECT_TRUE(ReadOnly<CsiDriver>("{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: "
                                  "{name: d}, spec: {storageCapacity: true}}")
                  .storage_capacity);

  const auto capacity = ReadOnly<CsiStorageCapacity>(R"(
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: c1, namespace: kube-system}
storageClassName: fast
capacity: 100Gi
maximumVolumeSize: 10Gi
nodeTopology: {matchLabels: {zone: a}}
)");
  EXPECT_EQ(capacity.capacity, Amount("100Gi"));
  EXPECT_EQ(capacity.maximum_volume_size, Amount("10Gi"));
  EXPECT_EQ(capacity.node_topology->match_labels, (StringMap{{"zone", "a"}}));

  const auto attachment = ReadOnly<VolumeAttachment>(R"(
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: a1}
spec: {attacher: d, nodeName: n1, source: {persistentVolumeName: pv-1}}
)");
  EXPECT_EQ(attachment.node_name, "n1");
  EXPECT_EQ(attachment.volume_name, "pv-1");
}

TEST(ReadVolumes, OfThePodOnlyVolumesThatDecideSomething) {
  const auto pod = ReadOnly<Pod>(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c}]
  volumes:
  - {name: token, projected: {sources: []}}
  - {name: settings, configMap: {name: x}}
  - {name: data, persistentVolumeClaim: {claimName: data}}
  - {name: scratch, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {storageClassName: fast}}}}
  - {name: disk, awsElasticBlockStore: {volumeID: vol-1, readOnly: true}}
  - {name: image, rbd: {monitors: [m1, m2], image: i}}
  - {name: azure, azureDisk: {diskName: d, diskURI: /x/d}}
  - {name: inline, csi: {driver: secrets.example.com}}
  - {name: target, iscsi: {targetPortal: t, iqn: iqn.x, lun: 0}}
)");
  ASSERT_EQ(pod.spec.volumes.size(), 7u);
  const auto& volumes = pod.spec.volumes;
  EXPECT_EQ(volumes[0].source, VolumeSource::kClaim);
  EXPECT_EQ(volumes[0].id, "data");
  EXPECT_EQ(volumes[0].name, "") << "what a pod calls its volume is no matter";
  EXPECT_EQ(volumes[1].source, VolumeSource::kEphemeral);
  EXPECT_EQ(volumes[1].name, "scratch") << "from which its claim gets its name";
  ASSERT_EQ(volumes[1].claim_template.size(), 1u);
  EXPECT_EQ(volumes[1].claim_template[0].storage_class, "fast");
  EXPECT_EQ(volumes[1].claim_template[0].meta.labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(volumes[2].id, "vol-1");
  EXPECT_TRUE(volumes[2].read_only);
  EXPECT_EQ(volumes[3].pool, "rbd");
  EXPECT_EQ(volumes[3].monitors, (std::vector<std::string>{"m1", "m2"}));
  EXPECT_EQ(volumes[4].disk_kind, "Shared") << "as the API server fills it in";
  EXPECT_EQ(volumes[5].id, "secrets.example.com");
  EXPECT_EQ(volumes[6].id, "iqn.x");
}

TEST(ReadVolumes, MalformedOnesAreRefusedWithTheirPlace) {
  struct Case {
    std::string_view yaml, want;
  };
  const Case cases[] = {
      {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec:\n  accessModes: "
       "[Sometimes]",
       "f.yaml:5:16: spec.accessModes: \"Sometimes\" is not an access mode; allowed are "
       "ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod"},
      {"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {volumeMode: Tape}",
       "f.yaml:4:20: spec.volumeMode: \"Tape\" is not allowed; allowed are Filesystem, Block"},
      {"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {csi: {driver: d}}",
       "f.yaml:4:13: spec.csi.volumeHandle: missing, but required"},
      {"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {capacity: {storage: "
       "-1}}",
       "f.yaml:4:28: spec.capacity.storage: "},
      {"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}",
       "f.yaml:1:1: provisioner: missing, but required"},
      {"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\nprovisioner: "
       "p\nvolumeBindingMode: Later",
       "f.yaml:5:20: volumeBindingMode: \"Later\" is not allowed; allowed are Immediate, "
       "WaitForFirstConsumer"},
      {"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\nspec: {drivers: "
       "[{name: "
       "d, allocatable: {count: -1}}]}",
       "f.yaml:4:49: spec.drivers[0].allocatable.count: "},
      {"apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: "
       "c}\nstorageClassName: s\ncapacity: much",
       "f.yaml:5:11: capacity: "},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], volumes: "
       "[{persistentVolumeClaim: {}}]}",
       "f.yaml:4:67: spec.volumes[0].persistentVolumeClaim.claimName: missing, but required"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.yaml);
    const auto read = ReadManifests(c.yaml, "f.yaml");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().ToString().substr(0, c.want.size()), c.want);
  }
}

TEST(ReadVolumes, JsonIsReadFastAndAlike) {
  const std::string_view texts[] = {
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},
          "spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})",
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},
          "spec":{"capacity":{"storage":"1Gi"},"gcePersistentDisk":{"pdName":"d"}}})",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},
          "provisioner":"p","allowedTopologies":[{"matchLabelExpressions":
          [{"key":"k","values":["v"]}]}]})",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n"},
          "spec":{"drivers":[{"name":"d","allocatable":{"count":2}}]}})",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","metadata":{"name":"d"},"spec":{}})",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity","metadata":{"name":"c"},
          "storageClassName":"s","capacity":"1Gi","maximumVolumeSize":1024})",
      R"({"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"a"},
          "spec":{"attacher":"d","nodeName":"n","source":{}}})",
  };
  for (const std::string_view text : texts) {
    SCOPED_TRACE(text);
    const auto fast = ReadJsonFast(text);
    const auto explained = ReadJsonExplained(text);
    ASSERT_TRUE(fast.has_value());
    ASSERT_TRUE(explained.ok()) << explained.error().ToString();
    EXPECT_EQ(*fast, *explained);
  }
}

}  // namespace
}  // namespace knx::k8s
