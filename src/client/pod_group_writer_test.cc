#include "client/pod_group_writer.h"

#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

TEST(PodGroupWriter, WritesTheConditionAndNothingElse) {
  net::EventLoop loop;
  testing::ApiServer server{loop};
  ApiClient api{loop, {.endpoint = server.endpoint()}};
  PodGroupWriter writer{api};
  server.NextAnswer(200, "{}");
  bool done = false;
  k8s::PodGroupCondition condition;
  condition.said = {"PodGroupScheduled", "False", "Unschedulable", "2 \"fit\"",
                    Time{1'700'000'000'500'000'000}};
  condition.observed_generation = 3;
  writer.PatchStatus({"ns", "g", "u", "v1alpha2"}, condition, [&](const Status& outcome) {
    EXPECT_TRUE(outcome.ok());
    done = true;
  });
  ASSERT_TRUE(net::testing::RunUntil(loop, [&] { return done; }, Duration::Seconds(2)));
  ASSERT_EQ(server.asked().size(), 1U);
  EXPECT_EQ(server.asked()[0].method, "PATCH");
  EXPECT_EQ(server.asked()[0].path,
            "/apis/scheduling.k8s.io/v1alpha2/namespaces/ns/podgroups/g/status");
  EXPECT_EQ(server.asked()[0].body,
            R"({"metadata":{"uid":"u"},"status":{"conditions":[)"
            R"({"type":"PodGroupScheduled","status":"False","reason":"Unschedulable",)"
            R"("message":"2 \"fit\"","lastTransitionTime":"2023-11-14T22:13:20Z",)"
            R"("observedGeneration":3}]}})");
}

}  // namespace
}  // namespace knx::client
