// How gangs stand, and why they wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/testing/explanation_case.h"

namespace knx::observe::testing {
namespace {

TEST(Explanation, OfAGangThatDoesNotFit) {
  Harness harness({}, engine::testing::GangProfiles());
  harness.Node(Node("a"));
  harness.Node(Node("b"));
  harness.Pod(PodBuilder("other").Asks("cpu", "1").On("b"));
  Gang(harness, 2, 2, "4");
  harness.Schedule();
  const std::string_view expected =
      "pod group default/train waits\n"
      "  answer         impossible now\n"
      "  members        0 have a place, 2 wait, 2 must start together\n"
      "  fit            1 of 2 that are needed\n"
      "  proof          at most 1 fit by cpu\n"
      "  tried          1 time\n"
      "\n"
      "pod group default/train needs 2 pods at once, 1 fit; for the next: 0/2 nodes are available: "
      "2 Insufficient cpu. Impossible now: at most 1 fit by cpu.\n"
      "\n"
      "What would help, each by itself:\n"
      "  the end of 1 pod: default/other\n"
      "  1 more node like a\n"
      "  a minimum of 1 instead of 2\n";
  EXPECT_EQ(ToText(*Explain(harness.engine(), "train")), expected);
  EXPECT_EQ(ToText(*Explain(harness.engine(), "default/train")), expected);
}

TEST(Explanation, SaysHowAGangStands) {
  const Case cases[] = {
      {.name = "too few members",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 1, 2, "4");
           },
       .ask = "train",
       .says = {"pod group default/train waits\n"
                "  answer         too few members are there\n"
                "  members        0 have a place, 1 wait, 2 must start together\n"
                "\n"
                "waiting for pod group default/train: it has 1 pod, needs at least 2\n"}},
      {.name = "one of those that are there waits for something else",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 1, 2, "1");
             harness.Pod(Member("m1", 2, "1").Gate("example.com/quota"));
           },
       .ask = "train",
       .says = {"too few members are there\n", "0 have a place, 2 wait, 2 must start together\n",
                "held back      default/m1: ", "example.com/quota"}},
      {.name = "no object",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("m0").Label("scheduling.x-k8s.io/pod-group", "train"));
           },
       .ask = "train",
       .says = {"answer         the object that says how many must start together does not exist\n",
                "members        0 have a place, 1 wait, nobody says how many must start together\n",
                "the PodGroup object (scheduling.x-k8s.io) does not exist\n",
                "What would help, each by itself:\n"
                "  the PodGroup object (scheduling.x-k8s.io) default/train\n"},
       .silent_on = {"2147483647"}},
      {.name = "being bound",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 2, 2, "1");
           },
       .ask = "train",
       .says = {"pod group default/train is starting\n"
                "  members        2 have a place (2 of them being bound), 0 wait, 2 must start "
                "together\n"
                "  places         a (2)\n"}},
      {.name = "more members than fit",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Node(Node("b"));
             Gang(harness, 3, 2, "4");
             harness.ScheduleAndBind();
           },
       .ask = "train",
       .says = {"pod group default/train runs\n"
                "  answer         it has all that it needs; there is no room for more\n"
                "  members        2 have a place, 1 wait, 2 must start together\n"
                "  places         a, b\n"
                "  waiting        default/m2\n"
                "  tried          2 times\n"
                "\n"
                "pod group default/train has all pods it needs; for one more: 0/2 nodes are "
                "available: 2 Insufficient cpu.\n"
                "\n"
                "What would help one more to start, each by itself:\n"
                "  1 more node like a\n"},
       .silent_on = {"0 of 0", "there is room"}},
      {.name = "a member that could be done without",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 2, 1 + 1, "2");
             harness.ScheduleAndBind();
             harness.Pod(Member("m2", 2, "2"));
           },
       .ask = "m2",
       .says = {"pod default/m2 waits\n", "2 have a place, 1 wait, 2 must start together\n"}},
      {.name = "one that lost a member",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 2, 2, "2");
             harness.ScheduleAndBind();
             harness.PodGone("m1");
           },
       .ask = "train",
       .says = {"pod group default/train is incomplete\n",
                "members        1 have a place, 0 wait, 2 must start together\n"}},
      {.name = "for a scheduler that knows no gangs",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             for (const char* name : {"m0", "m1"}) {
               harness.Pod(ForSchedulerOf(Member(name, 2, "4"), "plain"));
             }
             harness.ScheduleAndBind();
           },
       .ask = "train",
       .says = {"pod group default/train waits\n",
                "members        1 have a place, 1 wait, each starts for itself\n",
                "1 node: Insufficient cpu (NodeResourcesFit)\n"}},
      {.name = "fewer pods would not do where sub-groups are too few",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Node(Node("b"));
             for (const char* name : {"x0", "x1", "y0", "y1"}) {
               harness.Pod(Member(name, 2, "3")
                               .Label(kOurs + "sub-group", std::string(1, name[0]))
                               .Label(kOurs + "sub-group-min-available", "2")
                               .Label(kOurs + "min-sub-groups", "2"));
             }
           },
       .ask = "train",
       .says = {"needs 4 pods at once in 2 whole sub-groups, 2 fit in 1", "2 more nodes like a",
                ", 4 must start together\n"},
       .silent_on = {"a minimum of"}},
      {.name = "a role that finds no place",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("other").Asks("cpu", "1").On("a"));
             for (const char* name : {"w0", "w1", "w2"}) {
               harness.Pod(Member(name, 3, "1").Label(kOurs + "role", "worker"));
             }
             harness.Pod(Member("ps", 3, "2")
                             .Label(kOurs + "role", "ps")
                             .Label(kOurs + "role-min-available", "1"));
           },
       .ask = "train",
       .says = {"pod group default/train waits\n", "the end of 1 pod: default/other\n",
                "1 more node like a\n"},
       .silent_on = {"a minimum of"}},
      {.name = "a label that no node has",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             for (const char* name : {"m0", "m1"}) {
               harness.Pod(Member(name, 2, "1").Label(kOurs + "topology-key", "rack"));
             }
           },
       .ask = "train",
       .says = {"What would help, each by itself:\n"
                "  the label rack on nodes, the same on as many as it needs\n"}},
      {.name = "members larger than any node",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             Gang(harness, 2, 2, "6");
           },
       .ask = "train",
       .says = {"What would help, each by itself:\n"
                "  larger nodes: it asks for 6 of cpu (the most there is: 4)\n"}},
      {.name = "a driver without room for those that it has yet to make",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Node(Node("b", "1"));
             k8s::Pod driver = Member("driver", 4, "1").Label("spark-role", "driver");
             driver.meta.annotations = {{"scheduling.kubenexus.io/executor-resources", "cpu=2"}};
             harness.Pod(driver);
           },
       .ask = "train",
       .says = {"pod group default/train waits\n"
                "  answer         impossible now\n"
                "  members        0 have a place, 1 wait, 4 must start together\n"
                "  driver         starts once there is room for 3 that it has yet to make, too\n"
                "  fit            3 of 4 that are needed\n",
                "needs 4 pods at once, 3 fit; for the next: no room for an executor of its driver",
                "What would help, each by itself:\n"
                "  1 more node like a\n"
                "  a minimum of 3 instead of 4\n"},
       .silent_on = {"00000", "too few members"}},
      {.name = "more is to be left than its pods ask for",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             k8s::PodGroup group;
             group.api = k8s::PodGroupApi::kSigs;
             group.meta.namespace_ = "default";
             group.meta.name = "train";
             group.meta.uid = "uid-train";
             group.minimum = 1;
             group.min_resources = {{"cpu", k8s::Quantity::FromUnits(20)}};
             harness.Object(group);
             harness.Pod(PodBuilder("worker")
                             .Asks("cpu", "1")
                             .Label("scheduling.x-k8s.io/pod-group", "train"));
           },
       .ask = "train",
       .says = {"fit            1 of 1 that are needed\n", "needs 20 cpu in all (minResources)"}},
      {.name = "a driver that nobody knows the others of",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("other").Asks("cpu", "4").On("a"));
             harness.Pod(Member("driver", 4, "1").Label("spark-role", "driver"));
           },
       .ask = "train",
       .says = {"driver         starts before 3 that it has yet to make\n",
                "fit            0 of 1 that are needed\n", "the end of 1 pod: default/other\n",
                "1 more node like a\n"},
       .silent_on = {"a minimum of"}},
      {.name = "a driver that waits for a reservation",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("other").Asks("cpu", "1").On("a"));
             k8s::ResourceReservation made = Reservation(harness, "");
             made.pod_group = "train";
             harness.Object(made);
             harness.Pod(Member("driver", 2, "1").Label("spark-role", "driver"));
           },
       .ask = "train",
       .says =
           {"  answer         its driver waits until reservation default/report is held\n"
            "  members        0 have a place, 1 wait, 2 must start together\n"
            "  reservation    no room for place p: 0/1 nodes are available: 1 Insufficient cpu.",
            "What would help, each by itself:\n  1 more node like a\n"},
       .silent_on = {"the end of", "00000"}},
      {.name = "members of several kinds",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             for (const char* name : {"w0", "w1", "w2"}) harness.Pod(Member(name, 4, "3"));
             harness.Pod(Member("ps", 4, "1").NodeSelector("disk", "ssd"));
           },
       .ask = "train",
       .says = {"no place for 2 like default/w1: 0/1 nodes are available: 1 Insufficient cpu.\n",
                "no place for 1 default/ps: 0/1 nodes are available: 1 node(s) didn't match Pod's "
                "node affinity/selector.\n"}},
      {.name = "more domains than anybody reads",
       .story =
           [](Harness& harness) {
             for (int i = 10; i < 22; ++i) {
               const std::string number = std::to_string(i);
               harness.Node(Node("n" + number, i == 15 ? "2" : "1").Label("rack", "r" + number));
             }
             for (const char* name : {"m0", "m1", "m2"}) {
               harness.Pod(Member(name, 3, "1").Label(kOurs + "topology-key", "rack"));
             }
           },
       .ask = "train",
       .says = {"all in one     rack\n  r15            has room for 2\n",
                "r10            has room for 1\n",
                "and others     4 of 12, with room for no more than 1 each\n"},
       .silent_on = {"r21            has"}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(Explanation, AGangWaitsAsLongAsAnybodyOfItDoes) {
  Harness harness({}, OurProfiles(false));
  harness.Node(Node("a"));
  Gang(harness, 2, 2, "1");
  harness.ScheduleAndBind();
  EXPECT_FALSE(Explain(harness.engine(), "train")->waits());
  harness.Pod(Member("m2", 2, "100"));
  harness.Schedule();
  EXPECT_TRUE(Explain(harness.engine(), "train")->waits());
}

}  // namespace
}  // namespace knx::observe::testing
