// Which sub-group members are in, and what their gang wants, whoever says it and whatever comes
// first.
#include <gtest/gtest.h>

#include "cluster/state.h"
#include "cluster/testing/builders.h"

namespace knx::cluster {
namespace {

using testing::PodBuilder;

// Of Volcano: decodes are sub-groups of 2 by their replica, of which two must start.
k8s::PodGroup DividedGroup() {
  k8s::PodGroup group;
  group.api = k8s::PodGroupApi::kVolcano;
  group.meta.name = "serve";
  group.meta.namespace_ = "default";
  group.minimum = 1;
  group.sub_group_policies = {
      {"decode", k8s::LabelSelector{{{"part", "decode"}}, {}}, {"replica"}, 2, 2}};
  return group;
}

k8s::Pod DividedMember(const std::string& name, const std::string& part,
                       const std::string& replica) {
  k8s::Pod pod = PodBuilder(name).Label("part", part).Label("replica", replica);
  pod.meta.annotations = {{"scheduling.k8s.io/group-name", "serve"}};
  return pod;
}

std::string SubGroupIn(const State& state, PodId id) { return state.pod(id).gang->sub_group; }

TEST(StateGangs, AnObjectDividesItsGangBeforeOrAfterThePods) {
  for (const bool object_first : {true, false}) {
    State state;
    if (object_first) state.UpsertObject(DividedGroup());
    const PodId first = state.AddPod(DividedMember("d0", "decode", "0"));
    const PodId second = state.AddPod(DividedMember("d1", "decode", "1"));
    const PodId router = state.AddPod(DividedMember("r", "router", "0"));
    if (!object_first) state.UpsertObject(DividedGroup());
    EXPECT_EQ(SubGroupIn(state, first), "decode/0");
    EXPECT_EQ(SubGroupIn(state, second), "decode/1");
    EXPECT_EQ(SubGroupIn(state, router), "");
    const Gang& gang = state.gangs().Get(state.gang_of(first));
    EXPECT_EQ(gang.minimum, 4) << "two sub-groups of two";
    EXPECT_EQ(gang.min_sub_groups.at("decode"), 2);
    ASSERT_EQ(gang.sub_groups.size(), 2U);
    EXPECT_EQ(gang.sub_groups.at("decode/1"), (SubGroupDemand{2, "decode"}));
    EXPECT_EQ(state.Verify().value_or("equal"), "equal");
    state.RemovePod(second);
    EXPECT_EQ(gang.sub_groups.size(), 1U);
    state.RemoveObject(DividedGroup());
    EXPECT_EQ(SubGroupIn(state, first), "");
    EXPECT_TRUE(gang.sub_groups.empty());
    EXPECT_EQ(state.Verify().value_or("equal"), "equal");
  }
}

TEST(StateGangs, WhereMembersDisagreeTheGreatestCounts) {
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  const auto member = [&](const std::string& name, const std::string& whole) {
    return PodBuilder(name)
        .Label(ours + "name", "train")
        .Label(ours + "sub-group", "a")
        .Label(ours + "sub-group-min-available", whole)
        .Label(ours + "topology-key", whole == "2" ? "rack" : "zone");
  };
  State state;
  const PodId small = state.AddPod(member("p0", "2"));
  const PodId large = state.AddPod(member("p1", "3"));
  const Gang& gang = state.gangs().Get(state.gang_of(small));
  EXPECT_EQ(gang.sub_groups.at("a").minimum, 3);
  EXPECT_EQ(gang.topology_key, "rack") << "the first by the alphabet";
  state.RemovePod(large);
  EXPECT_EQ(gang.sub_groups.at("a").minimum, 2);
  EXPECT_EQ(state.Verify().value_or("equal"), "equal");
}

}  // namespace
}  // namespace knx::cluster
