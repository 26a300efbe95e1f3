#include "observe/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"

namespace knx::observe {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using ::testing::ElementsAre;

class SubjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = "pod-group.scheduling.kubenexus.io/name";
    const std::string minimum = "pod-group.scheduling.kubenexus.io/min-available";
    harness_.Node(NodeBuilder("a").Has("cpu", "4").Has("pods", "110"));
    harness_.Pod(PodBuilder("m0").Label(name, "train").Label(minimum, "2"));
    harness_.Pod(PodBuilder("m1").Label("scheduling.x-k8s.io/pod-group", "train"));
    harness_.Pod(PodBuilder("train"));
    k8s::Pod there = PodBuilder("m2").Label(name, "train").Label(minimum, "2").Namespace("team-a");
    there.meta.uid = "uid-there";
    harness_.Pod(there);
    k8s::Pod also = PodBuilder("web").Namespace("team-a");
    also.meta.uid = "uid-web";
    harness_.Pod(also);
    const std::string job = "training.kubeflow.org/job-name";
    harness_.Pod(PodBuilder("m3").Label(job, "train").Label(minimum, "2"));
  }
  std::vector<std::string> Found(std::string_view text) {
    std::vector<std::string> out;
    for (const Subject& subject : FindSubjects(harness_.engine().state(), text)) {
      out.push_back(SpelledOut(subject));
    }
    return out;
  }
  engine::testing::Harness harness_{{}, engine::testing::GangProfiles("operatorGangs: true")};
};

TEST_F(SubjectTest, AreFoundByNameNamespaceAndKind) {
  EXPECT_THAT(Found("train"),
              ElementsAre("podgroup.scheduling.x-k8s.io/default/train", "labels/default/train",
                          "pod/default/train", "labels/team-a/train"));
  EXPECT_THAT(Found("default/train"), ElementsAre("podgroup.scheduling.x-k8s.io/default/train",
                                                  "labels/default/train", "pod/default/train"));
  EXPECT_THAT(Found("team-a/train"), ElementsAre("labels/team-a/train"));
  EXPECT_THAT(Found("pod/train"), ElementsAre("pod/default/train"));
  EXPECT_THAT(Found("podgroup/team-a/train"), ElementsAre("labels/team-a/train"));
  EXPECT_THAT(Found("labels/default/train"), ElementsAre("labels/default/train"));
  EXPECT_THAT(Found("podgroup.scheduling.x-k8s.io/train"),
              ElementsAre("podgroup.scheduling.x-k8s.io/default/train"));
  EXPECT_THAT(Found("web"), ElementsAre("pod/team-a/web"));
  EXPECT_THAT(Found("nobody"), ElementsAre());
  EXPECT_THAT(Found(""), ElementsAre());
  EXPECT_THAT(Found("/"), ElementsAre());
}

TEST_F(SubjectTest, MayHaveSlashesInTheirNames) {
  EXPECT_THAT(Found("Kubeflow/train"), ElementsAre("operator/default/Kubeflow/train"));
  EXPECT_THAT(Found("default/Kubeflow/train"), ElementsAre("operator/default/Kubeflow/train"));
  EXPECT_THAT(Found("operator/default/Kubeflow/train"),
              ElementsAre("operator/default/Kubeflow/train"));
}

TEST_F(SubjectTest, OfOperatorsAreFoundByTheNameOfTheJob) {
  harness_.Pod(PodBuilder("m4")
                   .Label("ray.io/cluster", "fit")
                   .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  harness_.Pod(PodBuilder("m5")
                   .Label("leaderworkerset.sigs.k8s.io/name", "serve")
                   .Label("leaderworkerset.sigs.k8s.io/group-index", "0")
                   .Annotation("leaderworkerset.sigs.k8s.io/size", "2"));
  harness_.Pod(PodBuilder("m6")
                   .Annotation("pod-group.scheduling.kubenexus.io/name", "x/y")
                   .Annotation("pod-group.scheduling.kubenexus.io/min-available", "2"));
  EXPECT_THAT(Found("y"), ElementsAre()) << "whoever called it so means that name";
  EXPECT_THAT(Found("serve"), ElementsAre("operator/default/LeaderWorkerSet/serve/0"));
  EXPECT_THAT(Found("serve/0"), ElementsAre("operator/default/LeaderWorkerSet/serve/0"));
  EXPECT_THAT(Found(""), ElementsAre());
  EXPECT_THAT(Found("fit"), ElementsAre("operator/default/Ray/fit"));
  EXPECT_THAT(Found("default/fit"), ElementsAre("operator/default/Ray/fit"));
  EXPECT_THAT(Found("operator/default/fit"), ElementsAre("operator/default/Ray/fit"));
  EXPECT_THAT(Found("team-a/fit"), ElementsAre());
  EXPECT_EQ(WhatThereIs(harness_.engine().state(), "fits"),
            "much the same is the name of pod group default/Ray/fit");
}

TEST_F(SubjectTest, AGangThatIsCalledLikeOneOfAnOperatorIsAnother) {
  harness_.Pod(PodBuilder("m7")
                   .Annotation("pod-group.scheduling.kubenexus.io/name", "Kubeflow/train")
                   .Annotation("pod-group.scheduling.kubenexus.io/min-available", "2"));
  EXPECT_THAT(Found("Kubeflow/train"),
              ElementsAre("labels/default/Kubeflow/train", "operator/default/Kubeflow/train"));
}

TEST_F(SubjectTest, WhatIsSpelledOutMeansItself) {
  for (const char* name : {"train", "web", "Kubeflow/train", "m0"}) {
    for (const std::string& spelled : Found(name))
      EXPECT_THAT(Found(spelled), ElementsAre(spelled));
  }
}

TEST_F(SubjectTest, OfWhatIsNotThereItIsSaidWhatIsNear) {
  const cluster::State& state = harness_.engine().state();
  EXPECT_EQ(WhatThereIs(state, "wep"), "much the same is the name of pod team-a/web");
  EXPECT_EQ(WhatThereIs(state, "something/else"),
            "what waits is pod default/train, pod group default/Kubeflow/train, pod group "
            "default/train, pod group team-a/train, pod team-a/web");
  engine::testing::Harness empty;
  EXPECT_EQ(WhatThereIs(empty.engine().state(), "train"), "nothing waits");
}

}  // namespace
}  // namespace knx::observe
