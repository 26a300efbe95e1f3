#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/drivers.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::HasSubstr;

TEST(Drivers, SayWhatTheirExecutorsAskFor) {
  const auto read = ReadExecutorResources("memory=8Gi, cpu=500m");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read,
            (k8s::ResourceList{{"cpu", k8s::Quantity::FromMilli(500)},
                               {"memory", k8s::Quantity::FromUnits(std::int64_t{8} << 30)}}));
  for (const std::string_view bad :
       {"", "cpu", "=1", "cpu=", "cpu=much", "cpu=-1", "cpu=1,cpu=2", "cpu=0", "cpu=1,,memory=1",
        "cpu =1", "cpu=1, ", "cpus=1", "cpu=1,memmory=8Gi", "gpu=1,nvidia.com/gpu=1"}) {
    EXPECT_FALSE(ReadExecutorResources(bad)) << bad;
  }
  EXPECT_EQ(ReadExecutorResources("gpu=2"),
            (k8s::ResourceList{{"nvidia.com/gpu", k8s::Quantity::FromUnits(2)}}));
}

TEST(Drivers, AreRunsOfWhatMadeThemOrOfWhatTheyAreCalled) {
  struct Case {
    std::string_view name;
    k8s::Pod pod;
    std::string_view want;
  };
  const PodBuilder plain = PodBuilder("driver-1").Label("spark-role", "driver");
  const Case cases[] = {
      {"of an operator", PodBuilder(plain).ControlledBy("SparkApplication", "daily"),
       "SparkApplication default/daily"},
      {"of nobody, with a name of Spark",
       PodBuilder(plain).Label("spark-app-name", "pi").Label("app", "x"), "app default/pi"},
      {"with the usual label",
       PodBuilder(plain).Label("app", "x").Label("app.kubernetes.io/name", "etl"),
       "app default/etl"},
      {"with the short label", PodBuilder(plain).Label("app", "x"), "app default/x"},
      {"nameless", plain, "gang default/train"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(JobOf(c.pod.meta, "default/train"), c.want);
  }
}

TEST(Drivers, RememberTheLastRunsOnly) {
  Drivers drivers;
  const cluster::ResourceVector shape = {{cluster::kCpu, 2000}};
  for (int i = 0; i <= 10'000; ++i) drivers.Remember("job " + std::to_string(i), shape);
  EXPECT_TRUE(drivers.Recall("job 0").empty());
  EXPECT_EQ(drivers.Recall("job 1"), shape);
  EXPECT_EQ(drivers.Recall("job 10000"), shape);
}

TEST(Drivers, AreFollowedByTheNextThatSaysSo) {
  Drivers drivers;
  const cluster::GangId gang{3}, other{4};
  const auto add = [&](cluster::GangId of, std::uint32_t pod) {
    drivers.Add(of, {"default", "spark"}, {cluster::PodId{pod}, {}, "", "", false});
  };
  add(gang, 1);
  add(gang, 2);
  add(other, 5);
  EXPECT_EQ(drivers.Of(gang)->pod, cluster::PodId{1});
  EXPECT_EQ(drivers.GangsOf({"default", "spark"}), (std::vector<cluster::GangId>{gang, other}));
  EXPECT_FALSE(drivers.SetSpared(gang, true));
  EXPECT_TRUE(drivers.SetSpared(gang, false));
  const auto first = drivers.Remove(cluster::PodId{1});
  ASSERT_TRUE(first && first->driver);
  EXPECT_EQ(first->gang, gang);
  EXPECT_EQ(drivers.Of(gang)->pod, cluster::PodId{2});
  EXPECT_FALSE(drivers.Remove(cluster::PodId{1})) << "it was forgotten";
  add(gang, 1);
  const auto second = drivers.Remove(cluster::PodId{1});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->driver) << "another drove it";
  EXPECT_TRUE(drivers.Remove(cluster::PodId{2}));
  EXPECT_EQ(drivers.Of(gang), nullptr);
  EXPECT_EQ(drivers.GangsOf({"default", "spark"}), std::vector<cluster::GangId>{other});
  EXPECT_EQ(drivers.Gangs(), std::vector<cluster::GangId>{other});
}

class DriverTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu) {
    harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
  }
  static k8s::Pod Driver(const std::string& executor = "", const std::string& name = "driver") {
    k8s::Pod pod = Member(name, "1").Label("spark-role", "driver");
    if (!executor.empty()) {
      pod.meta.annotations = {{"scheduling.kubenexus.io/executor-resources", executor}};
    }
    return pod;
  }
  static PodBuilder Member(const std::string& name, const std::string& cpu = "2") {
    return PodBuilder(name)
        .Asks("cpu", cpu)
        .Label("pod-group.scheduling.kubenexus.io/name", "spark")
        .Label("pod-group.scheduling.kubenexus.io/min-available", "4");
  }
  static PodBuilder Other(const std::string& name, const std::string& cpu) {
    return PodBuilder(name).Asks("cpu", cpu);
  }
  std::int64_t UsedOn(const std::string& node) {
    const cluster::State& state = harness_.engine().state();
    return state.nodes().requested(cluster::kCpu)[state.nodes().Find(node)] / 1000;
  }
  void TearDown() override {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }
  testing::Harness harness_{{}, testing::ReservingProfiles()};
};

TEST_F(DriverTest, StartsFirstWithThePlacesOfItsExecutorsKept) {
  Node("a", "8");
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_EQ(UsedOn("a"), 7);
  harness_.Pod(Other("other", "2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("other"), "") << "the room is the executors'";
  // They come one by one and start as they come: nobody can take their places.
  for (const std::string name : {"e0", "e1", "e2"}) {
    harness_.Pod(Member(name));
    harness_.ScheduleAndBind();
    EXPECT_EQ(harness_.NodeOf(name), "a");
    EXPECT_EQ(UsedOn("a"), 7);
  }
}

TEST_F(DriverTest, DoesNotStartWithoutRoomForItsExecutors) {
  Node("a", "6");
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "");
  EXPECT_THAT(harness_.Why("driver"), HasSubstr("no room for an executor of its driver"));
  EXPECT_EQ(UsedOn("a"), 0) << "what does not fit holds nothing";
  Node("b", "2");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("driver"), "");
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 7);
}

TEST_F(DriverTest, IsTriedAgainWhenThereIsRoomForAnExecutorThatItWouldNotFitInItself) {
  for (const bool together : {false, true}) {
    SCOPED_TRACE(together);
    testing::Harness harness({}, testing::ReservingProfiles());
    const auto node = [&](const std::string& name, const std::string& cpu) {
      harness.Node(NodeBuilder(name).Has("cpu", cpu).Has("pods", "9").Label("rack", "r"));
    };
    node("a", "4");
    PodBuilder pod = Member("driver", "4").Label("spark-role", "driver");
    if (together) pod.Label("pod-group.scheduling.kubenexus.io/topology-key", "rack");
    k8s::Pod driver = pod;
    driver.meta.annotations = {{"scheduling.kubenexus.io/executor-resources", "cpu=1"}};
    harness.Pod(driver);
    harness.ScheduleAndBind();
    ASSERT_EQ(harness.NodeOf("driver"), "");
    node("b", "3");
    harness.Pass(Duration::Seconds(12));
    EXPECT_EQ(harness.NodeOf("driver"), "a");
  }
}

TEST_F(DriverTest, IsNotTriedForEverWithoutAnyNode) {
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.PlaceOf("driver"), QueuePlace::kUnschedulable);
}

TEST_F(DriverTest, IsAllThatIsNeededWhenNobodyKnowsItsExecutors) {
  Node("a", "8");
  harness_.Pod(Driver());
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_EQ(UsedOn("a"), 1);
  // The others then start as a whole.
  harness_.Pod(Member("e0"));
  harness_.Pod(Member("e1"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("e0"), "");
  harness_.Pod(Member("e2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("e0"), "a");
  // The next one of that name is likely to be like it.
  for (const std::string name : {"driver", "e0", "e1", "e2"}) harness_.PodGone(name);
  harness_.Pod(Driver("", "again"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("again"), "a");
  EXPECT_EQ(UsedOn("a"), 7);
}

TEST_F(DriverTest, KnowsItsExecutorsByWhatTheSameOwnerRanBefore) {
  Node("a", "16");
  const auto add = [this](const std::string& name, const std::string& run, bool drives,
                          const std::string& owner) {
    PodBuilder pod(name);
    pod.Asks("cpu", drives ? "1" : "2")
        .Label("pod-group.scheduling.kubenexus.io/name", "run-" + run)
        .Label("pod-group.scheduling.kubenexus.io/min-available", "3");
    if (drives) pod.Label("spark-role", "driver").ControlledBy("SparkApplication", owner);
    harness_.Pod(pod);
    harness_.ScheduleAndBind();
  };
  add("d1", "1", true, "daily");
  add("e1", "1", false, "");
  add("e2", "1", false, "");
  ASSERT_EQ(harness_.NodeOf("e2"), "a");
  for (const std::string name : {"d1", "e1", "e2"}) harness_.PodGone(name);
  add("d2", "2", true, "daily");
  EXPECT_EQ(harness_.NodeOf("d2"), "a");
  EXPECT_EQ(UsedOn("a"), 5) << "two executors are to come";
  add("d3", "3", true, "another");
  EXPECT_EQ(UsedOn("a"), 6) << "nobody knows those of the other";
}

TEST_F(DriverTest, KeepsPlacesForTheMissingWhenSomeCameWithIt) {
  Node("a", "8");
  harness_.Pod(Member("e0"));
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_EQ(harness_.NodeOf("e0"), "a");
  EXPECT_EQ(UsedOn("a"), 7) << "two are still to come";
}

TEST_F(DriverTest, UsesTheReservationThatIsThere) {
  Node("a", "4");
  k8s::ResourceReservation made;
  made.meta.namespace_ = "default";
  made.meta.name = made.meta.uid = "spark";
  made.meta.created = harness_.now();
  made.pod_group = "spark";
  for (const std::string name : {"0", "1", "2"}) {
    made.places.push_back({name, "", {{"cpu", k8s::Quantity::FromUnits(2)}}});
  }
  harness_.Object(made);
  harness_.Pod(Driver());
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "") << "its executors have no places yet";
  Node("b", "3");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_NE(harness_.NodeOf("driver"), "");
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 7);
  harness_.Pod(Member("e0"));
  harness_.ScheduleAndBind();
  EXPECT_NE(harness_.NodeOf("e0"), "");
  EXPECT_EQ(UsedOn("a") + UsedOn("b"), 7);
}

TEST_F(DriverTest, ThatRunsKeepsThePlacesThatAreLeftWhenOneIsLost) {
  Node("a", "1");
  for (const std::string name : {"b", "c", "d"}) Node(name, "2");
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  ASSERT_EQ(harness_.NodeOf("driver"), "a");
  harness_.Pod(Other("o", "2"));
  harness_.NodeGone("d");
  harness_.Pass(Duration::Seconds(30));
  EXPECT_EQ(UsedOn("b") + UsedOn("c"), 4);
  EXPECT_EQ(harness_.NodeOf("o"), "");
  Node("e", "2");
  for (const std::string name : {"e0", "e1", "e2"}) harness_.Pod(Member(name));
  harness_.Pass(Duration::Seconds(30));
  for (const std::string name : {"e0", "e1", "e2"}) EXPECT_NE(harness_.NodeOf(name), "") << name;
}

TEST_F(DriverTest, WhoGoesTakesThePlacesAlong) {
  Node("a", "8");
  harness_.Pod(Driver("cpu=2"));
  harness_.Pod(Other("other", "2"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(UsedOn("a"), 7);
  harness_.PodGone("driver");
  harness_.Pass(Duration::Seconds(12));
  EXPECT_EQ(harness_.NodeOf("other"), "a");
  EXPECT_EQ(UsedOn("a"), 2);
}

TEST_F(DriverTest, ThePlacesAreKeptForSoLong) {
  Node("a", "8");
  harness_.Pod(Driver("cpu=2"));
  harness_.ScheduleAndBind();
  harness_.Pass(Duration::Minutes(10));
  EXPECT_EQ(UsedOn("a"), 1);
}

TEST_F(DriverTest, ASchedulerThatStartsKeepsThemToo) {
  Node("a", "8");
  k8s::Pod driver = Driver("cpu=2");
  driver.spec.node_name = "a";
  driver.status.start_time = harness_.now() - Duration::Minutes(4);
  harness_.Pod(driver);
  k8s::Pod first = Member("e0").On("a");
  first.status.start_time = harness_.now() - Duration::Seconds(5);
  harness_.Pod(first);
  harness_.Pod(Member("e1"));
  harness_.Listed();
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("e1"), "a");
  EXPECT_EQ(UsedOn("a"), 7) << "the third is still to come";
  harness_.Pass(Duration::Minutes(6));
  EXPECT_EQ(UsedOn("a"), 5);
}

TEST_F(DriverTest, WhatItSaysWronglyIsSaid) {
  Node("a", "8");
  harness_.Pod(Driver("many"));
  harness_.ScheduleAndBind();
  EXPECT_EQ(harness_.NodeOf("driver"), "a");
  EXPECT_THAT(harness_.notes(), ::testing::Contains(HasSubstr("says many, which is not like")));
}

}  // namespace
}  // namespace knx::engine
