#include "cluster/gang_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knx::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Groups = std::vector<std::pair<std::string, std::int32_t>>;

constexpr Symbol kHere{1}, kElsewhere{2};

GangKey PodGroupNamed(std::string name, Symbol namespace_ = kHere) {
  return {namespace_, GangSource::kPodGroup, std::move(name)};
}
GangKey WorkloadNamed(std::string name) { return {kHere, GangSource::kWorkload, std::move(name)}; }

TEST(GangTable, WhatElseAnObjectSaysIsThereWhicheverComesFirst) {
  GangTable table;
  GangTerms terms;
  terms.disruption = k8s::DisruptionMode::kAll;
  table.SetTerms(PodGroupNamed("early"), terms);
  const GangId early = table.Join(PodGroupNamed("early"), PodId{1});
  EXPECT_EQ(table.Get(early).terms, terms);
  const GangId late = table.Join(PodGroupNamed("late"), PodId{2});
  EXPECT_EQ(table.Get(late).terms, GangTerms{});
  table.SetTerms(PodGroupNamed("late"), terms);
  EXPECT_EQ(table.Get(late).terms, terms);
  table.SetTerms(PodGroupNamed("late"), {});
  EXPECT_EQ(table.Get(late).terms, GangTerms{});
}

TEST(GangTable, AnObjectMayComeBeforeItsPodsOrAfterThemAndMayGo) {
  GangTable table;
  table.SetObject(PodGroupNamed("early"), Groups{{"early", 3}});
  const GangId early = table.Join(PodGroupNamed("early"), PodId{1});
  EXPECT_EQ(table.Get(early).minimum, 3);
  const GangId late = table.Join(PodGroupNamed("late"), PodId{2});
  EXPECT_TRUE(table.Get(late).awaits_object());
  table.SetObject(PodGroupNamed("late"), Groups{{"late", 5}});
  EXPECT_EQ(table.Get(late).minimum, 5);
  EXPECT_FALSE(table.Get(late).awaits_object());
  table.SetObject(PodGroupNamed("late"), Groups{});
  EXPECT_TRUE(table.Get(late).awaits_object());
  EXPECT_EQ(table.Get(early).minimum, 3);
}

TEST(GangTable, AGangIsNotTakenForTheOneThatEndedJustBefore) {
  GangTable table;
  const GangId first = table.Join(PodGroupNamed("first"), PodId{1});
  table.Leave(first, PodId{1});
  const GangId second = table.Join(PodGroupNamed("second"), PodId{1});
  EXPECT_NE(second, first);
  table.Leave(second, PodId{1});
  EXPECT_EQ(table.Join(PodGroupNamed("third"), PodId{1}), first) << "in the end it is used again";
}

TEST(GangTable, MinimumsStayWithinWhatCanBeCounted) {
  GangTable table;
  const GangId id = table.Join(PodGroupNamed("g"), PodId{1});
  for (const auto& [said, kept] : std::vector<std::pair<std::int32_t, std::int32_t>>{
           {0, 1}, {-7, 1}, {1, 1}, {2'000'000'000, kMaxGangMinimum}}) {
    table.SetObject(PodGroupNamed("g"), Groups{{"g", said}});
    EXPECT_EQ(table.Get(id).minimum, kept);
  }
}

TEST(GangTable, AGroupThatWantsSomethingInAllIsDecidedAboutAsOne) {
  GangTable table;
  const GangId id = table.Join(PodGroupNamed("g"), PodId{1});
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 1}});
  EXPECT_FALSE(table.Get(id).together());
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 1}}, {.resources = {{kCpu, 4000}}});
  EXPECT_TRUE(table.Get(id).together());
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 2}});
  EXPECT_TRUE(table.Get(id).together());
  EXPECT_TRUE(table.Get(id).resources.empty());
}

TEST(GangTable, RolesThatNeedMoreThanTheGangMakeItNeedThatMuch) {
  GangTable table;
  const GangId id = table.Join(PodGroupNamed("g"), PodId{1});
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 3}}, {.roles = {{"ps", 1}, {"worker", 2}}});
  EXPECT_EQ(table.Get(id).minimum, 3);
  EXPECT_EQ(table.Get(id).roles.size(), 2U);
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 3}}, {.roles = {{"ps", 1}, {"worker", 4}}});
  EXPECT_EQ(table.Get(id).minimum, 5);
  table.SetObject(PodGroupNamed("g"), Groups{});
  EXPECT_TRUE(table.Get(id).awaits_object());
  EXPECT_TRUE(table.Get(id).roles.empty());
}

TEST(GangTable, AnObjectIsOneOfItsNamespaceKindAndName) {
  GangTable table;
  const GangId here = table.Join(PodGroupNamed("a"), PodId{1});
  const GangId elsewhere = table.Join(PodGroupNamed("a", kElsewhere), PodId{2});
  const GangId other = table.Join({kHere, GangSource::kVolcano, "a"}, PodId{3});
  const GangId by_labels = table.Join({kHere, GangSource::kPod, "a"}, PodId{4});
  table.SetDemand(by_labels, {2, {}});
  const GangId longer = table.Join(PodGroupNamed("a-b"), PodId{5});
  EXPECT_THAT(table.NamedBy(PodGroupNamed("a")), ElementsAre(here));
  table.SetObject(PodGroupNamed("a"), Groups{{"a", 4}});
  EXPECT_EQ(table.Get(here).minimum, 4);
  EXPECT_EQ(table.Get(by_labels).minimum, 2);
  for (const GangId id : {elsewhere, other, longer}) EXPECT_TRUE(table.Get(id).awaits_object());
  EXPECT_THAT(table.NamedBy(PodGroupNamed("b")), IsEmpty());
}

TEST(GangTable, AWorkloadHasSeveralGroupsAndEveryReplicaIsAGang) {
  GangTable table;
  const GangId first = table.Join(WorkloadNamed("job/w/0"), PodId{1});
  const GangId second = table.Join(WorkloadNamed("job/w/1"), PodId{2});
  const GangId driver = table.Join(WorkloadNamed("job/d"), PodId{3});
  const GangId other = table.Join(WorkloadNamed("job-2/w"), PodId{4});
  EXPECT_THAT(table.NamedBy(WorkloadNamed("job")), ElementsAre(driver, first, second));
  table.SetObject(WorkloadNamed("job"), Groups{{"job/w", 4}, {"job/d", 1}});
  EXPECT_EQ(table.Get(first).minimum, 4);
  EXPECT_EQ(table.Get(second).minimum, 4);
  EXPECT_EQ(table.Get(driver).minimum, 1);
  EXPECT_TRUE(table.Get(other).awaits_object());
  // A group that the object has no more.
  table.SetObject(WorkloadNamed("job"), Groups{{"job/w", 5}});
  EXPECT_EQ(table.Get(second).minimum, 5);
  EXPECT_TRUE(table.Get(driver).awaits_object());
}

TEST(GangTable, AGangThatIsForgottenLeavesItsObject) {
  GangTable table;
  table.SetObject(PodGroupNamed("g"), Groups{{"g", 2}});
  const GangId id = table.Join(PodGroupNamed("g"), PodId{1});
  table.Leave(id, PodId{1});
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.Get(table.Join(PodGroupNamed("g"), PodId{2})).minimum, 2);
}

}  // namespace
}  // namespace knx::cluster
