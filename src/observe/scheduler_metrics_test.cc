#include "observe/scheduler_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cluster/testing/builders.h"
#include "engine/testing/harness.h"
#include "observe/pod_resources.h"
#include "observe/testing/prometheus_text.h"

namespace knx::observe {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using engine::AttemptResult;
using engine::QueuePlace;
using framework::EventKind;
using testing::Labels;
using testing::PrometheusText;

PrometheusText Read(std::string_view text) {
  auto read = PrometheusText::Read(text);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().ToString()) << text;
  return *std::move(read);
}

engine::EndedAttempt Ended(AttemptResult result, std::uint32_t number) {
  return {.pod = {}, .result = result, .number = number, .ready = {}, .began = {}, .message = ""};
}

TEST(SchedulerMetrics, CountsAttemptsByResultAndProfile) {
  SchedulerMetrics metrics;
  const Duration took = Duration::Milliseconds(3), since = Duration::Seconds(2);
  metrics.AttemptEnded("a", Ended(AttemptResult::kUnschedulable, 1), took, since);
  metrics.AttemptEnded("a", Ended(AttemptResult::kScheduled, 2), took, since);
  metrics.AttemptEnded("b", Ended(AttemptResult::kError, 1), took, since);
  engine::EndedAttempt late = Ended(AttemptResult::kScheduled, 40);
  late.flushed = true;
  metrics.AttemptEnded("b", late, took, since);
  const PrometheusText read = Read(metrics.Text());
  const auto attempts = [&](std::string result, std::string profile) {
    return read.Find("scheduler_schedule_attempts_total",
                     {{"result", std::move(result)}, {"profile", std::move(profile)}});
  };
  EXPECT_EQ(attempts("scheduled", "a"), 1);
  EXPECT_EQ(attempts("unschedulable", "a"), 1);
  EXPECT_EQ(attempts("error", "a"), 0);
  EXPECT_EQ(attempts("error", "b"), 1);
  const std::string duration = "scheduler_scheduling_attempt_duration_seconds_bucket";
  const auto within = [&](std::string le) {
    return read.Find(duration, {{"result", "scheduled"}, {"profile", "a"}, {"le", std::move(le)}});
  };
  EXPECT_EQ(within("0.002"), 0);
  EXPECT_EQ(within("0.004"), 1);
  EXPECT_EQ(within("16.384"), 1);
  const std::string sli = "scheduler_pod_scheduling_sli_duration_seconds_sum";
  EXPECT_EQ(read.Find(sli, {{"attempts", "2"}}), 2);
  EXPECT_EQ(read.Find(sli, {{"attempts", "15+"}}), 2);
  EXPECT_EQ(read.Find(sli, {{"attempts", "1"}}), std::nullopt);
  EXPECT_EQ(read.Find("scheduler_pod_scheduling_attempts_sum"), 42);
  EXPECT_EQ(read.Find("scheduler_pod_scheduled_after_flush_total"), 1);
}

TEST(SchedulerMetrics, NamesThatOthersChooseAreBounded) {
  BoundedNames names;
  for (std::size_t i = 0; i < BoundedNames::kMost; ++i) {
    EXPECT_EQ(names.Name(std::to_string(i)), std::to_string(i));
  }
  EXPECT_EQ(names.Name("one more"), BoundedNames::kOther);
  EXPECT_EQ(names.Name("7"), "7");
}

TEST(SchedulerMetrics, NamespacesAreBoundedHoweverOftenTheyAreRead) {
  engine::testing::Harness harness({}, engine::testing::ReservingProfiles());
  harness.Node(NodeBuilder("n").Has("cpu", "1000").Has("pods", "1000"));
  SchedulerMetrics metrics;
  metrics.ReadFrom(&harness.engine());
  k8s::ResourceReservation made;
  made.meta.name = "room";
  made.places = {{"p", "", {{"cpu", k8s::Quantity::FromUnits(1)}}}};
  std::set<Labels> seen;
  for (std::size_t i = 0; i < BoundedNames::kMost + 10; ++i) {
    made.meta.namespace_ = made.meta.uid = "team-" + std::to_string(i);
    harness.Object(made);
    harness.Schedule();
    const PrometheusText read = Read(metrics.Text());
    const auto& family = read.families().at("kubenexus_resource_reservations");
    for (const auto& [labels, value] : family.samples.begin()->second) seen.insert(labels);
    harness.ObjectGone(made);
  }
  EXPECT_EQ(seen.size(), BoundedNames::kMost + 1);
  EXPECT_TRUE(seen.contains(Labels{{"namespace", "<other>"}}));
}

TEST(SchedulerMetrics, CountsWhatComesToTheQueueAndWhy) {
  SchedulerMetrics metrics;
  metrics.Queued(QueuePlace::kActive, EventKind::kOwnAdd);
  metrics.Queued(QueuePlace::kErrorBackoff, EventKind::kAttemptFailure);
  metrics.Queued(QueuePlace::kBackoff, EventKind::kAttemptFailure);
  metrics.Queued(QueuePlace::kGated, EventKind::kOwnAdd);
  const PrometheusText read = Read(metrics.Text());
  const auto count = [&](std::string queue, std::string event) {
    return read.Find("scheduler_queue_incoming_pods_total",
                     {{"queue", std::move(queue)}, {"event", std::move(event)}});
  };
  EXPECT_EQ(count("active", "UnschedulablePodAdd"), 1);
  EXPECT_EQ(count("backoff", "ScheduleAttemptFailure"), 2);
  EXPECT_EQ(count("unschedulable", "UnschedulablePodAdd"), 1);
}

TEST(SchedulerMetrics, APromiseWithoutATimeIsNeitherKeptNorBroken) {
  SchedulerMetrics metrics;
  using enum engine::BackfillOutcome;
  metrics.Backfilled({{}, kStarted, Duration::Seconds(3)});
  metrics.Backfilled({{}, kStarted, Duration{}});
  metrics.Backfilled({{}, kStarted, Duration::Seconds(-40)});
  metrics.Backfilled({{}, kStarted, std::nullopt});
  metrics.Backfilled({{}, kHeld});
  const PrometheusText read = Read(metrics.Text());
  const std::string decisions = "kubenexus_backfill_decisions_total";
  EXPECT_EQ(read.Find(decisions, {{"outcome", "started"}}), 4);
  EXPECT_EQ(read.Find(decisions, {{"outcome", "held"}}), 1);
  const std::string error = "kubenexus_backfill_promise_error_seconds";
  EXPECT_EQ(read.Find(error + "_count", {{"direction", "late"}}), 2);
  EXPECT_EQ(read.Find(error + "_sum", {{"direction", "late"}}), 3);
  EXPECT_EQ(read.Find(error + "_count", {{"direction", "early"}}), 1);
  EXPECT_EQ(read.Find(error + "_sum", {{"direction", "early"}}), 40);
}

TEST(SchedulerMetrics, CountsCallsFromBeginningToEnd) {
  SchedulerMetrics metrics;
  metrics.CallBegan(ApiCall::kBinding);
  metrics.CallBegan(ApiCall::kBinding);
  metrics.CallEnded(ApiCall::kBinding, false, Duration::Milliseconds(1));
  metrics.RequestAnswered("POST", "api:443", 409);
  metrics.RequestAnswered("POST", "api:443", 0);
  const PrometheusText read = Read(metrics.Text());
  EXPECT_EQ(read.Find("scheduler_pending_async_api_calls", {{"call_type", "pod_binding"}}), 1);
  const auto ended = [&](std::string result) {
    return read.Find("scheduler_async_api_call_execution_total",
                     {{"call_type", "pod_binding"}, {"result", std::move(result)}});
  };
  EXPECT_EQ(ended("success"), 0);
  EXPECT_EQ(ended("error"), 1);
  const auto requests = [&](std::string code) {
    return read.Find("rest_client_requests_total",
                     {{"code", std::move(code)}, {"method", "POST"}, {"host", "api:443"}});
  };
  EXPECT_EQ(requests("409"), 1);
  EXPECT_EQ(requests("<error>"), 1);
}

TEST(SchedulerMetrics, ReadsTheRestFromTheEngine) {
  SchedulerMetrics metrics;
  {
    engine::testing::Harness harness;
    harness.Node(NodeBuilder("n").Has("cpu", "1").Has("pods", "10"));
    harness.Pod(PodBuilder("there").Asks("cpu", "1").On("n"));
    harness.Pod(PodBuilder("too-much").Asks("cpu", "1").On("n"));
    harness.Pod(PodBuilder("gated").Gate("g"));
    harness.Pod(PodBuilder("large").Asks("cpu", "1"));
    harness.Pod(PodBuilder("small"));
    harness.Schedule();
    metrics.ReadFrom(&harness.engine());
    const PrometheusText read = Read(metrics.Text());
    const auto pending = [&](std::string queue) {
      return read.Find("scheduler_pending_pods", {{"queue", std::move(queue)}});
    };
    EXPECT_EQ(pending("active"), 0);
    EXPECT_EQ(pending("gated"), 1);
    EXPECT_EQ(pending("unschedulable"), 1);
    EXPECT_EQ(pending("backoff"), 0);
    EXPECT_EQ(read.Find("scheduler_unschedulable_pods",
                        {{"plugin", "NodeResourcesFit"}, {"profile", "default-scheduler"}}),
              1);
    EXPECT_EQ(read.Find("scheduler_unschedulable_pods",
                        {{"plugin", "SchedulingGates"}, {"profile", "default-scheduler"}}),
              1);
    EXPECT_EQ(read.Find("scheduler_cache_size", {{"type", "nodes"}}), 1);
    EXPECT_EQ(read.Find("scheduler_cache_size", {{"type", "pods"}}), 3);
    EXPECT_EQ(read.Find("scheduler_cache_size", {{"type", "assumed_pods"}}), 1);
    EXPECT_EQ(read.Find("kubenexus_overcommitted_nodes"), 1);
    EXPECT_GT(read.Find("kubenexus_engine_bytes", {{"part", "queue"}}).value_or(0), 0);
    metrics.ReadFrom(nullptr);
  }
  EXPECT_FALSE(Read(metrics.Text()).families().contains("scheduler_pending_pods"));
}

TEST(PodResources, SayWhatEveryPodAsksFor) {
  cluster::State state;
  EXPECT_EQ(PodResourcesText(state), "");
  state.UpsertNode(NodeBuilder("n").Has("cpu", "4"));
  state.AddPod(PodBuilder("web")
                   .Asks("cpu", "250m")
                   .Asks("memory", "1Gi")
                   .Asks("hugepages-2Mi", "4Mi")
                   .Asks("nvidia.com/gpu", "2")
                   .Priority(7)
                   .On("n"));
  state.AddPod(PodBuilder("waits").Asks("cpu", "2"));
  state.AddPod(PodBuilder("wants-nothing"));
  const PrometheusText read = Read(PodResourcesText(state));
  const auto asks = [&](std::string pod, std::string node, std::string priority,
                        std::string resource, std::string unit) {
    return read.Find("kube_pod_resource_request", {{"namespace", "default"},
                                                   {"pod", std::move(pod)},
                                                   {"node", std::move(node)},
                                                   {"scheduler", "default-scheduler"},
                                                   {"priority", std::move(priority)},
                                                   {"resource", std::move(resource)},
                                                   {"unit", std::move(unit)}});
  };
  EXPECT_EQ(asks("web", "n", "7", "cpu", "cores"), 0.25);
  EXPECT_EQ(asks("web", "n", "7", "memory", "bytes"), 1 << 30);
  EXPECT_EQ(asks("web", "n", "7", "hugepages-2Mi", "bytes"), 4 << 20);
  EXPECT_EQ(asks("web", "n", "7", "nvidia.com/gpu", ""), 2);
  EXPECT_EQ(asks("waits", "", "0", "cpu", "cores"), 2);
  EXPECT_EQ(read.families().at("kube_pod_resource_request").samples.begin()->second.size(), 5U);
  EXPECT_FALSE(read.families().contains("kube_pod_resource_limit"));
}

TEST(PodResources, SayTheLimitsOfPodsThatDifferInNothingElse) {
  cluster::State state;
  for (const std::string amount : {"1", "2"}) {
    k8s::Pod pod = PodBuilder("p" + amount).Asks("cpu", "500m");
    cluster::testing::SetAmount(pod.spec.containers[0].resources.limits, "cpu", amount);
    cluster::testing::SetAmount(pod.spec.containers[0].resources.limits, "x.io/only", "3");
    state.AddPod(pod);
  }
  EXPECT_EQ(state.classes().size(), 1U);
  const PrometheusText read = Read(PodResourcesText(state));
  const auto limit = [&](std::string pod, std::string resource, std::string unit) {
    return read.Find("kube_pod_resource_limit", {{"namespace", "default"},
                                                 {"pod", std::move(pod)},
                                                 {"node", ""},
                                                 {"scheduler", "default-scheduler"},
                                                 {"priority", "0"},
                                                 {"resource", std::move(resource)},
                                                 {"unit", std::move(unit)}});
  };
  EXPECT_EQ(limit("p1", "cpu", "cores"), 1);
  EXPECT_EQ(limit("p2", "cpu", "cores"), 2);
  EXPECT_EQ(limit("p1", "x.io/only", ""), 3);
}

}  // namespace
}  // namespace knx::observe
