// The driver against an API server of the test, which has what the test says and takes what is
// written.
#include "live/scheduler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "client/condition_json.h"
#include "client/testing/api_server.h"
#include "client/testing/wire.h"
#include "engine/testing/harness.h"
#include "net/http_server.h"
#include "net/testing/run_until.h"
#include "observe/testing/prometheus_text.h"

namespace knx::live {
namespace {

using client::testing::ApiServer;
using net::testing::RunUntil;
using ::testing::HasSubstr;

constexpr const char* kNodes = "/api/v1/nodes";
constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kReservations = "/apis/scheduling.kubenexus.io/v1alpha1/resourcereservations";

std::string NodeJson(std::string_view name = "n") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","uid":"uid of {}",
           "resourceVersion":"1"}},
           "status":{{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
      name, name);
}

std::string PodJson(std::string_view on_node = "", std::string_view scheduler = "default-scheduler",
                    std::string_view name = "p", std::string_view uid = "pod") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"ns","name":"{}","uid":"{}",
           "resourceVersion":"1"}},"spec":{{"schedulerName":"{}","nodeName":"{}",
           "containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
      name, uid, scheduler, on_node);
}

// A pod takes it five milliseconds.
class Slow final : public framework::Plugin, public framework::ReservePlugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "Slow"; }
  [[nodiscard]] framework::Outcome Reserve(const framework::PodView&, cluster::NodeRow,
                                           cluster::State&) const override {
    ++decisions_;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};
  }
  void Unreserve(const framework::PodView&, cluster::NodeRow, cluster::State&) const override {}
  [[nodiscard]] int decisions() const { return decisions_; }

 private:
  mutable int decisions_ = 0;
};

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() {
    server_.Otherwise([this](ApiServer&, const ApiServer::Asked& asked) { Serve(asked); });
  }
  void Lead() {
    scheduler_ = std::make_unique<Scheduler>(loop_, api_, std::move(profiles_), options_);
    scheduler_->Lead();
  }
  void Serve(const ApiServer::Asked& asked) {
    const std::string path = asked.path.substr(0, asked.path.find('?'));
    if (asked.method != "GET") {
      written_.push_back(asked);
      const bool binds = path.ends_with("/binding");
      return server_.http().Answer(asked, binds ? binding_status_ : 201, R"({"message":"hm"})");
    }
    if (path.ends_with("/pods/p")) {
      ++looks_;
      return server_.http().Answer(asked, 200, pod_);
    }
    if (asked.path.find("watch=true") != std::string::npos) {
      watches_[path] = asked;
      return server_.http().Begin(asked, 200, {{"content-type", "application/json"}});
    }
    if (asked.path.find("limit=") == std::string::npos) {
      return server_.http().Answer(asked, 404, "{}");
    }
    server_.http().Answer(asked, 200,
                          fmt::format(R"({{"apiVersion":"v1","kind":"SomeList","metadata":)"
                                      R"({{"resourceVersion":"1"}},"items":[{}]}})",
                                      there_[path]),
                          {{"content-type", "application/json"}});
  }
  // Bodies of what was written below the path.
  [[nodiscard]] std::vector<std::string> Written(std::string_view path) const {
    std::vector<std::string> out;
    for (const ApiServer::Asked& asked : written_) {
      if (asked.path.find(path) != std::string::npos) out.push_back(asked.body);
    }
    return out;
  }
  [[nodiscard]] double Value(const std::string& name, const observe::testing::Labels& labels) {
    const auto read = observe::testing::PrometheusText::Read(metrics_.Text());
    return read->Find(name, labels).value_or(0);
  }

  net::EventLoop loop_;
  ApiServer server_{loop_};
  std::map<std::string, std::string> there_;  // by path
  std::map<std::string, ApiServer::Asked> watches_;
  std::vector<ApiServer::Asked> written_;
  int binding_status_ = 201, looks_ = 0;
  std::string pod_ = PodJson();  // as it is looked at
  std::vector<std::string> lines_;
  observe::SchedulerMetrics metrics_;
  observe::Log log_{{.now = [] { return Time{}; },
                     .write = [this](std::string_view line) { lines_.emplace_back(line); }}};
  client::ApiClient api_{loop_, {.endpoint = server_.endpoint(), .lists_by_pages = true}};
  std::vector<framework::Profile> profiles_ = engine::testing::DefaultProfiles();
  Scheduler::Options options_{.engine = {}, .host = "here", .log = log_, .metrics = metrics_};
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, EventsAreReportedByTheNameOfTheProfileAndTheHost) {
  there_[kNodes] = NodeJson();
  there_[kPods] = PodJson();
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [this] { return !Written("/events").empty(); }));
  const std::string event = client::testing::Opened(Written("/events")[0]);
  EXPECT_EQ(client::testing::Within(event, {4}), "default-scheduler");
  EXPECT_EQ(client::testing::Within(event, {5}), "default-scheduler-here");
}

// kube-scheduler takes such a name, and is refused each event then.
TEST_F(SchedulerTest, EventsAreTakenWhateverTheNameOfTheProfile) {
  profiles_[0].scheduler_name = "white space";
  there_[kNodes] = NodeJson();
  there_[kPods] = PodJson("", "white space");
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [this] { return !Written("/events").empty(); }));
  const std::string event = client::testing::Opened(Written("/events")[0]);
  EXPECT_EQ(client::testing::Within(event, {4}), "white-space");
  EXPECT_EQ(client::testing::Within(event, {5}), "white-space-here");
}

TEST_F(SchedulerTest, ABindingInDoubtIsOutstanding) {
  there_[kNodes] = NodeJson();
  there_[kPods] = PodJson();
  binding_status_ = 500;
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [this] { return looks_ > 0 && api_.urgent_calls() == 0; }));
  EXPECT_EQ(scheduler_->outstanding(), 1u) << "the server may still do it";
  pod_ = PodJson("n");
  EXPECT_TRUE(RunUntil(loop_, [this] { return scheduler_->outstanding() == 0; }));
}

// Renewals of the lease are among what waits for them.
TEST_F(SchedulerTest, SlowDecisionsLeaveTimersTheirTurn) {
  constexpr int kMany = 40;
  const Slow& slow = static_cast<const Slow&>(*profiles_[0].plugins.emplace_back(new Slow));
  profiles_[0].reserve.push_back(
      {&slow, static_cast<std::uint8_t>(profiles_[0].plugins.size() - 1)});
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i), comma = i == 0 ? "" : ",";
    there_[kNodes] += comma + NodeJson("n" + number);
    there_[kPods] += comma + PodJson("", "default-scheduler", "pod-" + number, "uid-" + number);
  }
  Lead();
  int before = 0, most = 0;
  EXPECT_TRUE(RunUntil(loop_, [&] {
    const int now = slow.decisions();
    most = std::max(most, now - std::exchange(before, now));
    return now == kMany;
  }));
  EXPECT_LE(most, 8) << "decisions without a look at the timers";
}

TEST_F(SchedulerTest, WhatCannotBeUnderstoodIsCountedAlwaysAndSaidOnce) {
  const auto reservation = [](int version) {
    return fmt::format(
        R"({{"apiVersion":"scheduling.kubenexus.io/v1alpha1","kind":"ResourceReservation",)"
        R"("metadata":{{"namespace":"ns","name":"r","uid":"r","resourceVersion":"{}"}},)"
        R"("spec":{{"duration":"soon","resources":{{"cpu":"1"}}}}}})",
        version);
  };
  there_[kReservations] = reservation(1);
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [&] { return watches_.contains(kReservations); }));
  for (int version = 2; version < 5; ++version) {
    server_.http().Write(
        watches_[kReservations],
        fmt::format("{{\"type\":\"MODIFIED\",\"object\":{}}}\n", reservation(version)));
  }
  ASSERT_TRUE(RunUntil(loop_, [&] {
    return Value("kubenexus_refused_objects_total", {{"kind", "ResourceReservation"}}) == 4 &&
           api_.patient_calls() == 0;
  }));
  EXPECT_THAT(Written("/events"), ::testing::ElementsAre(HasSubstr("NotUnderstood")));
  EXPECT_EQ(std::count_if(lines_.begin(), lines_.end(),
                          [](const std::string& line) {
                            return line.find("cannot be understood") != std::string::npos;
                          }),
            1);
}

TEST_F(SchedulerTest, AConditionIsWrittenHoweverMuchThereIsToSay) {
  std::string reasons;
  for (int i = 0; i < 100; ++i) {
    const std::string_view comma = i == 0 ? "" : ",";
    there_[kNodes] += fmt::format("{}{}", comma, NodeJson(fmt::format("n{:02}", i)));
    reasons += fmt::format(R"({}"n{:02}":"{:02}{}")", comma, i, i, std::string(1000, 'x'));
  }
  there_[kPods] = PodJson();
  auto extender = net::HttpServer::Listen(
      loop_, {.address = "127.0.0.1"}, [&](const net::ServerRequest&, const auto& answer) {
        answer({.body = fmt::format(R"({{"NodeNames":[],"FailedNodes":{{{}}}}})", reasons)});
      });
  ASSERT_TRUE(extender.ok());
  framework::Extender config;
  config.url_prefix = fmt::format("http://127.0.0.1:{}", (*extender)->port());
  config.filter_verb = "filter";
  config.node_cache_capable = true;
  auto calls = ExtenderCalls::Make(loop_, api_, {config}, [](std::string_view) {});
  ASSERT_TRUE(calls.ok());
  options_.engine.extenders = {config};
  options_.extenders = calls->get();
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [this] { return !Written("/status").empty(); }));
  const std::string patch = Written("/status")[0];
  EXPECT_THAT(patch, HasSubstr("0/100 nodes are available: 1 00xxx"));
  EXPECT_GT(patch.size(), client::kLongestConditionMessage);
  EXPECT_LT(patch.size(), client::kLongestConditionMessage + 500);
  scheduler_.reset();  // it asks them
}

// The API server counts bytes, not characters.
TEST_F(SchedulerTest, WhatIsRepeatedInAnEventOfWhatIsNotUnderstoodFitsIntoIt) {
  std::string word;
  for (int i = 0; i < 2000; ++i) word += "你";
  there_[kReservations] = fmt::format(
      R"({{"apiVersion":"scheduling.kubenexus.io/v1alpha1","kind":"ResourceReservation",)"
      R"("metadata":{{"namespace":"ns","name":"r","uid":"r","resourceVersion":"1"}},)"
      R"("spec":{{"resources":{{"{}":"1e999"}}}}}})",
      word);
  Lead();
  ASSERT_TRUE(RunUntil(loop_, [this] { return !Written("/events").empty(); }));
  constexpr std::size_t kTaken = 1024;
  const std::string note =
      client::testing::Within(client::testing::Opened(Written("/events")[0]), {10});
  EXPECT_THAT(note, HasSubstr("cannot be understood"));
  EXPECT_GT(note.size(), 500u);
  EXPECT_LE(note.size(), kTaken);
}

}  // namespace
}  // namespace knx::live
