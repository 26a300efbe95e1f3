#include "observe/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::observe {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

class ExplanationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      harness_.Node(NodeBuilder(name).Has("cpu", "4").Has("memory", "8Gi").Has("pods", "110"));
    }
    harness_.Pod(PodBuilder("other").Asks("cpu", "1").On("b"));
  }
  void Gang(int members, int minimum, const std::string& cpu) {
    for (int i = 0; i < members; ++i) {
      harness_.Pod(
          PodBuilder("m" + std::to_string(i))
              .Asks("cpu", cpu)
              .Label("pod-group.scheduling.kubenexus.io/name", "train")
              .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum)));
    }
  }
  std::string Text(std::string_view name) {
    harness_.Schedule();
    const auto explanation = Explain(harness_.engine(), name);
    return explanation ? ToText(*explanation) : "nothing";
  }
  engine::testing::Harness harness_{{}, engine::testing::GangProfiles()};
};

TEST_F(ExplanationTest, OfAGangThatDoesNotFit) {
  Gang(2, 2, "4");
  const std::string_view expected =
      "pod group default/train waits\n"
      "  answer         impossible now\n"
      "  members        0 have a place, 2 wait, 2 must start together\n"
      "  fit            1 of 2 that are needed, each on the node that is best for it\n"
      "  proof          at most 1 fit by cpu\n"
      "\n"
      "pod group default/train needs 2 pods at once, 1 fit; for the next: 0/2 nodes are available: "
      "2 Insufficient cpu. Impossible now: at most 1 fit by cpu.\n"
      "\n"
      "What would help, each by itself:\n"
      "  the end of 1 pod: default/other\n"
      "  1 more node like a\n"
      "  a minimum of 1 instead of 2\n";
  EXPECT_EQ(Text("train"), expected);
  EXPECT_EQ(Text("default/train"), expected);
}

// Fewer pods would not do where it is sub-groups that are too few.
TEST_F(ExplanationTest, OfAGangOfWhichTooFewSubGroupsFit) {
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  for (const char* name : {"x0", "x1", "y0", "y1"}) {
    harness_.Pod(PodBuilder(name)
                     .Asks("cpu", "3")
                     .Label(ours + "name", "train")
                     .Label(ours + "min-available", "2")
                     .Label(ours + "sub-group", std::string(1, name[0]))
                     .Label(ours + "sub-group-min-available", "2")
                     .Label(ours + "min-sub-groups", "2"));
  }
  const std::string text = Text("train");
  EXPECT_THAT(text, ::testing::HasSubstr("needs 4 pods at once in 2 whole sub-groups, 2 fit in 1"));
  EXPECT_THAT(text, ::testing::HasSubstr("2 more nodes like a"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("a minimum of")));
}

TEST_F(ExplanationTest, OfAGangThatMissesMembers) {
  Gang(1, 2, "4");
  EXPECT_EQ(Text("train"),
            "pod group default/train waits\n"
            "  answer         too few members are there\n"
            "  members        0 have a place, 1 wait, 2 must start together\n"
            "\n"
            "waiting for pod group default/train: it has 1 pod, needs at least 2\n");
}

TEST_F(ExplanationTest, OfAPodWithBadLabelsIsWhatIsWrongWithThem) {
  harness_.Pod(PodBuilder("bad")
                   .Asks("cpu", "16")
                   .Label("pod-group.scheduling.kubenexus.io/name", "train")
                   .Label("pod-group.scheduling.kubenexus.io/min-available", "many"));
  const std::string text = Text("bad");
  EXPECT_THAT(text, testing::StartsWith("pod default/bad waits\n\n"));
  EXPECT_THAT(text, testing::HasSubstr("\"many\""));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Insufficient")));
}

TEST_F(ExplanationTest, OfASinglePod) {
  harness_.Pod(PodBuilder("big").Asks("cpu", "5"));
  const std::string text = Text("big");
  EXPECT_EQ(text,
            "pod default/big waits\n"
            "  2 nodes: Insufficient cpu (NodeResourcesFit)\n"
            "\n" +
                harness_.Why("big") + "\n");
}

TEST_F(ExplanationTest, OfOneThatDoesNotWait) {
  EXPECT_EQ(Text("other"), "pod default/other does not wait: it is on b\n");
}

TEST_F(ExplanationTest, OfNobody) {
  EXPECT_EQ(Text("nobody"), "nothing");
  EXPECT_EQ(Text("elsewhere/other"), "nothing");
}

}  // namespace
}  // namespace knx::observe
