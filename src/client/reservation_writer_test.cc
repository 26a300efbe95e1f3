#include "client/reservation_writer.h"

#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

TEST(ReservationWriter, WritesConditionsAndWhoUsesIt) {
  net::EventLoop loop;
  testing::ApiServer server{loop};
  ApiClient api{loop, {.endpoint = server.endpoint()}};
  ReservationWriter writer{api};
  server.NextAnswer(200, "{}");
  bool done = false;
  const Time since{1'700'000'000'500'000'000};
  writer.PatchStatus({"ns",
                      "r",
                      "u",
                      {{"ReservationActive", "True", "Held", "2 \"places\"", since},
                       {"GangComplete", "False", "PodGroupIncomplete", "m", std::nullopt}},
                      {{"a", "pod-1"}, {"b", "pod-2"}}},
                     Time{1'700'000'060'000'000'000}, [&](const Status& outcome) {
                       EXPECT_TRUE(outcome.ok());
                       done = true;
                     });
  ASSERT_TRUE(net::testing::RunUntil(loop, [&] { return done; }, Duration::Seconds(2)));
  ASSERT_EQ(server.asked().size(), 1U);
  EXPECT_EQ(server.asked()[0].method, "PATCH");
  EXPECT_EQ(server.asked()[0].path,
            "/apis/scheduling.kubenexus.io/v1alpha1/namespaces/ns/resourcereservations/r/status");
  EXPECT_EQ(
      server.asked()[0].body,
      R"({"metadata":{"uid":"u"},"status":{"conditions":[)"
      R"({"type":"ReservationActive","status":"True","reason":"Held","message":"2 \"places\"",)"
      R"("lastTransitionTime":"2023-11-14T22:13:20Z"},)"
      R"({"type":"GangComplete","status":"False","reason":"PodGroupIncomplete","message":"m",)"
      R"("lastTransitionTime":"2023-11-14T22:14:20Z"}],"pods":{"a":"pod-1","b":"pod-2"}}})");
}

}  // namespace
}  // namespace knx::client
