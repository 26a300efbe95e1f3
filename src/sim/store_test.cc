#include "sim/store.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

class StoreTest : public testing::Test {
 protected:
  Agenda agenda_{kBegin};
  Store store_{agenda_, 7};
};

TEST_F(StoreTest, GivesEveryWriteANewVersionAndEveryObjectAUid) {
  const PodPtr first = store_.Put(PodForTest("a", "1"), Actor::kUser);
  const PodPtr second = store_.Put(PodForTest("b", "1"), Actor::kUser);
  EXPECT_EQ(first->meta.resource_version, "1");
  EXPECT_EQ(second->meta.resource_version, "2");
  EXPECT_NE(first->meta.uid, second->meta.uid);
  EXPECT_EQ(first->meta.created, kBegin);

  k8s::Pod changed = *first;
  changed.meta.labels = {{"a", "b"}};
  const PodPtr third = store_.Put(changed, Actor::kUser);
  EXPECT_EQ(third->meta.resource_version, "3");
  EXPECT_EQ(third->meta.uid, first->meta.uid);
  EXPECT_TRUE(first->meta.labels.empty()) << "an old version must stay as it was";
}

TEST_F(StoreTest, GivesTheSameUidsForTheSameSeed) {
  Store again(agenda_, 7);
  Store other(agenda_, 8);
  const std::string uid = store_.NewUid();
  EXPECT_EQ(uid, again.NewUid());
  EXPECT_NE(uid, other.NewUid());
}

TEST_F(StoreTest, KeepsAUidThatAnObjectBringsUnlessSomebodyHadIt) {
  k8s::Pod pod = PodForTest("a", "1");
  pod.meta.uid = "from-a-cluster";
  EXPECT_EQ(store_.Put(pod, Actor::kUser)->meta.uid, "from-a-cluster");
  store_.Erase<k8s::Pod>("default/a", Actor::kUser);
  EXPECT_NE(store_.Put(pod, Actor::kUser)->meta.uid, "from-a-cluster");
}

TEST_F(StoreTest, FindsPodsByNodeAndOwner) {
  k8s::Pod pod = PodForTest("a", "1");
  pod.spec.node_name = "n1";
  pod.meta.owners = {{.kind = "Job", .name = "j", .uid = "u", .controller = true}};
  const PodPtr put = store_.Put(pod, Actor::kUser);
  EXPECT_EQ(store_.PodsOn("n1"), std::set<std::string>{"default/a"});
  EXPECT_EQ(store_.PodsOf("u"), std::set<std::string>{"default/a"});
  EXPECT_NE(store_.FindPod("default/a", put->meta.uid), nullptr);
  EXPECT_EQ(store_.FindPod("default/a", "another"), nullptr);
  store_.Erase<k8s::Pod>("default/a", Actor::kUser);
  EXPECT_TRUE(store_.PodsOn("n1").empty());
  EXPECT_TRUE(store_.PodsOf("u").empty());
}

TEST(Conditions, ChangeTheirTimeWithTheirStatusOnly) {
  std::vector<k8s::Condition> conditions;
  const auto set = [&](const char* status, const char* reason, std::int64_t now) {
    SetCondition(
        conditions,
        {.type = "T", .status = status, .reason = reason, .message = {}, .last_transition = {}},
        Time{now});
  };
  set("False", "A", 1);
  set("False", "B", 2);
  EXPECT_EQ(FindCondition(conditions, "T")->last_transition, Time{1});
  set("True", "", 3);
  EXPECT_EQ(FindCondition(conditions, "T")->last_transition, Time{3});
  EXPECT_EQ(conditions.size(), 1U);
}

TEST(Agenda, GoesByTimeAndThenByOrder) {
  Agenda agenda(Time{0});
  std::string order;
  agenda.At(Time{2}, [&] { order += "c"; });
  agenda.At(Time{1}, [&] { order += "a"; });
  agenda.At(Time{1}, [&] {
    order += "b";
    agenda.After({}, [&] { order += "B"; });
  });
  agenda.At(Time{9}, [] {}, Agenda::Weight::kBackground);
  EXPECT_EQ(agenda.foreground(), 3U);
  while (agenda.Next() < Time{9}) agenda.RunNext();
  EXPECT_EQ(order, "abBc");
  EXPECT_EQ(agenda.foreground(), 0U);
  agenda.PassTo(Time{5});
  EXPECT_EQ(agenda.now(), Time{5});
}

}  // namespace
}  // namespace knx::sim
