// Gangs with sub-groups: each starts whole or not at all.
#include "engine/sub_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kOurs = "pod-group.scheduling.kubenexus.io/";

class SubGroupsTest : public ::testing::Test {
 protected:
  struct Demand {
    int in_all = 0, whole = 2, groups = 0;  // 0: it is not said
  };
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  // Named after its sub-group: "a0" is of a.
  static k8s::Pod Member(const std::string& name, const Demand& demand,
                         const std::string& cpu = "1", std::int32_t priority = 0) {
    PodBuilder pod = PodBuilder(name).Asks("cpu", cpu).Priority(priority);
    pod.Label(kOurs + "name", "train");
    pod.Label(kOurs + "sub-group", name.substr(0, 1));
    if (demand.in_all > 0) pod.Label(kOurs + "min-available", std::to_string(demand.in_all));
    if (demand.whole > 0)
      pod.Label(kOurs + "sub-group-min-available", std::to_string(demand.whole));
    if (demand.groups > 0) pod.Label(kOurs + "min-sub-groups", std::to_string(demand.groups));
    return pod;
  }
  void Members(const std::vector<std::string>& names, const Demand& demand,
               const std::string& cpu = "1") {
    for (const std::string& name : names) harness_.Pod(Member(name, demand, cpu));
  }
  // Who of the gang has a place, by name.
  std::vector<std::string> Placed() {
    harness_.ScheduleAndBind();
    std::vector<std::string> placed;
    for (const std::string group : {"a", "b", "c", "d"}) {
      for (int i = 0; i < 5; ++i) {
        const std::string name = group + std::to_string(i);
        if (!harness_.NodeOf(name).empty()) placed.push_back(name);
      }
    }
    return placed;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::GangProfiles()};
};

TEST_F(SubGroupsTest, AsManyStartWholeAsFit) {
  Node("n", "5");
  Members({"a0", "a1", "b0", "b1", "c0", "c1"}, {.groups = 2});
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "b0", "b1")) << "and half of c does not";
}

TEST_F(SubGroupsTest, NobodyStartsWhereTooFewOfThemFit) {
  Node("n", "3");
  Members({"a0", "a1", "b0", "b1", "c0", "c1"}, {.groups = 2});
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(harness_.Why("a0"),
            "pod group default/train needs 4 pods at once in 2 whole sub-groups, 2 fit in 1 of "
            "them; for the next: 0/1 nodes are available: 1 Insufficient cpu. Impossible now: at "
            "most 3 fit by cpu.");
  EXPECT_EQ(harness_.Why("c1"), harness_.Why("a0"));
}

TEST_F(SubGroupsTest, TheMinimumOfTheGangCountsMembersOfWholeSubGroupsOnly) {
  Node("n", "5");
  Members({"a0", "a1", "a2", "b0", "b1", "b2"}, {.in_all = 4, .whole = 3});
  EXPECT_THAT(Placed(), IsEmpty()) << "five fit, in one whole sub-group only three";
  Node("m", "1");
  harness_.Pass(Duration::Seconds(20));
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "a2", "b0", "b1", "b2"));
}

TEST_F(SubGroupsTest, SmallOnesGoFirstUnlessThatIsTooFew) {
  Node("n", "4");
  Members({"a0", "a1", "a2", "a3"}, {.in_all = 2, .whole = 4, .groups = 2});
  Members({"b0", "b1"}, {.in_all = 2, .whole = 2, .groups = 2});
  Members({"c0", "c1"}, {.in_all = 2, .whole = 2, .groups = 2});
  EXPECT_THAT(Placed(), ElementsAre("b0", "b1", "c0", "c1"));
}

TEST_F(SubGroupsTest, ALargeOneIsTakenWhereTheGangNeedsIt) {
  Node("n", "4");
  Members({"a0", "a1", "a2", "a3"}, {.in_all = 4, .whole = 4});
  Members({"b0", "b1"}, {.in_all = 4, .whole = 2});
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "a2", "a3"));
}

TEST_F(SubGroupsTest, FurtherSubGroupsComeBeforeFurtherMembers) {
  Node("n", "5");
  Members({"a0", "a1", "a2", "b0", "b1", "b2"}, {.groups = 1});
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "a2", "b0", "b1"));
}

TEST_F(SubGroupsTest, OneThatIsNotAllThereWaitsAndSaysSo) {
  Node("n", "8");
  Members({"a0", "a1", "b0"}, {.groups = 2});
  harness_.Pass(Duration::Seconds(11));
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(harness_.Why("a0"),
            "waiting for pod group default/train: it has 3 pods, needs at least 4; 1 of 2 "
            "sub-groups could start, sub-group b has 1 of 2 pods");
  Members({"b1"}, {.groups = 2});
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "b0", "b1"));
  Members({"c0"}, {.groups = 2});
  harness_.Pass(Duration::Seconds(11));
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "b0", "b1"));
  EXPECT_THAT(harness_.Why("c0"), EndsWith("; sub-group c has 1 of 2 pods"));
  Members({"c1"}, {.groups = 2});
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "b0", "b1", "c0", "c1"));
}

TEST_F(SubGroupsTest, MembersThatAreReplacedNeedOnlyThemselvesToFit) {
  Node("n", "4");
  Members({"a0", "a1", "b0", "b1"}, {.groups = 1});
  EXPECT_EQ(Placed().size(), 4U);
  for (const char* name : {"a0", "a1", "b0", "b1"}) {
    k8s::Pod bound = Member(name, {.groups = 1});
    bound.spec.node_name = "n";
    harness_.Pod(bound);
  }
  harness_.PodGone("b1");
  Members({"b2"}, {.groups = 1});
  harness_.Pass(Duration::Seconds(20));
  EXPECT_THAT(Placed(), ::testing::Contains("b2"));
}

TEST_F(SubGroupsTest, WhoIsInNoneCountsForTheGangAlone) {
  Node("n", "3");
  Members({"a0", "a1"}, {.in_all = 3});
  k8s::Pod launcher = PodBuilder("d0")
                          .Asks("cpu", "1")
                          .Label(kOurs + "name", "train")
                          .Label(kOurs + "min-available", "3");
  harness_.Pod(launcher);
  EXPECT_THAT(Placed(), ElementsAre("a0", "a1", "d0"));
}

TEST_F(SubGroupsTest, RolesAreFilledFromSubGroupsThatStart) {
  Node("n", "4");
  const auto with_role = [](k8s::Pod pod, const std::string& role) {
    cluster::testing::SetSorted(pod.meta.labels, kOurs + "role", role);
    cluster::testing::SetSorted(pod.meta.labels, kOurs + "role-min-available",
                                std::string(role == "leader" ? "2" : "1"));
    return pod;
  };
  for (const char* name : {"a0", "a1", "a2", "b0", "b1", "b2"}) {
    const bool leads = name[1] == '2';
    harness_.Pod(with_role(Member(name, {.groups = 2}), leads ? "leader" : "worker"));
  }
  EXPECT_THAT(Placed(), ElementsAre("a0", "a2", "b0", "b2"));
}

TEST_F(SubGroupsTest, AllAreInOneDomainIfTheyHaveTo) {
  for (const char* name : {"x1", "x2", "y1", "y2"}) {
    harness_.Node(NodeBuilder(name)
                      .Has("cpu", name[0] == 'x' ? "1" : "2")
                      .Has("memory", "64Gi")
                      .Has("pods", "110")
                      .Label("rack", std::string(1, name[0])));
  }
  for (const char* name : {"a0", "a1", "b0", "b1"}) {
    k8s::Pod pod = Member(name, {.groups = 2});
    cluster::testing::SetSorted(pod.meta.labels, kOurs + "topology-key", std::string("rack"));
    harness_.Pod(pod);
  }
  EXPECT_EQ(Placed().size(), 4U);
  for (const char* name : {"a0", "a1", "b0", "b1"}) EXPECT_EQ(harness_.NodeOf(name)[0], 'y');
}

// Whoever takes the best place first takes it from who has no other.
TEST_F(SubGroupsTest, AnotherWayIsSearchedForOrProvenNotToBe) {
  Node("n", "3");
  Node("m", "3");
  harness_.Pod(Member("a0", {.groups = 2}, "2"));
  harness_.Pod(Member("a1", {.groups = 2}, "1"));
  harness_.Pod(Member("b0", {.groups = 2}, "2"));
  harness_.Pod(Member("b1", {.groups = 2}, "2"));
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_THAT(harness_.Why("a0"), HasSubstr("Impossible now"));
}

}  // namespace
}  // namespace knx::engine
