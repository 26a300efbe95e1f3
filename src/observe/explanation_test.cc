// Of single pods: why they wait, and what would help them.
#include "observe/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/testing/explanation_case.h"

namespace knx::observe::testing {
namespace {

TEST(Explanation, OfASinglePod) {
  Harness harness({}, engine::testing::GangProfiles());
  harness.Node(Node("a"));
  harness.Node(Node("b"));
  harness.Node(Node("c").Taint("team", "ml", k8s::TaintEffect::kNoSchedule));
  harness.Node(Node("d").Taint("team", "ml", k8s::TaintEffect::kNoSchedule));
  harness.Pod(PodBuilder("other").Asks("cpu", "1").On("a"));
  harness.Pod(PodBuilder("others").Asks("cpu", "3").On("b"));
  harness.Pod(PodBuilder("big").Asks("cpu", "4"));
  harness.Schedule();
  EXPECT_EQ(ToText(*Explain(harness.engine(), "big")),
            "pod default/big waits\n"
            "  2 nodes: Insufficient cpu (NodeResourcesFit)\n"
            "  2 nodes: node(s) had untolerated taint(s) (TaintToleration)\n"
            "\n" +
                harness.Why("big") +
                "\n"
                "\n"
                "What would help, each by itself:\n"
                "  the end of 1 pod: default/other\n"
                "  1 more node like a\n"
                "  a toleration for team=ml:NoSchedule: it fits on c, d\n"
                "  a request for 3 of cpu instead of 4: it fits on a\n");
}

TEST(Explanation, SaysOfAPodWhatStandsInItsWay) {
  const Case cases[] = {
      {.name = "a label that no node has",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Label("disk", "hdd"));
             harness.Node(Node("b"));
             harness.Pod(PodBuilder("p").Asks("cpu", "1").NodeSelector("disk", "ssd"));
           },
       .ask = "p",
       .says = {"the label disk=ssd on the node: it fits on a, b\n"},
       .silent_on = {"more node", "the end of", "instead of"}},
      {.name = "a cordon",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Unschedulable());
             harness.Node(Node("b", "1"));
             harness.Pod(PodBuilder("p").Asks("cpu", "2"));
           },
       .ask = "p",
       .says = {"the end of the cordon: it fits on a\n",
                "a request for 1 of cpu instead of 2: it fits on b\n"}},
      {.name = "a cordon with its taint",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Unschedulable().Taint("node.kubernetes.io/unschedulable", "",
                                                          k8s::TaintEffect::kNoSchedule));
             harness.Pod(PodBuilder("p").Asks("cpu", "2"));
           },
       .ask = "p",
       .says = {"  the end of the cordon: it fits on a\n"}},
      {.name = "a taint and a label",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Taint("team", "", k8s::TaintEffect::kNoExecute));
             harness.Pod(PodBuilder("p").NodeSelector("disk", "ssd"));
           },
       .ask = "p",
       .says = {"a toleration for team:NoExecute and the label disk=ssd on the node: it fits on "
                "a\n"}},
      {.name = "a port",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("q").Port(80).On("a"));
             harness.Pod(PodBuilder("p").Port(80));
           },
       .ask = "p",
       .says = {"the end of 1 pod: default/q\n", "1 more node like a\n",
                "other host ports: it fits on a\n"}},
      {.name = "two things at once are not said to help by themselves",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a", "1").Unschedulable());
             harness.Pod(PodBuilder("p").Asks("cpu", "2"));
           },
       .ask = "p",
       .says = {"pod default/p waits\n"},
       .silent_on = {"the end of", "a request for"}},
      {.name = "several resources",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a", "1500m"));
             harness.Pod(PodBuilder("p").Asks("cpu", "2").Asks("memory", "9Gi"));
           },
       .ask = "p",
       .says = {"a request for 1500m of cpu instead of 2 and 8Gi of memory instead of 9Gi: it fits "
                "on a\n"}},
      {.name = "the commonest nodes come first",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a", "8"));
             for (const char* name : {"b", "c"}) harness.Node(Node(name, "4"));
             for (const char* name : {"a", "b", "c"}) {
               harness.Pod(PodBuilder(std::string("on-") + name).Asks("cpu", "3").On(name));
             }
             harness.Pod(PodBuilder("two").Asks("cpu", "3").On("a"));
             harness.Pod(PodBuilder("p").Asks("cpu", "3"));
           },
       .ask = "p",
       .says = {"1 more node like b\n", "the end of 1 pod: "}},
      {.name = "who is leaving already is said to be",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("q").Asks("cpu", "4").On("a").Terminating());
             harness.Pod(PodBuilder("p").Asks("cpu", "4"));
           },
       .ask = "p",
       .says = {"the end of 1 pod being deleted already: default/q\n"}},
      {.name = "a node that is not there",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             k8s::NodeSelectorTerm term;
             term.match_fields.push_back({"metadata.name", k8s::SelectorOperator::kIn, {"b"}});
             harness.Pod(PodBuilder("p").Requires(term));
           },
       .ask = "p",
       .says = {"  the node b, which it asks for by name and which is not there\n"}},
      {.name = "more than any node has",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("q").Asks("cpu", "4").On("a"));
             harness.Pod(PodBuilder("p").Asks("cpu", "6").Asks("nvidia.com/gpu", "1"));
           },
       .ask = "p",
       .says =
           {"  larger nodes: it asks for 6 of cpu (the most there is: 4), 1 of nvidia.com/gpu (no "
            "node has any)\n"},
       .silent_on = {"the end of", "more node like"}},
      {.name = "pods that keep apart by zone",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Label("zone", "z"));
             k8s::PodAffinityTerm term;
             term.selector = k8s::LabelSelector{{{"app", "db"}}, {}};
             term.topology_key = "zone";
             harness.Pod(PodBuilder("q").Label("app", "db").On("a"));
             harness.Pod(PodBuilder("p").Label("app", "db").Apart(term));
           },
       .ask = "p",
       .says = {"the end of 1 pod: default/q\n",
                "no pods near by that its pod anti-affinity forbids: it fits on a\n"},
       .silent_on = {"more node like"}},
      {.name = "pods that keep apart by node",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             k8s::PodAffinityTerm term;
             term.selector = k8s::LabelSelector{{{"app", "db"}}, {}};
             term.topology_key = "kubernetes.io/hostname";
             for (const char* name : {"q", "p"}) {
               harness.Pod(PodBuilder(name).Label("app", "db").Apart(term));
               harness.ScheduleAndBind();
             }
           },
       .ask = "p",
       .says = {"1 more node like a\n"}},
      {.name = "a label beside an affinity that forbids the node",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a").Label("zone", "a"));
             k8s::NodeSelectorTerm term;
             term.match_expressions.push_back({"zone", k8s::SelectorOperator::kIn, {"c"}});
             harness.Pod(PodBuilder("p").NodeSelector("zone", "b").Requires(term));
           },
       .ask = "p",
       .says = {"another node selector or node affinity: it fits on a\n"},
       .silent_on = {"the label"}},
      {.name = "a gate",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(PodBuilder("p").Gate("example.com/quota"));
           },
       .ask = "p",
       .says = {"pod default/p waits\n", "example.com/quota"}},
      {.name = "another scheduler",
       .story = [](Harness& harness) { harness.Pod(ForSchedulerOf(PodBuilder("p"), "volcano")); },
       .ask = "p",
       .says = {"pod default/p is for the scheduler volcano; here are default-scheduler, plain\n"}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(Explanation, SaysWhoseTurnItIsAndWhoKeepsTheRoom) {
  const Case cases[] = {
      {.name = "a pod that would delay another",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(RunsFor(PodBuilder("runs").Asks("cpu", "3"), "100s"));
             harness.ScheduleAndBind();
             harness.Pod(RunsFor(PodBuilder("large").Asks("cpu", "4"), "50s"));
             harness.Schedule();
             harness.Pod(RunsFor(PodBuilder("long").Asks("cpu", "1"), "200s"));
           },
       .ask = "long",
       .says = {"there is room for it on a, and it is not its turn\n",
                "held back for  pod default/large, which is promised to start by "
                "2023-11-14T22:15:00Z\n",
                "a run time with which it has ended by 2023-11-14T22:15:00Z (annotation "
                "scheduling.kubenexus.io/expected-duration)\n"},
       .backfill = true},
      {.name = "who is promised a start",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Pod(RunsFor(PodBuilder("runs").Asks("cpu", "3"), "100s"));
             harness.ScheduleAndBind();
             for (const char* name : {"m0", "m1"}) {
               harness.Pod(RunsFor(Member(name, 2, "2"), "50s"));
             }
           },
       .ask = "train",
       .says = {"promised       to start by 2023-11-14T22:15:00Z\n", "impossible now\n"},
       .backfill = true},
      {.name = "a reservation for others",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Node(Node("b"));
             harness.Pod(PodBuilder("q").Asks("cpu", "4").On("b"));
             harness.Object(Reservation(harness, "a"));
             harness.Schedule();
             harness.Pod(PodBuilder("p").Asks("cpu", "2"));
           },
       .ask = "p",
       .says = {"the end of the reservation default/report, which keeps room for app report until "
                "2023-11-14T22:18:20Z\n",
                "the end of 1 pod: default/q\n"}},
      {.name = "a pod whose place is kept for it",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Object(Reservation(harness, "a"));
             harness.Schedule();
             harness.Pod(PodBuilder("q")
                             .Asks("cpu", "3")
                             .Label("scheduling.kubenexus.io/app-id", "report"));
             harness.ScheduleAndBind();
             harness.Pod(PodBuilder("p").Asks("cpu", "3"));
           },
       .ask = "p",
       .says = {"1 more node like a\n"},
       .silent_on = {"the end of"}},
      {.name = "a reservation in the way of a gang",
       .story =
           [](Harness& harness) {
             harness.Node(Node("a"));
             harness.Node(Node("b"));
             harness.Object(Reservation(harness, "a"));
             harness.Schedule();
             Gang(harness, 2, 2, "4");
           },
       .ask = "train",
       .says = {"the end of the reservation default/report, which keeps room for app report"}},
  };
  for (const Case& c : cases) Check(c);
}

TEST(Explanation, OfAPodWithBadLabelsIsWhatIsWrongWithThem) {
  Check({.name = "bad labels",
         .story =
             [](Harness& harness) {
               harness.Node(Node("a"));
               harness.Pod(PodBuilder("bad")
                               .Asks("cpu", "16")
                               .Label(kOurs + "name", "train")
                               .Label(kOurs + "min-available", "many"));
             },
         .ask = "bad",
         .says = {"pod default/bad waits\n\n", "\"many\""},
         .silent_on = {"Insufficient"}});
}

// Each change that is said to help is made, in a cluster of its own.
TEST(Explanation, WhatIsSaidToHelpASinglePodHelps) {
  const auto begin = [](Harness& harness, const std::string& cpu) {
    harness.Node(Node("a"));
    harness.Node(Node("b").Taint("team", "ml", k8s::TaintEffect::kNoSchedule));
    harness.Pod(PodBuilder("one").Asks("cpu", "1").On("a"));
    harness.Pod(PodBuilder("two").Asks("cpu", "2").On("a"));
    harness.Pod(PodBuilder("p").Asks("cpu", cpu));
    harness.Schedule();
  };
  const auto is_placed = [](Harness& harness) {
    harness.Pass(Duration::Minutes(6));
    return harness.NodeOf("p");
  };
  Harness asked;
  begin(asked, "3");
  const auto explanation = Explain(asked.engine(), "p");
  ASSERT_TRUE(explanation.has_value());
  EXPECT_THAT(explanation->help,
              ::testing::ElementsAre("the end of 1 pod: default/two", "1 more node like a",
                                     "a toleration for team=ml:NoSchedule: it fits on b",
                                     "a request for 1 of cpu instead of 3: it fits on a"));
  asked.PodGone("two");
  EXPECT_EQ(is_placed(asked), "a");
  Harness grown;
  begin(grown, "3");
  grown.Node(Node("c"));
  EXPECT_EQ(is_placed(grown), "c");
  Harness tolerated;
  begin(tolerated, "3");
  tolerated.Node(Node("b"));
  EXPECT_EQ(is_placed(tolerated), "b");
  Harness modest;
  begin(modest, "1");
  EXPECT_EQ(modest.NodeOf("p"), "a");
}

TEST(Explanation, OfOneThatDoesNotWait) {
  Harness harness;
  harness.Node(Node("b"));
  harness.Pod(PodBuilder("other").Asks("cpu", "1").On("b"));
  harness.Pod(PodBuilder("going").On("b").Terminating());
  EXPECT_EQ(ToText(*Explain(harness.engine(), "other")),
            "pod default/other does not wait: it is on b\n");
  EXPECT_EQ(ToText(*Explain(harness.engine(), "going")),
            "pod default/going does not wait: it is on b, and is being deleted\n");
}

TEST(Explanation, OfNobody) {
  Harness harness;
  harness.Pod(PodBuilder("other"));
  EXPECT_FALSE(Explain(harness.engine(), "nobody").has_value());
  EXPECT_FALSE(Explain(harness.engine(), "elsewhere/other").has_value());
}

}  // namespace
}  // namespace knx::observe::testing
