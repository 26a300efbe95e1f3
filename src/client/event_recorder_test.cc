#include "client/event_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "net/testing/run_until.h"

namespace knx::client {
namespace {

using net::testing::RunFor;
using net::testing::RunUntil;
using testing::ApiServer;
using ::testing::ElementsAre;
using testing::Enveloped;
using testing::Field;
using ::testing::HasSubstr;
using testing::Number;
using testing::Opened;
using testing::Within;

constexpr Time kBegin{1'800'000'000'123'456'789};

PodEvent Failed(Duration after, std::string note = "0/1 nodes") {
  PodEvent event;
  event.regarding = {"ns", "pod", "uid"};
  event.warning = true;
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = std::move(note);
  event.controller = "default-scheduler";
  event.instance = "default-scheduler-host";
  event.when = kBegin + after;
  return event;
}

class EventRecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.Otherwise([this](ApiServer& server, const ApiServer::Asked& asked) {
      const bool refused = asked.method == "PATCH" && patches_are_late_;
      server.http().Answer(asked, refused ? 404 : 200, refused ? "{}" : "");
    });
  }
  // Waits until nothing is on its way.
  void Record(const PodEvent& event) {
    int done = 0;
    recorder_.Record(event, [&](const Status& outcome) {
      EXPECT_TRUE(outcome.ok());
      ++done;
    });
    ASSERT_TRUE(RunUntil(loop_, [&] { return done == 1; }));
  }
  [[nodiscard]] std::vector<std::string> Asked() const {
    std::vector<std::string> out;
    for (const auto& asked : server_.asked()) {
      out.push_back(asked.method == "POST" ? "POST" : "PATCH " + asked.body);
    }
    return out;
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  ApiClient api_{loop_, {.endpoint = server_.endpoint()}};
  EventRecorder recorder_{api_};
  bool patches_are_late_ = false;
};

TEST_F(EventRecorderTest, MayBeAboutSomethingElseThanAPod) {
  PodEvent event = Failed({});
  event.api_version = "scheduling.x-k8s.io/v1alpha1";
  event.kind = "PodGroup";
  Record(event);
  EXPECT_EQ(Within(Opened(server_.asked().front().body), {8}),
            Field(1, "PodGroup") + Field(2, "ns") + Field(3, "pod") + Field(4, "uid") +
                Field(5, "scheduling.x-k8s.io/v1alpha1"));
  Record(Failed({}));  // of a pod by that name: no repeat
  EXPECT_THAT(Asked(), ElementsAre("POST", "POST"));
}

TEST_F(EventRecorderTest, WritesAnEventAsKubernetesHasThem) {
  PodEvent event = Failed({});
  event.related = PodName{"ns", "other", "uid2"};
  Record(event);
  const auto& asked = server_.asked()[0];
  EXPECT_EQ(asked.path, "/apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_EQ(net::FindHeader(asked.headers, "content-type"), "application/vnd.kubernetes.protobuf");
  const std::string other =
      Field(1, "Pod") + Field(2, "ns") + Field(3, "other") + Field(4, "uid2") + Field(5, "v1");
  EXPECT_EQ(asked.body,
            Enveloped("Event",
                      Field(1, Field(1, fmt::format("pod.{:x}.1", kBegin.ns)) + Field(3, "ns")) +
                          Field(2, Number(1, 1'800'000'000) + Number(2, 123'456'000)) +
                          Field(4, "default-scheduler") + Field(5, "default-scheduler-host") +
                          Field(6, "Scheduling") + Field(7, "FailedScheduling") +
                          Field(8, Field(1, "Pod") + Field(2, "ns") + Field(3, "pod") +
                                       Field(4, "uid") + Field(5, "v1")) +
                          Field(9, other) + Field(10, "0/1 nodes") + Field(11, "Warning"),
                      "events.k8s.io/v1"));
}

TEST_F(EventRecorderTest, NotesAreTextWhateverTheyWereMadeOf) {
  Record(Failed({}, "a\"\\\xFF\n\xC3\xA9"));
  EXPECT_EQ(Within(Opened(server_.asked().front().body), {10}), "a\"\\\xEF\xBF\xBD\n\xC3\xA9");
}

TEST_F(EventRecorderTest, NamesOfPodsThatAreAsLongAsCanBeAreShortenedInItsName) {
  PodEvent event = Failed({});
  const std::string label(60, 'a');
  // Where it is cut, a part of the name ends.
  const std::string long_name =
      label + "." + label + "." + label + "." + label.substr(10) + "-.bcd";
  for (std::size_t size = 200; size <= long_name.size(); ++size) {
    event.regarding.name = long_name.substr(0, size);
    event.note = std::to_string(size);
    Record(event);
    const std::string body = Opened(server_.asked().back().body);
    const std::string name = Within(body, {1, 1});
    EXPECT_LE(name.size(), 253U);
    EXPECT_EQ(name.find(".."), std::string::npos) << name;
    EXPECT_EQ(name.find("-."), std::string::npos) << name;
    EXPECT_TRUE(name.ends_with(fmt::format(".{:x}.{:x}", kBegin.ns, size - 199))) << name;
    EXPECT_EQ(Within(body, {8, 3}), event.regarding.name);
  }
}

TEST_F(EventRecorderTest, CountsRepeatsInTheFirstOne) {
  for (int i = 0; i < 6; ++i) Record(Failed(Duration::Seconds(i)));
  EXPECT_THAT(
      Asked(),
      ElementsAre(
          "POST",
          R"(PATCH {"series":{"count":2,"lastObservedTime":"2027-01-15T08:00:01.123456Z"}})",
          R"(PATCH {"series":{"count":4,"lastObservedTime":"2027-01-15T08:00:03.123456Z"}})"));
  EXPECT_EQ(server_.asked()[1].path,
            fmt::format("/apis/events.k8s.io/v1/namespaces/ns/events/pod.{:x}.1", kBegin.ns));
  EXPECT_EQ(net::FindHeader(server_.asked()[1].headers, "content-type"),
            "application/strategic-merge-patch+json");
  // What was counted is written after a minute at the latest that something comes.
  Record(Failed(Duration::Seconds(70)));
  EXPECT_THAT(Asked().back(), HasSubstr("\"count\":7"));
}

TEST_F(EventRecorderTest, WhatDiffersOrComesLateIsAnotherEvent) {
  Record(Failed({}));
  Record(Failed(Duration::Seconds(1), "0/2 nodes"));
  Record(Failed(Duration::Minutes(6)));
  EXPECT_THAT(Asked(), ElementsAre("POST", "POST", "POST"));
}

TEST_F(EventRecorderTest, AnEventThatIsGoneIsWrittenAnew) {
  Record(Failed({}));
  patches_are_late_ = true;
  Record(Failed(Duration::Seconds(1)));
  patches_are_late_ = false;
  Record(Failed(Duration::Seconds(2)));
  EXPECT_THAT(Asked(),
              ElementsAre("POST", HasSubstr("\"count\":2"), "POST", HasSubstr("\"count\":2")));
  EXPECT_NE(server_.asked()[1].path, server_.asked()[3].path);
}

TEST_F(EventRecorderTest, RepeatsBeforeTheFirstIsWrittenWaitForIt) {
  int done = 0;
  for (int i = 0; i < 5; ++i) {
    recorder_.Record(Failed(Duration::Seconds(i)), [&](const Status&) { ++done; });
  }
  ASSERT_TRUE(RunUntil(loop_, [&] { return done == 5; }));
  EXPECT_THAT(Asked(), ElementsAre("POST", HasSubstr("\"count\":5")));
}

TEST_F(EventRecorderTest, AnEventThatCouldNotBeWrittenIsNotCountedIn) {
  server_.NextAnswer(500, "");
  std::optional<bool> ok;
  recorder_.Record(Failed({}), [&](const Status& outcome) { ok = outcome.ok(); });
  ASSERT_TRUE(RunUntil(loop_, [&] { return ok.has_value(); }));
  EXPECT_FALSE(*ok);
  Record(Failed(Duration::Seconds(1)));
  EXPECT_THAT(Asked(), ElementsAre("POST", "POST"));
}

TEST_F(EventRecorderTest, RemembersOnlySoMany) {
  int done = 0;
  constexpr int kMany = 10'500;
  for (int i = 0; i < kMany; ++i) {
    recorder_.Record(Failed({}, std::to_string(i)), [&](const Status&) { ++done; });
  }
  EXPECT_LE(recorder_.remembered(), 10'000U);
  ASSERT_TRUE(RunUntil(loop_, [&] { return done == kMany; }, Duration::Seconds(60)));
}

TEST_F(EventRecorderTest, WhereNoneIsTakenSomeWaitAndOthersAreLeftOut) {
  server_.Otherwise([](ApiServer&, const ApiServer::Asked&) {});
  EventRecorder recorder(api_, 3);
  std::vector<std::string> said;
  for (int i = 0; i < 5; ++i) {
    recorder.Record(Failed(Duration::Seconds(i), fmt::format("note {}", i)),
                    [&](const Status& outcome) {
                      said.push_back(outcome.ok() ? "" : outcome.error().message);
                    });
  }
  EXPECT_THAT(said, ElementsAre("3 wait to be written, and this one is left out",
                                "3 wait to be written, and this one is left out"));
  EXPECT_EQ(api_.patient_calls(), 3U);
}

}  // namespace
}  // namespace knx::client
