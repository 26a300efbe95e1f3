#include "live/narrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/testing/harness.h"
#include "observe/testing/prometheus_text.h"

namespace knx::live {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using observe::ApiCall;
using observe::testing::Labels;
using observe::testing::PrometheusText;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NarratorTest : public ::testing::Test {
 protected:
  static engine::EngineOptions Options(engine::Observer* observer) {
    engine::EngineOptions options;
    options.observer = observer;
    return options;
  }
  std::optional<double> Value(const std::string& name, const Labels& labels = {}) {
    const auto read = PrometheusText::Read(metrics_.Text());
    EXPECT_TRUE(read.ok());
    return read->Find(name, labels);
  }
  std::optional<double> Attempts(std::string result) {
    return Value("scheduler_schedule_attempts_total",
                 {{"result", std::move(result)}, {"profile", "default-scheduler"}});
  }
  std::optional<double> GangAttempts(std::string result) {
    const Labels labels = {{"result", std::move(result)}, {"profile", "default-scheduler"}};
    const auto attempts = Value("scheduler_podgroup_schedule_attempts_total", labels);
    EXPECT_EQ(Value("scheduler_podgroup_scheduling_attempt_duration_seconds_count", labels),
              attempts);
    return attempts;
  }
  // Without what stands in front of the message.
  std::vector<std::string> Said() {
    std::vector<std::string> said;
    for (const std::string& line : lines_) said.push_back(line.substr(line.find(']') + 2));
    lines_.clear();
    return said;
  }

  std::vector<std::string> lines_;
  SteadyClock clock_;
  observe::SchedulerMetrics metrics_;
  observe::Log log_{{.verbosity = 2,
                     .now = [] { return Time{}; },
                     .write = [this](std::string_view line) { lines_.emplace_back(line); }}};
  Narrator narrator_{clock_, metrics_, log_};
  engine::testing::Harness harness_{Options(&narrator_)};
};

TEST_F(NarratorTest, SaysOnceWhatAProfileDoesNotHeed) {
  for (const std::string name : {"a", "b"}) {
    harness_.Pod(PodBuilder(name)
                     .Label("pod-group.scheduling.kubenexus.io/name", "train")
                     .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  for (const std::string name : {"c", "d"}) {
    harness_.Pod(PodBuilder(name).Annotation("scheduling.kubenexus.io/expected-duration", "1h"));
  }
  harness_.Pod(PodBuilder("single"));
  EXPECT_THAT(Said(), ElementsAre("\"Pods of gangs are placed one by one, because their profile "
                                  "lacks Coscheduling\" profile=\"default-scheduler\" "
                                  "pod=\"default/a\"\n",
                                  "\"No starts are promised by what pods say of their run time, "
                                  "because no profile has BackfillScoring\" "
                                  "profile=\"default-scheduler\" pod=\"default/c\"\n"));
}

TEST_F(NarratorTest, SaysAndCountsWhatBecomesOfGangs) {
  engine::testing::Harness harness(Options(&narrator_), engine::testing::GangProfiles());
  metrics_.ReadFrom(&harness.engine());
  const auto add = [&](const std::string& name) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "1")
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  };
  const auto decisions = [this](std::string outcome) {
    return Value("kubenexus_gang_scheduling_decisions_total",
                 {{"outcome", std::move(outcome)}, {"namespace", "default"}});
  };
  harness.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  add("a");
  harness.Pass(Duration::Seconds(11));
  EXPECT_EQ(decisions("insufficient_pods"), 1);
  EXPECT_THAT(Said(), Contains("\"Gang waits for its members\" gang=\"default/train\" minimum=2 "
                               "placed=0 pods=1 attempts=0\n"));
  add("b");
  harness.Schedule();
  EXPECT_EQ(decisions("insufficient_resources"), 1);
  EXPECT_EQ(Value("kubenexus_waiting_pods", {{"namespace", "default"}}), 2);
  EXPECT_THAT(Said(), Contains("\"Gang waits for room\" gang=\"default/train\" minimum=2 "
                               "placed=0 pods=2 attempts=1\n"));
  harness.Node(NodeBuilder("m").Has("cpu", "1").Has("pods", "10"));
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(decisions("success"), 1);
  EXPECT_THAT(Said(), Contains("\"Placed gang\" gang=\"default/train\" minimum=2 placed=2 pods=2 "
                               "attempts=2\n"));
  EXPECT_EQ(Value("kubenexus_pod_group_size_sum", {{"namespace", "default"}}), 2);
  EXPECT_EQ(Value("kubenexus_gang_completion_latency_seconds_count",
                  {{"namespace", "default"}, {"gang_size", "1-8"}}),
            std::nullopt)
      << "they are on their way";
  narrator_.Decided(clock_.now());
  harness.ScheduleAndBind();
  narrator_.Decided(clock_.now());
  EXPECT_EQ(Value("kubenexus_gang_completion_latency_seconds_count",
                  {{"namespace", "default"}, {"gang_size", "1-8"}}),
            1);
  EXPECT_EQ(GangAttempts("unschedulable"), 1);
  EXPECT_EQ(GangAttempts("scheduled"), 1);
  EXPECT_EQ(Value("scheduler_podgroup_scheduling_algorithm_duration_seconds_count"), 1)
      << "of two calls one was about a gang";
  EXPECT_EQ(Value("kubenexus_waiting_pods", {{"namespace", "default"}}), std::nullopt);
  metrics_.ReadFrom(nullptr);
}

TEST_F(NarratorTest, CountsAttemptsOfGangsForWhichOthersHaveToGo) {
  engine::testing::Harness harness(
      Options(&narrator_), engine::testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
  harness.Node(NodeBuilder("n").Has("cpu", "2").Has("pods", "10"));
  harness.Pod(PodBuilder("small").Asks("cpu", "2").On("n"));
  for (const std::string name : {"a", "b"}) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "1")
                    .Priority(10)
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness.Schedule();
  EXPECT_EQ(GangAttempts("waiting_on_preemption"), 1);
  EXPECT_EQ(GangAttempts("unschedulable"), std::nullopt);
  harness.FinishEviction("small");
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(GangAttempts("scheduled"), 1);
}

TEST_F(NarratorTest, CountsGangsThatHaveWaitedForTooLong) {
  engine::testing::Harness harness(Options(&narrator_), engine::testing::GangProfiles());
  metrics_.ReadFrom(&harness.engine());
  harness.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  for (const std::string name : {"a", "b"}) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "1")
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness.Schedule();
  harness.Pass(Duration::Seconds(59));
  const Labels where = {{"namespace", "default"}};
  EXPECT_EQ(Value("kubenexus_gang_starvation_preventions_total", where), std::nullopt);
  harness.Pass(Duration::Seconds(2));
  harness.Node(NodeBuilder("m").Has("cpu", "1").Has("pods", "10"));
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(Value("kubenexus_gang_starvation_preventions_total", where), 1) << "once for all of it";
  EXPECT_EQ(Value("kubenexus_starvation_preventions_total"), 1);
  harness.Pod(PodBuilder("single").Asks("cpu", "1"));
  harness.Schedule();
  harness.Pass(Duration::Seconds(61));
  harness.Node(NodeBuilder("o").Has("cpu", "1").Has("pods", "10"));
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(Value("kubenexus_gang_starvation_preventions_total", where), 1);
  EXPECT_EQ(Value("kubenexus_starvation_preventions_total"), 2);
  metrics_.ReadFrom(nullptr);
}

// A pod that runs so long.
k8s::Pod Job(const std::string& name, const std::string& cpu, const std::string& run) {
  k8s::Pod pod = PodBuilder(name).Asks("cpu", cpu);
  pod.meta.annotations = {{"scheduling.kubenexus.io/expected-duration", run}};
  return pod;
}

TEST_F(NarratorTest, SaysAndCountsWhatBecomesOfPromises) {
  engine::testing::Harness harness(Options(&narrator_),
                                   engine::testing::ProfilesWith({"BackfillScoring"}));
  metrics_.ReadFrom(&harness.engine());
  const auto decisions = [this](std::string outcome) {
    return Value("kubenexus_backfill_decisions_total", {{"outcome", std::move(outcome)}});
  };
  const std::string next = "kubenexus_backfill_next_start_timestamp_seconds";
  harness.Node(NodeBuilder("n").Has("cpu", "4").Has("pods", "10"));
  harness.Pod(Job("runs", "3", "100s"));
  harness.ScheduleAndBind();
  EXPECT_EQ(Value(next), 0);
  const Time promised = harness.now() + Duration::Seconds(100);
  harness.Pod(Job("large", "4", "50s"));
  harness.ScheduleAndBind();
  EXPECT_EQ(decisions("promised"), 1);
  EXPECT_EQ(Value(next), static_cast<double>(promised.ns) / 1e9);
  harness.Pod(Job("long", "1", "101s"));
  harness.Pod(Job("short", "1", "10s"));
  harness.ScheduleAndBind();
  EXPECT_EQ(decisions("held"), 1);
  EXPECT_EQ(decisions("passed"), 1);
  Said();
  harness.PodGone("short");
  harness.Pass(Duration::Seconds(40));
  harness.PodGone("runs");
  harness.Pass(Duration::Seconds(20));
  EXPECT_EQ(decisions("started"), 1);
  EXPECT_THAT(Said(),
              Contains(HasSubstr("\"Started what was promised a start\" pod=\"default/large\"")));
  EXPECT_EQ(Value("kubenexus_backfill_promise_error_seconds_count", {{"direction", "early"}}), 1);
  EXPECT_EQ(Value("kubenexus_backfill_promise_error_seconds_count", {{"direction", "late"}}),
            std::nullopt);
  metrics_.ReadFrom(nullptr);
}

TEST_F(NarratorTest, APromiseIsNotSaidToStandWhenItsOwnerIsGone) {
  engine::testing::Harness harness(Options(&narrator_),
                                   engine::testing::ProfilesWith({"BackfillScoring"}));
  metrics_.ReadFrom(&harness.engine());
  const std::string next = "kubenexus_backfill_next_start_timestamp_seconds";
  harness.Node(NodeBuilder("n").Has("cpu", "4").Has("pods", "10"));
  harness.Pod(Job("runs", "3", "100s"));
  harness.ScheduleAndBind();
  harness.Pod(Job("large", "4", "50s"));
  harness.ScheduleAndBind();
  EXPECT_GT(Value(next).value_or(0), 0);
  harness.PodGone("large");
  EXPECT_EQ(Value(next), 0);
  metrics_.ReadFrom(nullptr);
}

TEST_F(NarratorTest, CountsReservationsThatHoldRoom) {
  engine::testing::Harness harness(Options(&narrator_), engine::testing::ReservingProfiles());
  metrics_.ReadFrom(&harness.engine());
  harness.Node(NodeBuilder("n").Has("cpu", "2").Has("pods", "10"));
  k8s::ResourceReservation made;
  made.meta.namespace_ = "default";
  for (const std::string name : {"first", "second", "too-large"}) {
    made.meta.name = made.meta.uid = name;
    const int cpu = name == "too-large" ? 9 : 1;
    made.places = {{"p", "", {{"cpu", k8s::Quantity::FromUnits(cpu)}}}};
    harness.Object(made);
  }
  harness.Schedule();
  const Labels where = {{"namespace", "default"}};
  EXPECT_EQ(Value("kubenexus_resource_reservations", where), 2);
  harness.Pass(Duration::Seconds(101));
  EXPECT_EQ(Value("kubenexus_resource_reservations", where), std::nullopt) << "their time is over";
  metrics_.ReadFrom(nullptr);
}

TEST_F(NarratorTest, SaysNothingOfAGangThatIsNoneAnyMoreWhenItsPodsAreBound) {
  engine::testing::Harness harness(Options(&narrator_), engine::testing::GangProfiles());
  harness.Node(NodeBuilder("n").Has("cpu", "2").Has("pods", "10"));
  for (const std::string name : {"a", "b"}) {
    harness.Pod(PodBuilder(name)
                    .Asks("cpu", "1")
                    .Label("pod-group.scheduling.kubenexus.io/name", "train")
                    .Label("pod-group.scheduling.kubenexus.io/min-available", "2"));
  }
  harness.Schedule();
  for (const std::string name : {"a", "b"}) harness.Pod(PodBuilder(name).Asks("cpu", "1"));
  harness.ScheduleAndBind();
  EXPECT_EQ(Value("kubenexus_gang_completion_latency_seconds_count",
                  {{"namespace", "default"}, {"gang_size", "1-8"}}),
            std::nullopt);
  EXPECT_EQ(Attempts("scheduled"), 2);
}

TEST_F(NarratorTest, SaysWhatBecameOfAPod) {
  harness_.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  narrator_.Handled(clock_.now());
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.ScheduleAndBind();
  harness_.Pod(PodBuilder("q").Asks("cpu", "1"));
  harness_.Schedule();
  EXPECT_THAT(
      Said(),
      ElementsAre("\"Bound pod\" pod=\"default/p\" node=\"n\" attempts=1\n",
                  "\"No node takes the pod; it waits\" pod=\"default/q\" "
                  "err=\"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
                  "preemption: 0/1 nodes are available: 1 No preemption victims "
                  "found for incoming pod.\"\n"));
  EXPECT_EQ(Attempts("scheduled"), 1);
  EXPECT_EQ(Attempts("unschedulable"), 1);
  EXPECT_EQ(Value("scheduler_preemption_attempts_total"), 1);
  EXPECT_EQ(Value("scheduler_event_handling_duration_seconds_count", {{"event", "NodeAdd"}}), 1);
  EXPECT_EQ(Value("scheduler_queue_incoming_pods_total",
                  {{"queue", "active"}, {"event", "UnschedulablePodAdd"}}),
            2);
}

TEST_F(NarratorTest, ErrorsAreSaidWhateverTheVerbosity) {
  log_.SetVerbosity(0);
  harness_.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  harness_.FinishBinding("p", "refused");
  EXPECT_THAT(Said(),
              ElementsAre("\"Could not schedule pod; it will be tried again\" err=\"running Bind "
                          "plugin \\\"DefaultBinder\\\": refused\" pod=\"default/p\"\n"));
  EXPECT_EQ(Attempts("error"), 1);
}

TEST_F(NarratorTest, AnAnswerThatWasLostIsNotTakenForMore) {
  harness_.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  harness_.Pod(PodBuilder("p").On("n"));
  harness_.FinishBinding("p", "timed out");
  EXPECT_THAT(Said(), ElementsAre("\"The binding of a pod failed, and it is bound all the same\" "
                                  "err=\"timed out\" pod=\"default/p\"\n"));
}

TEST_F(NarratorTest, SomebodyElseIsNoticed) {
  harness_.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  harness_.Pod(PodBuilder("there").Asks("cpu", "1").On("n"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1"));
  harness_.Pod(PodBuilder("p").Asks("cpu", "1").On("n"));
  EXPECT_EQ(Value("kubenexus_foreign_binds_total"), 1);
  EXPECT_EQ(Value("kubenexus_overcommits_total"), 1);
  EXPECT_THAT(Said(), ElementsAre(HasSubstr("pod=\"default/p\" node=\"n\""),
                                  HasSubstr("node=\"n\" pod=\"default/p\"")));
}

TEST_F(NarratorTest, CallsAreCountedUntilTheirAnswer) {
  std::vector<bool> answers;
  const auto done = narrator_.Timed(
      ApiCall::kBinding, [&](const Status& outcome) { answers.push_back(outcome.ok()); });
  EXPECT_EQ(Value("scheduler_pending_async_api_calls", {{"call_type", "pod_binding"}}), 1);
  done(InvalidError("no"));
  EXPECT_EQ(Value("scheduler_pending_async_api_calls", {{"call_type", "pod_binding"}}), 0);
  EXPECT_EQ(Value("scheduler_async_api_call_execution_duration_seconds_count",
                  {{"call_type", "pod_binding"}, {"result", "error"}}),
            1);
  EXPECT_THAT(answers, ElementsAre(false));
}

TEST_F(NarratorTest, CallsThatNobodyWaitsForAnyMoreAreNotPending) {
  {
    Narrator before{clock_, metrics_, log_};
    (void)before.Timed(ApiCall::kBinding, [](const Status&) {});
    (void)before.Timed(ApiCall::kEvent, [](const Status&) {});
    before.Timed(ApiCall::kEvent, [](const Status&) {})(Ok());
    EXPECT_EQ(Value("scheduler_pending_async_api_calls", {{"call_type", "event_create"}}), 1);
  }
  for (const char* call : {"pod_binding", "event_create"}) {
    EXPECT_EQ(Value("scheduler_pending_async_api_calls", {{"call_type", call}}), 0);
  }
}

TEST_F(NarratorTest, WritesThatFailNameTheirPodGroup) {
  const engine::PatchPodGroup patch{"default", "train", "u", "v1alpha2", {}};
  narrator_.GroupStatusWritten(patch, Ok());
  narrator_.GroupStatusWritten(patch, Error{ErrorKind::kNotFound, "gone", {}});
  narrator_.GroupStatusWritten(patch, Error{ErrorKind::kForbidden, "jane may not", {}});
  EXPECT_THAT(Said(), IsEmpty());
  narrator_.GroupStatusWritten(patch, InvalidError("no"));
  EXPECT_THAT(Said(), ElementsAre("\"Could not write the status of a pod group\" err=\"no\" "
                                  "podGroup=\"default/train\"\n"));
}

TEST_F(NarratorTest, WritesThatFailNameTheirPod) {
  const engine::PodRef pod{"default", "p", "u"}, other{"default", "vip", "v"};
  narrator_.StatusWritten(pod, Ok());
  narrator_.EventWritten(Ok());
  EXPECT_THAT(Said(), IsEmpty());
  narrator_.StatusWritten(pod, InvalidError("no"));
  narrator_.EventWritten(InvalidError("no"));
  const engine::EvictPod evict{.pod = pod, .preemptor = other, .reason = "", .message = ""};
  narrator_.EvictionsPlanned({.preemptor = other, .node = "n", .victims = {pod}});
  narrator_.Evicted(evict, Ok());
  narrator_.Evicted(evict, Error{ErrorKind::kNotFound, "gone", {}});
  narrator_.Evicted(evict, InvalidError("no"));
  narrator_.EventDropped();
  EXPECT_THAT(
      Said(),
      ElementsAre(
          "\"Could not write the status of a pod\" err=\"no\" pod=\"default/p\"\n",
          "\"Could not write an event\" err=\"no\"\n",
          "\"Pods have to go for a more important one\" preemptor=\"default/vip\" node=\"n\" "
          "victims=1\n",
          "\"Evicted pod\" preemptor=\"default/vip\" victim=\"default/p\"\n",
          "\"A pod that had to go is gone already\" preemptor=\"default/vip\" "
          "victim=\"default/p\"\n",
          "\"Could not evict pod\" err=\"no\" preemptor=\"default/vip\" victim=\"default/p\"\n",
          "\"Events are dropped\" err=\"the API server is too slow\"\n"));
  EXPECT_EQ(Value("kubenexus_events_dropped_total"), 1);
}

TEST_F(NarratorTest, SaysNothingOfWritesThatItHasNoRightTo) {
  log_.SetVerbosity(0);
  const Error forbidden{ErrorKind::kForbidden, "jane may not", {}};
  const engine::PodRef pod{"default", "p", "u"};
  narrator_.StatusWritten(pod, forbidden);
  narrator_.EventWritten(forbidden);
  narrator_.Evicted({.pod = pod, .preemptor = pod, .reason = "", .message = ""}, forbidden);
  harness_.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
  harness_.Pod(PodBuilder("p"));
  harness_.Schedule();
  narrator_.Timed(ApiCall::kBinding, [&](const Status& outcome) {
    harness_.FinishBinding("p", outcome.error().message);
  })(forbidden);
  EXPECT_THAT(Said(), IsEmpty());
  EXPECT_EQ(Attempts("error"), 1);
}

TEST_F(NarratorTest, WatchesAndWhatTheyBring) {
  narrator_.WatchOpened("/api/v1/pods", true);
  narrator_.WatchOpened("/api/v1/pods", false);
  narrator_.WatchFailed("/api/v1/pods");
  narrator_.WatchFailed("/api/v1/pods");
  narrator_.WatchTrouble("/api/v1/pods", InvalidError("cut"));
  for (const bool news : {true, false}) {
    narrator_.ObjectRefused(
        {"v1", "Pod", "default", "p", "u", InvalidError("spec: bad", {"", 1, 953})}, news);
  }
  narrator_.Synced(3, 4);
  EXPECT_EQ(Value("kubenexus_watches_opened_total", {{"resource", "pods"}, {"mode", "list"}}), 1);
  EXPECT_EQ(Value("kubenexus_watches_opened_total", {{"resource", "pods"}, {"mode", "resume"}}), 1);
  EXPECT_EQ(Value("kubenexus_watch_errors_total", {{"resource", "pods"}}), 2);
  EXPECT_EQ(Value("kubenexus_refused_objects_total", {{"kind", "Pod"}}), 2);
  EXPECT_THAT(Said(), ElementsAre("\"Watch failed\" err=\"cut\" path=\"/api/v1/pods\"\n",
                                  "\"Left out an object that cannot be understood\" "
                                  "err=\"spec: bad\" kind=\"Pod\" object=\"default/p\"\n",
                                  "\"Knows the cluster\" nodes=3 pods=4\n"));
}

}  // namespace
}  // namespace knx::live
