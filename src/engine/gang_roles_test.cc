#include "engine/gang_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;

// A PodGroup of Volcano that wants three pods, a parameter server and two workers among them.
class GangRolesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    k8s::PodGroup group;
    group.api = k8s::PodGroupApi::kVolcano;
    group.meta.name = "train";
    group.meta.namespace_ = "default";
    group.minimum = 3;
    group.role_minimums = {{"ps", 1}, {"worker", 2}};
    harness_.Object(group);
  }
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  static k8s::Pod Member(const std::string& name, const std::string& role,
                         const std::string& cpu = "1") {
    k8s::Pod pod = PodBuilder(name).Asks("cpu", cpu).Label("volcano.sh/task-spec", role);
    pod.meta.annotations = {{"scheduling.k8s.io/group-name", "train"}};
    return pod;
  }
  void TearDown() override { EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal"); }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(GangRolesTest, EnoughPodsAreNotEnoughWithoutARole) {
  Node("a", "8");
  for (const char* name : {"w0", "w1", "w2", "w3"}) harness_.Pod(Member(name, "worker"));
  harness_.Schedule();
  harness_.Pass(Duration::Seconds(11));
  EXPECT_EQ(harness_.NodeOf("w0"), "");
  EXPECT_THAT(harness_.Why("w0"), HasSubstr("1 more of role ps"));
  harness_.Pod(Member("ps", "ps"));
  harness_.Schedule();
  for (const char* name : {"w0", "w1", "w2", "w3", "ps"}) EXPECT_EQ(harness_.NodeOf(name), "a");
}

// Four would fit, but not the parameter server beside them.
TEST_F(GangRolesTest, WorkersDoNotTakeTheRoomOfARole) {
  Node("a", "4");
  for (const char* name : {"w0", "w1", "w2", "w3"}) harness_.Pod(Member(name, "worker"));
  harness_.Pod(Member("ps", "ps", "2"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("ps"), "a");
  EXPECT_EQ(harness_.NodeOf("w0"), "a");
  EXPECT_EQ(harness_.NodeOf("w1"), "a");
  EXPECT_EQ(harness_.NodeOf("w2"), "");
}

// Those who came first do not fit, others do.
TEST_F(GangRolesTest, BesideTheRolesAnyoneWillDo) {
  Node("a", "5");
  harness_.Pod(Member("ps", "ps"));
  for (const char* name : {"w0", "w1"}) harness_.Pod(Member(name, "worker"));
  for (const char* name : {"large0", "large1"}) harness_.Pod(Member(name, "other", "3"));
  harness_.Pod(Member("small", "other", "1"));
  harness_.Schedule();
  EXPECT_EQ(harness_.NodeOf("ps"), "a");
  EXPECT_EQ(harness_.NodeOf("w1"), "a");
  EXPECT_EQ(harness_.NodeOf("large0"), "");
  EXPECT_EQ(harness_.NodeOf("small"), "a");
}

TEST_F(GangRolesTest, NobodyStartsWhereARoleHasNoRoom) {
  Node("a", "4");
  for (const char* name : {"w0", "w1", "w2"}) harness_.Pod(Member(name, "worker"));
  harness_.Pod(Member("ps", "ps", "5"));
  harness_.Schedule();
  for (const char* name : {"w0", "w1", "w2", "ps"}) EXPECT_EQ(harness_.NodeOf(name), "");
  EXPECT_THAT(harness_.Why("w0"), HasSubstr("Insufficient cpu"));
  EXPECT_THAT(harness_.Why("w0"), HasSubstr("Impossible now"));
}

}  // namespace
}  // namespace knx::engine
