// Every metric of the daemon, once. Those that kube-scheduler has too are called as there, with its
// labels and buckets, so that dashboards and alerts go on working; docs/metrics.md says which those
// are, and a test compares it with this.
#pragma once

#include "observe/exposition.h"

namespace knx::observe::table {

using enum MetricType;

// ---- of kube-scheduler ----

inline constexpr Buckets kAttemptBuckets{0.001, 2, 15};
inline constexpr Buckets kEventBuckets{0.0001, 2, 12};

inline constexpr MetricSpec kScheduleAttempts{
    "scheduler_schedule_attempts_total",
    kCounter,
    "Attempts to place a pod, by how they ended: scheduled, unschedulable (no node takes it now), "
    "error (something went wrong).",
    {"result", "profile"}};
inline constexpr MetricSpec kAttemptDuration{
    "scheduler_scheduling_attempt_duration_seconds",
    kHistogram,
    "From taking a pod out of the queue to the answer to its binding, or to knowing why not.",
    {"result", "profile"},
    kAttemptBuckets};
inline constexpr MetricSpec kAlgorithmDuration{
    "scheduler_scheduling_algorithm_duration_seconds",
    kHistogram,
    "Deciding about one pod, without what is written afterwards.",
    {},
    kAttemptBuckets};
inline constexpr MetricSpec kSliDuration{
    "scheduler_pod_scheduling_sli_duration_seconds",
    kHistogram,
    "From the moment a pod could first be taken from the queue to its binding, over all attempts.",
    {"attempts"},
    {0.01, 2, 20}};
inline constexpr MetricSpec kPodAttempts{"scheduler_pod_scheduling_attempts",
                                         kHistogram,
                                         "Attempts that it took to bind a pod.",
                                         {},
                                         {1, 2, 5}};
inline constexpr MetricSpec kAfterFlush{
    "scheduler_pod_scheduled_after_flush_total", kCounter,
    "Pods bound in an attempt that was made only because they had waited for too long."};
inline constexpr MetricSpec kPreemptionAttempts{
    "scheduler_preemption_attempts_total", kCounter,
    "Times that room was looked for by asking other pods to go."};
inline constexpr MetricSpec kPreemptionVictims{
    "scheduler_preemption_victims", kHistogram, "Pods that have to go for one pod.", {}, {1, 2, 7}};
inline constexpr MetricSpec kGangAttempts{
    "scheduler_podgroup_schedule_attempts_total",
    kCounter,
    "Attempts to place a gang, by how they ended: scheduled (all that must start have a place), "
    "unschedulable, waiting_on_preemption (others have to go first), error (something went wrong).",
    {"result", "profile"}};
inline constexpr MetricSpec kGangAttemptDuration{
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    kHistogram,
    "From taking a gang out of the queue to places for it, or to knowing why not.",
    {"result", "profile"},
    kAttemptBuckets};
inline constexpr MetricSpec kGangAlgorithmDuration{
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    kHistogram,
    "Deciding about one gang, without what is written afterwards.",
    {},
    kAttemptBuckets};
inline constexpr MetricSpec kPendingPods{
    "scheduler_pending_pods",
    kGauge,
    "Waiting pods: active (may be taken now), backoff, unschedulable (tried and rejected), gated "
    "(held back before any attempt).",
    {"queue"}};
inline constexpr MetricSpec kIncomingPods{
    "scheduler_queue_incoming_pods_total",
    kCounter,
    "Pods that came to a place in the queue, and because of what.",
    {"queue", "event"}};
inline constexpr MetricSpec kUnschedulablePods{
    "scheduler_unschedulable_pods",
    kGauge,
    "Waiting pods by the plugin that rejected them or holds them back; a pod counts for each of "
    "them.",
    {"plugin", "profile"}};
inline constexpr MetricSpec kCacheSize{
    "scheduler_cache_size",
    kGauge,
    "What is known of the cluster: nodes, pods that have a node, and those of them whose binding "
    "is not confirmed yet.",
    {"type"}};
inline constexpr MetricSpec kEventHandling{
    "scheduler_event_handling_duration_seconds",
    kHistogram,
    "Taking in a change of the cluster that may make waiting pods fit.",
    {"event"},
    kEventBuckets};
inline constexpr MetricSpec kApiCalls{"scheduler_async_api_call_execution_total",
                                      kCounter,
                                      "Answers to what was written to the API server.",
                                      {"call_type", "result"}};
inline constexpr MetricSpec kApiCallDuration{
    "scheduler_async_api_call_execution_duration_seconds",
    kHistogram,
    "From wanting something written to the answer of the API server.",
    {"call_type", "result"},
    kAttemptBuckets};
inline constexpr MetricSpec kApiCallsPending{"scheduler_pending_async_api_calls",
                                             kGauge,
                                             "What is to be written and was not answered yet.",
                                             {"call_type"}};

// ---- of every component of Kubernetes ----

inline constexpr MetricSpec kLeader{
    "leader_election_master_status", kGauge, "1: this one is the leader.", {"name"}};
inline constexpr MetricSpec kRequests{
    "rest_client_requests_total",
    kCounter,
    "Requests to the API server, watches left out. The code is <error> without an answer.",
    {"code", "method", "host"}};
inline constexpr MetricSpec kProcessCpu{"process_cpu_seconds_total", kCounter,
                                        "CPU time used, by the program and for it."};
inline constexpr MetricSpec kProcessResident{"process_resident_memory_bytes", kGauge,
                                             "Memory that is really in use."};
inline constexpr MetricSpec kProcessVirtual{"process_virtual_memory_bytes", kGauge,
                                            "Memory that is addressed."};
inline constexpr MetricSpec kProcessFds{"process_open_fds", kGauge, "Open files and sockets."};
inline constexpr MetricSpec kProcessMaxFds{"process_max_fds", kGauge,
                                           "How many files and sockets may be open."};
inline constexpr MetricSpec kProcessStart{"process_start_time_seconds", kGauge,
                                          "When the program began, in seconds since 1970."};

// ---- ours ----

// Not kubernetes_build_info: whoever compares the versions of a cluster's components would find a
// stranger among them.
inline constexpr MetricSpec kBuildInfo{"kubenexus_build_info",
                                       kGauge,
                                       "Always 1; which program this is.",
                                       {"version", "compiler", "platform"}};
inline constexpr MetricSpec kRefusedObjects{
    "kubenexus_refused_objects_total",
    kCounter,
    "Objects that could not be understood and were left out.",
    {"kind"}};
inline constexpr MetricSpec kWatchesOpened{
    "kubenexus_watches_opened_total",
    kCounter,
    "Watches that were opened, the first of each included. mode: list (everything is told anew, by "
    "the watch or by lists before it), resume (from where the last one ended).",
    {"resource", "mode"}};
inline constexpr MetricSpec kWatchTroubles{
    "kubenexus_watch_errors_total",
    kCounter,
    "Times that a watch or list ended for a bad reason (refused, cut off, over within a second) or "
    "brought what is no message.",
    {"resource"}};
inline constexpr MetricSpec kOvercommittedNodes{"kubenexus_overcommitted_nodes", kGauge,
                                                "Nodes whose pods ask for more than there is."};
inline constexpr MetricSpec kOvercommits{
    "kubenexus_overcommits_total", kCounter,
    "Pods that were bound to a node which then had less than its pods ask for, by us or by others: "
    "what several schedulers can do together."};
inline constexpr MetricSpec kForeignBinds{
    "kubenexus_foreign_binds_total", kCounter,
    "Pods of ours that somebody else bound before our binding was sent; ours was given up."};
inline constexpr MetricSpec kGangDecisions{
    "kubenexus_gang_scheduling_decisions_total",
    kCounter,
    "What became of gangs: success (placed), insufficient_pods (members are missing), "
    "insufficient_resources (no room for all that must start), timeout (too few of it have a place "
    "after the grace).",
    {"outcome", "namespace"}};
inline constexpr MetricSpec kGangSize{"kubenexus_pod_group_size",
                                      kHistogram,
                                      "Pods of a gang that were placed together.",
                                      {"namespace"},
                                      {1, 2, 11}};
inline constexpr MetricSpec kGangWaiting{
    "kubenexus_gang_waiting_time_seconds",
    kHistogram,
    "From the first member of a gang that was seen until the gang was placed.",
    {"namespace"},
    {0.01, 2, 22}};
inline constexpr MetricSpec kGangCompletion{
    "kubenexus_gang_completion_latency_seconds",
    kHistogram,
    "From the first member of a gang that was seen until all that were placed together were bound; "
    "gangs of which a binding failed are left out.",
    {"namespace", "gang_size"},
    {0.01, 2, 22}};
inline constexpr MetricSpec kStarved{
    "kubenexus_starvation_preventions_total", kCounter,
    "Pods and gangs that had waited for so long that they were put before others of their "
    "priority."};
inline constexpr MetricSpec kStarvedGangs{
    "kubenexus_gang_starvation_preventions_total",
    kCounter,
    "Gangs that had waited for so long that they were put before others of their priority.",
    {"namespace"}};
inline constexpr MetricSpec kWaitingMembers{
    "kubenexus_waiting_pods", kGauge, "Members of gangs that wait for a place.", {"namespace"}};
inline constexpr MetricSpec kReservations{"kubenexus_resource_reservations",
                                          kGauge,
                                          "ResourceReservations that hold room.",
                                          {"namespace"}};
inline constexpr MetricSpec kBackfillDecisions{
    "kubenexus_backfill_decisions_total",
    kCounter,
    "Pods and gangs with backfill: promised (a start, for the first time), started (as promised or "
    "not), passed (somebody who was promised a start), held (would have delayed one).",
    {"outcome"}};
inline constexpr MetricSpec kPromiseError{
    "kubenexus_backfill_promise_error_seconds",
    kHistogram,
    "How far from the start that was promised first a pod or gang started, by direction: late or "
    "early. Promises without a time are left out.",
    {"direction"},
    {0.1, 4, 12}};
inline constexpr MetricSpec kNextPromise{
    "kubenexus_backfill_next_start_timestamp_seconds", kGauge,
    "The earliest start that is promised to somebody who waits; 0 if none is."};
inline constexpr MetricSpec kEventsDropped{
    "kubenexus_events_dropped_total", kCounter,
    "Events for people that were not written because the API server was too slow."};
inline constexpr MetricSpec kEngineBytes{"kubenexus_engine_bytes",
                                         kGauge,
                                         "Memory of the scheduling core, by what it is for.",
                                         {"part"}};
inline constexpr MetricSpec kLoopLag{
    "kubenexus_event_loop_lag_seconds",
    kHistogram,
    "How late the event loop does what was due; looked at once a second.",
    {},
    {0.0001, 2, 16}};

// ---- /metrics/resources ----

inline constexpr MetricSpec kPodRequest{
    "kube_pod_resource_request",
    kGauge,
    "What a pod asks for, as scheduling counts it, by resource and unit.",
    {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"}};
inline constexpr MetricSpec kPodLimit{
    "kube_pod_resource_limit",
    kGauge,
    "What a pod may use at most, by resource and unit.",
    {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"}};

}  // namespace knx::observe::table
