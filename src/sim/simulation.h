// A run of the embedded cluster from texts to results: what a command line needs, and nothing of
// how it works. Does no I/O and asks no clock: files come in as texts, what happens goes out
// through the functions of the request. Bad input is an error with file, line and field; an
// expectation that is not met or an invariant that breaks is part of the result, because by then
// there is something to show.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "observe/explanation.h"

namespace knx::sim {

struct TextFile {
  std::string name;  // for errors
  std::string text;
};

// How a run stands. Times are counted from its beginning.
struct SimulationProgress {
  Duration now;
  std::int64_t nodes = 0;
  std::int64_t created = 0;    // pods ever created
  std::int64_t placed = 0;     // of those, ever bound to a node
  std::int64_t waiting = 0;    // there now, without a node, not finished
  std::int64_t running = 0;    // there now, on a node, not finished
  std::int64_t finished = 0;   // ever succeeded or failed
  std::int64_t decisions = 0;  // of the scheduler: bindings and refusals
};

inline constexpr int kMaxThreads = 256;

// How closely a run is watched.
enum class Checking {
  kOff,
  kIncremental,  // what can be seen from each step alone
  // The same, and a full recount: at every step below 20 nodes and up to 300 pods, otherwise at
  // every 100th, or later where so much is to be counted that the recounts would cost more than the
  // run, and at the end.
  kSparing,
  kAsInTests,  // the same, and never later than at every 100th step
};

struct SimulationRequest {
  // Manifests, everything of which is there from the beginning; or one scenario (a file with
  // `scenario:`).
  std::vector<TextFile> files;
  // A KubeSchedulerConfiguration. Wins over that of a scenario; without either, the defaults.
  std::optional<TextFile> config;
  // Ends the run, counted from its beginning. Without it a scenario ends with its last step, and
  // manifests when nothing changes any more, at the latest after an hour.
  std::optional<Duration> until;
  std::optional<std::uint64_t> seed;  // wins over that of a scenario; 1 without either
  std::size_t variant = 0;            // which of those that a scenario has
  int threads = 1;
  Checking checking = Checking::kAsInTests;
  // A gang or pod ("default/train") of which is to be said, at the end, why it waits. Refused if
  // there is none of that name.
  std::optional<std::string> explain;
  bool keep_log = true;  // without, the result has the hash of the decision log and no lines

  // Reads what a scenario names (config_file, manifests), relative to the scenario. Refused if not
  // set.
  std::function<Result<std::string>(std::string_view path)> read_file;
  // Gets the input of the scheduler as JSON, one line (without its end) per call, from which it can
  // be replayed.
  std::function<void(std::string_view line)> record;
  // Called often, at least once for every slice of decisions; who listens decides how often to show
  // something. False ends the run here.
  std::function<bool(const SimulationProgress&)> progress;
};

struct PodOutcome {
  std::string namespace_, name, uid, scheduler_name;
  std::string owner;  // what made it: "Job/train", "Deployment/web"; empty: nothing did
  std::int32_t priority = 0;
  std::string node;   // empty: has none
  std::string phase;  // "Pending", "Running", "Succeeded", "Failed"
  bool terminating = false;
  // The PodScheduled condition; what it says while the pod has no node is why it waits.
  std::string condition_status, reason, message;
  std::vector<std::pair<std::string, std::string>> requests;  // as written: {"cpu", "500m"}
  Duration created;
  std::optional<Duration> placed, started, finished;
};

// A ResourceReservation, or what is kept for pods that a driver has yet to make.
struct ReservationOutcome {
  using Amounts = std::vector<std::pair<std::string, std::string>>;  // {"cpu", "4"}
  std::string namespace_, name;
  bool for_driver = false;
  std::string state;                     // "held", "waits for room", "used", …
  std::string why;                       // of one that waits for room
  std::int64_t places = 0;               // asked for
  Amounts held, used;                    // of all places together
  std::optional<Duration> begins, ends;  // nullopt: nobody looks at it
};

struct ResourceUse {
  std::string name;
  std::int64_t requested = 0, allocatable = 0;  // cpu in thousandths, the rest in whole units
};

struct NodeUse {
  std::string name;
  bool ready = true;
  bool unschedulable = false;
  std::vector<std::string> taints;     // "key=value:NoSchedule"
  std::int64_t pods = 0;               // that take room there
  std::vector<ResourceUse> resources;  // cpu, memory, the rest by name; pods among them
};

struct SimulationCounts {
  std::int64_t pods_created = 0, pods_placed = 0, pods_succeeded = 0, pods_failed = 0,
               pods_deleted = 0;
  std::int64_t pods_waiting = 0, pods_running = 0;  // at the end
  std::int64_t evictions = 0;        // pods asked to go by somebody other than their owner
  std::int64_t bind_failures = 0;    // answers, whatever the reason
  std::int64_t failed_attempts = 0;  // attempts that ended without a place
  std::int64_t faults = 0;           // requests that one struck
  std::int64_t scheduler_restarts = 0;
  std::int64_t steps = 0, full_checks = 0;
};

struct ExpectationResult {
  SourcePlace place;
  bool met = false;
  // False: the run ended before it could be judged. By its `until` it is then not met; if somebody
  // interrupted the run, that says nothing.
  bool reached = true;
  std::string expected;  // in words
  std::string found;     // in words; empty if it was met
};

struct Violation {
  std::string invariant;  // one of InvariantNames()
  Duration at;
  std::string what;
};

struct SimulationResult {
  std::string scenario, why;  // empty for manifests
  std::string variant;        // "n=4, order=shuffled"; empty: of a scenario that has none
  std::size_t variants = 1;   // so many it has
  std::uint64_t seed = 0;
  Duration ended;
  bool settled = false;           // nothing would change any more
  bool stopped = false;           // by the progress function
  bool cut = false;               // after the longest that manifests are run for by themselves
  std::int64_t steps_undone = 0;  // of the scenario: the run ended before them; in the warnings too

  std::vector<std::string> profiles;             // of the scheduler, by their scheduler names
  std::vector<PodOutcome> pods;                  // there at the end, by namespace and name
  std::vector<NodeUse> nodes;                    // by name
  std::vector<ReservationOutcome> reservations;  // there at the end, by namespace and name
  SimulationCounts counts;
  std::vector<ExpectationResult> expectations;
  std::optional<Violation> violation;  // the run ends with the first
  std::vector<std::string> warnings;   // e.g. plugins of the configuration that are not built yet

  std::optional<observe::Explanation> explanation;  // if one was asked for

  std::vector<std::string> log;  // every action of the scheduler, a line each
  std::uint64_t log_lines = 0;
  std::uint64_t hash = 0;  // of those lines: equal input and seed give equal hashes

  // Nothing broke and every expectation was met, but for those that an interruption came before.
  [[nodiscard]] bool ok() const;
};

Result<SimulationResult> Simulate(const SimulationRequest& request);

// "0123456789abcdef"
std::string FormatHash(std::uint64_t hash);

}  // namespace knx::sim
