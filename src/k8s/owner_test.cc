#include "k8s/owner.h"

#include <gtest/gtest.h>

namespace knx::k8s {
namespace {

ObjectMeta OwnedBy(std::string kind, std::string name, bool controller) {
  ObjectMeta meta;
  meta.owners = {
      {.kind = std::move(kind), .name = std::move(name), .uid = "u", .controller = controller}};
  return meta;
}

TEST(ControllerOf, IsTheOwnerThatActs) {
  ObjectMeta meta = OwnedBy("Node", "n", false);
  EXPECT_EQ(ControllerOf(meta), nullptr);
  EXPECT_FALSE(MakerOf(meta).has_value());
  meta.owners.push_back({.kind = "Job", .name = "j", .uid = "u", .controller = true});
  ASSERT_NE(ControllerOf(meta), nullptr);
  EXPECT_EQ(ControllerOf(meta)->name, "j");
}

TEST(MakerOf, IsTheDeploymentWhereTheReplicaSetIsOne) {
  struct Case {
    const char *name, *kind, *owner, *hash;
    Maker want;
  };
  const Case cases[] = {
      {"a Job", "Job", "train-1", nullptr, {"Job", "train-1"}},
      {"a Deployment", "ReplicaSet", "web-app-5d9f", "5d9f", {"Deployment", "web-app"}},
      {"a ReplicaSet of its own", "ReplicaSet", "web-5d9f", nullptr, {"ReplicaSet", "web-5d9f"}},
      {"another hash", "ReplicaSet", "web-5d9f", "77aa", {"ReplicaSet", "web-5d9f"}},
      {"an empty hash", "ReplicaSet", "web-", "", {"ReplicaSet", "web-"}},
      {"nothing but a hash", "ReplicaSet", "-5d9f", "5d9f", {"ReplicaSet", "-5d9f"}},
      {"no dash", "ReplicaSet", "web5d9f", "5d9f", {"ReplicaSet", "web5d9f"}},
      {"another kind", "StatefulSet", "web-5d9f", "5d9f", {"StatefulSet", "web-5d9f"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ObjectMeta meta = OwnedBy(c.kind, c.owner, true);
    if (c.hash != nullptr) meta.labels = {{"pod-template-hash", c.hash}};
    const auto maker = MakerOf(meta);
    ASSERT_TRUE(maker.has_value());
    EXPECT_EQ(maker->kind, c.want.kind);
    EXPECT_EQ(maker->name, c.want.name);
  }
}

}  // namespace
}  // namespace knx::k8s
