#include "sim/watch.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

// A store with a watch on its pods; what was told is a text: "+a" for there, "-a" for gone.
class WatchTest : public testing::Test, public StoreListener {
 protected:
  WatchTest() {
    watch_.KeepHistory(Duration::Minutes(10));
    store_.Listen(*this);
  }
  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override { watch_.OnWrite(write); }

  void Put(const std::string& name, const std::string& node = "") {
    k8s::Pod pod = PodForTest(name, "1");
    if (const PodPtr known = store_.Find<k8s::Pod>("default/" + name)) pod = *known;
    pod.spec.node_name = node;
    store_.Put(pod, Actor::kUser);
  }
  void Finish(const std::string& name, k8s::PodPhase phase) {
    k8s::Pod pod = *store_.Find<k8s::Pod>("default/" + name);
    pod.status.phase = phase;
    store_.Put(pod, Actor::kUser);
  }
  void Erase(const std::string& name) { store_.Erase<k8s::Pod>("default/" + name, Actor::kUser); }
  void RunFor(Duration span) {
    const Time end = agenda_.now() + span;
    while (agenda_.Next() <= end) agenda_.RunNext();
    agenda_.PassTo(end);
  }
  std::string Told() { return std::exchange(told_, ""); }

  Agenda agenda_{kBegin};
  Store store_{agenda_, 7};
  Timing timing_;
  std::string told_;
  Watch<k8s::Pod> watch_{agenda_, store_, timing_,
                         [this](const PodPtr& pod, bool gone) {
                           const std::string& node = pod->spec.node_name;
                           told_ += (gone ? "-" : "+") + pod->meta.name +
                                    (node.empty() || gone ? "" : "@" + node) + " ";
                         },
                         [] {}};
};

constexpr Duration kSecond = Duration::Seconds(1);

TEST_F(WatchTest, ListsAndThenTellsEveryChangeInOrder) {
  Put("a");
  watch_.Start({});
  EXPECT_EQ(Told(), "+a ");
  EXPECT_TRUE(watch_.Current());
  Put("b");
  Put("a", "n1");
  Erase("b");
  EXPECT_FALSE(watch_.Current());
  EXPECT_EQ(watch_.told_version(), 1U);
  EXPECT_EQ(Told(), "") << "it takes a while";
  RunFor(kSecond);
  EXPECT_EQ(Told(), "+b +a@n1 -b ");
  EXPECT_TRUE(watch_.Current());
}

TEST_F(WatchTest, APodThatHasFailedIsGone) {
  Put("a", "n1");
  Put("b", "n1");
  Finish("b", k8s::PodPhase::kFailed);
  watch_.Start({});
  EXPECT_EQ(Told(), "+a@n1 ");
  Finish("a", k8s::PodPhase::kFailed);
  Erase("a");
  RunFor(kSecond);
  EXPECT_EQ(Told(), "-a ") << "once";
}

TEST_F(WatchTest, APodThatHasSucceededIsThereUntilItIsDeleted) {
  Put("a", "n1");
  Finish("a", k8s::PodPhase::kSucceeded);
  watch_.Start({});
  EXPECT_EQ(Told(), "+a@n1 ");
  Erase("a");
  RunFor(kSecond);
  EXPECT_EQ(Told(), "-a ");
}

TEST_F(WatchTest, BeingLateKeepsTheOrder) {
  watch_.Start({});
  watch_.BeLate(Duration::Seconds(10), Duration::Seconds(5));
  Put("a");
  RunFor(Duration::Seconds(6));
  Put("b");
  RunFor(kSecond);
  EXPECT_EQ(Told(), "") << "b is not late itself, but stands behind a";
  RunFor(Duration::Seconds(4));
  EXPECT_EQ(Told(), "+a +b ");
}

TEST_F(WatchTest, WhatWasLostIsToldByTheNextList) {
  Put("a");
  Put("b");
  watch_.Start({});
  (void)Told();
  watch_.Disconnect(Duration::Seconds(10), {});
  Put("a", "n1");
  Erase("b");
  Put("c");
  Put("d");
  Erase("d");
  RunFor(Duration::Seconds(9));
  EXPECT_EQ(Told(), "");
  EXPECT_FALSE(watch_.Current());
  RunFor(Duration::Seconds(2));
  const std::string told = Told();
  EXPECT_NE(told.find("-b "), std::string::npos) << told;
  EXPECT_NE(told.find("+a@n1 "), std::string::npos) << told;
  EXPECT_NE(told.find("+c "), std::string::npos) << told;
  EXPECT_EQ(told.find('d'), std::string::npos) << told;
  EXPECT_TRUE(watch_.Current());
}

TEST_F(WatchTest, AStaleListIsCorrectedAndNeverOlderThanWhatWasTold) {
  watch_.Start({});
  Put("a");
  RunFor(Duration::Seconds(10));
  EXPECT_EQ(Told(), "+a ");
  watch_.Disconnect(Duration::Seconds(10), Duration::Seconds(15));
  RunFor(Duration::Seconds(2));
  Put("a", "n1");
  RunFor(Duration::Seconds(8) + Duration::Nanoseconds(500));
  EXPECT_EQ(Told(), "") << "the list is from before the change, and not from before a";
  RunFor(kSecond);
  EXPECT_EQ(Told(), "+a@n1 ");
}

TEST_F(WatchTest, AStartMayGoBackInTimeAndCatchesUp) {
  Put("a");
  RunFor(Duration::Seconds(10));
  Put("a", "n1");
  RunFor(Duration::Seconds(2));
  watch_.Start(Duration::Seconds(5));
  EXPECT_EQ(Told(), "+a ");
  EXPECT_FALSE(watch_.Current());
  RunFor(kSecond);
  EXPECT_EQ(Told(), "+a@n1 ");
  EXPECT_TRUE(watch_.Current());
}

TEST_F(WatchTest, DuplicatesAndStops) {
  watch_.Start({});
  watch_.Duplicate(1);
  Put("a");
  Put("b");
  RunFor(kSecond);
  EXPECT_EQ(Told(), "+a +a +b ");
  Put("c");
  watch_.Stop();
  RunFor(kSecond);
  EXPECT_EQ(Told(), "");
}

}  // namespace
}  // namespace knx::sim
