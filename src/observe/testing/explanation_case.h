// A cluster, who is asked about, and what the answer says: for tests of explanations.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/testing/harness.h"
#include "observe/explanation.h"

namespace knx::observe::testing {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using engine::testing::Harness;

inline const std::string kOurs = "pod-group.scheduling.kubenexus.io/";

inline std::vector<framework::Profile> OurProfiles(bool backfill) {
  const auto config = framework::ReadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- schedulerName: default-scheduler\n"
      "  plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: ResourceReservation}" +
          std::string(backfill ? ", {name: BackfillScoring}" : "") +
          "]}}\n"
          "- schedulerName: plain\n",
      "all.yaml");
  KNX_CHECK(config.ok(), config.ok() ? "" : config.error().message);
  return engine::testing::ProfilesOf(*config);
}

inline NodeBuilder Node(const std::string& name, const std::string& cpu = "4") {
  return NodeBuilder(name)
      .Has("cpu", cpu)
      .Has("memory", "8Gi")
      .Has("pods", "110")
      .Label("kubernetes.io/hostname", name);
}

inline PodBuilder Member(const std::string& name, int minimum, const std::string& cpu,
                         const std::string& gang = "train") {
  return PodBuilder(name)
      .Asks("cpu", cpu)
      .Label(kOurs + "name", gang)
      .Label(kOurs + "min-available", std::to_string(minimum));
}

inline void Gang(Harness& harness, int members, int minimum, const std::string& cpu) {
  for (int i = 0; i < members; ++i) {
    harness.Pod(Member("m" + std::to_string(i), minimum, cpu));
  }
}

inline k8s::ResourceReservation Reservation(Harness& harness, const std::string& node) {
  k8s::ResourceReservation made;
  made.meta.namespace_ = "default";
  made.meta.name = made.meta.uid = "report";
  made.meta.created = harness.now();
  made.duration = Duration::Minutes(5);
  made.places.push_back({"p", node, {{"cpu", k8s::Quantity::FromUnits(4)}}});
  return made;
}

inline k8s::Pod ForSchedulerOf(k8s::Pod pod, std::string scheduler) {
  pod.spec.scheduler_name = std::move(scheduler);
  return pod;
}

inline k8s::Pod RunsFor(k8s::Pod pod, std::string time) {
  pod.meta.annotations.emplace_back("scheduling.kubenexus.io/expected-duration", std::move(time));
  return pod;
}

// What there is, who is asked about, and what the answer says and does not say.
struct Case {
  std::string name;
  std::function<void(Harness&)> story;
  std::string ask;
  std::vector<std::string> says;
  std::vector<std::string> silent_on = {};
  bool backfill = false;  // is on
};

inline void Check(const Case& c) {
  SCOPED_TRACE(c.name);
  Harness harness({}, OurProfiles(c.backfill));
  c.story(harness);
  harness.Schedule();
  const auto explanation = Explain(harness.engine(), c.ask);
  ASSERT_TRUE(explanation.has_value());
  const std::string text = ToText(*explanation);
  for (const std::string& said : c.says) EXPECT_THAT(text, ::testing::HasSubstr(said));
  for (const std::string& unsaid : c.silent_on)
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr(unsaid)));
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
  EXPECT_EQ(harness.engine().VerifyCaches().value_or("equal"), "equal");
}

}  // namespace knx::observe::testing
