// The plugin contract. The extension points are kube-scheduler's; Filter and Score look at many
// nodes at once.
//
// A plugin prepares itself once for a class of pods (PreFilter, PreScore) and is then asked about
// rows of nodes, as often as they change. It says what its answer depends on, so that it is asked
// again only about what changed. Plugins are stateless between calls, know framework/ and cluster/,
// and never another plugin.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cluster/state.h"
#include "framework/cluster_event.h"
#include "framework/outcome.h"

namespace knx::framework {

// The pod to be placed. `id` is invalid when a class is asked about in general.
struct PodView {
  const cluster::State& state;
  const cluster::PodClass& pod_class;
  cluster::PodId id;
  // How it stands to other pods (State::RelationOf). Needed by PreFilter and PreScore only.
  cluster::RelationId relation = cluster::kUnrelated;
};

using NodeRows = std::span<const cluster::NodeRow>;

// What the answer about one node can change with. The narrower, the less often the plugin is asked.
enum class Scope : std::uint8_t {
  kFacts,    // the Node object
  kUsage,    // the Node object and the pods on that node
  kDomain,   // also the pods in the topology domains the node is in; kept from pod to pod
  kCluster,  // anything; asked anew for every pod
};

// Verdicts on the nodes of one range, in its order; nodes start as accepted.
struct Verdict {
  Code code = Code::kSuccess;
  std::uint8_t plugin = 0;   // set by the engine
  std::uint64_t detail = 0;  // what the plugin needs to know later to say why
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

class Verdicts {
 public:
  Verdicts(std::span<Verdict> out, std::uint8_t plugin) : out_(out), plugin_(plugin) {}
  // `i` is the position in the range. `code` is kUnschedulable or kUnresolvable.
  void Reject(std::size_t i, Code code, std::uint64_t detail = 0) {
    out_[i] = {code, plugin_, detail};
  }

 private:
  std::span<Verdict> out_;
  std::uint8_t plugin_;
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Events after which a pod that this plugin rejected may be worth another try, and whether one of
  // them is.
  [[nodiscard]] virtual EventSet events() const { return {}; }
  [[nodiscard]] virtual bool MayHelp(const ClusterEvent& event, const PodView& pod) const {
    (void)event, (void)pod;
    return true;
  }
};

// ---- before the queue ----

class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  // Anything but success keeps the pod out of the active queue until an event of this plugin.
  [[nodiscard]] virtual Outcome PreEnqueue(const PodView& pod) const = 0;
};

class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
};

// Who pods are for and what they do is to be found out by these rules, for all pods of the cluster.
class ClassifierPlugin {
 public:
  virtual ~ClassifierPlugin() = default;
  [[nodiscard]] virtual const cluster::ProfileRules& profile_rules() const = 0;
};

// ---- pods that start together ----

struct GangArgs {
  // How long members may be missing before that is said of those who are there.
  Duration straggler_wait = Duration::Seconds(10);
  // From the first binding of a gang to the last; what takes longer is reported.
  Duration grace = Duration::Seconds(60);
  // From finding places for a gang to the begin of its bindings: what takes longer is taken back.
  // Zero: as long as each step of each member may take.
  Duration attempt_timeout = {};
  // After the grace, those that have a place are evicted. A pod that nobody makes again is lost
  // then.
  bool evict_incomplete = false;
  // What operators put on their pods makes gangs of them.
  bool operator_gangs = false;
  // Who has waited for so long, a pod or a gang since its first member, counts for more in the
  // queue.
  Duration starvation_wait = Duration::Seconds(60);
  std::int32_t starvation_boost = 100;
  // Where neither the first attempt finds places nor a count shows that there are none: how often a
  // node may be asked about in the search for them.
  std::int32_t search_evaluations = 1000;
  // So much more count the pods of a tier, whoever finds out what it is.
  std::int32_t gold_boost = 20, silver_boost = 0, bronze_boost = 0;
};

// The engine is to place gangs as wholes, for the pods of profiles that have this.
class GangPlugin {
 public:
  virtual ~GangPlugin() = default;
  [[nodiscard]] virtual const GangArgs& gang_args() const = 0;
};

struct GangPreemptionArgs {
  // So long after others were evicted for a gang, nobody else is.
  Duration cooldown = Duration::Seconds(30);
};

// The engine is to evict less important pods for gangs that do not fit, for the pods of profiles
// that have this.
class GangPreemptionPlugin {
 public:
  virtual ~GangPreemptionPlugin() = default;
  [[nodiscard]] virtual const GangPreemptionArgs& gang_preemption_args() const = 0;
};

struct ReservationArgs {
  // How long a reservation lasts that does not say so.
  Duration lasts = Duration::Minutes(30);
  // How long the places are kept of pods that a driver has yet to make.
  Duration driver_hold = Duration::Minutes(10);
};

// The engine is to keep the room that ResourceReservations ask for, judged as for the pods of the
// profile that has this.
class ReservationPlugin {
 public:
  virtual ~ReservationPlugin() = default;
  [[nodiscard]] virtual const ReservationArgs& reservation_args() const = 0;
};

// ---- passing those who wait ----

enum class BackfillMode : std::uint8_t {
  kEasy,          // the first of those who wait is promised a start
  kConservative,  // so are those after it
};
enum class BackfillOrder : std::uint8_t {
  kFcfs,  // who came first
  kSjf,   // who runs shortest
  kBest,  // who has been overtaken for longest, as measured by what it needs
};

struct BackfillArgs {
  BackfillMode mode = BackfillMode::kEasy;
  BackfillOrder order = BackfillOrder::kFcfs;
  // With kBest: for how long a pod is overtaken by smaller ones, as a multiple of its run time and
  // its devices (or CPUs).
  double patience = 5;
  // A promise stands, also when somebody comes who is before its owner in the order.
  bool hold_promises = true;
  // Who runs on for longer than until the promised start may still go to a promised node, if there
  // is room for both.
  bool share_nodes = true;
  // And so many promised nodes are looked at for who fits there: more are left to their owners.
  std::int32_t shared_nodes_tried = 16;
  // Of pods whose run time nobody knows, for the order only.
  Duration assumed_run = Duration::Minutes(60);
  // With kConservative: how many of those who wait are promised a start.
  std::int32_t promises = 16;
};

// The engine is to promise a start to who cannot start yet, and to let others pass only if that
// does not delay it, for the pods of profiles that have this.
class BackfillPlugin {
 public:
  virtual ~BackfillPlugin() = default;
  [[nodiscard]] virtual const BackfillArgs& backfill_args() const = 0;
};

// ---- which nodes ----

// What a filter makes of several pods of its class at once, for who counts how many of them can be
// placed at most. What is left out only makes that count less exact, never wrong.
struct ClassLimits {
  // What each of them takes of the columns of its node. A node that has less left is rejected; what
  // else the filter says is that.
  std::span<const cluster::ResourceAmount> takes = {};
  // What it rejects now it also rejects when pods of the class, and no others, have been added. Not
  // asked of filters that depend on the node alone: more pods there never make it better.
  bool rejections_last = false;
  // No two of them can be in one domain of these labels; nodes without the label are no domain.
  std::vector<Symbol> apart = {};
  // All of them will be in one domain of each of these labels, if no other pods are added.
  std::vector<Symbol> together = {};
};

// Prepared for one class of pods. Reads the state it was prepared from; must not change while rows
// are judged, so that disjoint ranges can be judged at the same time.
class NodeFilter {
 public:
  virtual ~NodeFilter() = default;
  // Nodes already rejected by an earlier plugin are not in the range.
  virtual void Filter(NodeRows nodes, Verdicts& out) const = 0;
  // Leaves of `nodes` those that it accepts, in their order: Filter without the reasons. A filter
  // of scope kDomain is asked about all nodes for every pod, so that this is worth a tight loop
  // there.
  virtual void Keep(std::vector<cluster::NodeRow>& nodes) const;
  // The reasons for a verdict of this filter, in kube-scheduler's words.
  virtual void Explain(const Verdict& verdict, std::vector<std::string>& reasons) const = 0;
  // False if something it was prepared from is out of date, so that the plugin must prepare anew.
  // What its scope says is watched by the engine and need not be asked here.
  [[nodiscard]] virtual bool Current() const { return true; }
  [[nodiscard]] virtual ClassLimits limits() const { return {}; }
  // Scope kDomain: called before rows are judged for another pod, to take over what changed since.
  virtual void Refresh() {}
  // A plan puts another pod on a node or takes it away; before its first change the filter was
  // refreshed. Only for what cannot be read from the state.
  virtual void OnPodAdded(cluster::PodId, cluster::NodeRow) {}
  virtual void OnPodRemoved(cluster::PodId, cluster::NodeRow) {}
};

struct PreFilterResult {
  // Success; Skip: Filter is not called; rejected: the pod fits nowhere, for this reason.
  Outcome outcome;
  // If set, only these nodes come into question, by name, sorted.
  std::optional<std::vector<std::string>> only_nodes;
  Scope scope = Scope::kCluster;
  std::unique_ptr<NodeFilter> filter;  // set on success if the plugin filters
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  [[nodiscard]] virtual PreFilterResult PreFilter(const PodView& pod) const = 0;
  // Has a PreFilter of its own in kube-scheduler, or a Filter (most have both): which entries of a
  // configuration it can be named in.
  [[nodiscard]] virtual bool has_pre_filter() const { return true; }
  [[nodiscard]] virtual bool has_filter() const { return true; }
};

// ---- none fits ----

// How far to look for pods whose eviction would make room.
struct PreemptionArgs {
  // Nodes that would do to be found before the best of them is taken: a share of those that come
  // into question, but at least so many.
  std::int32_t min_candidates_percent = 10;
  std::int32_t min_candidates = 100;
};

struct PostFilterResult {
  // Success: room is being made on `nominated`. Rejected: nothing helps, and why.
  Outcome outcome;
  cluster::NodeRow nominated;
  // If set, the engine is to make room by evicting less important pods, and its outcome is the
  // plugin's.
  std::optional<PreemptionArgs> preempt{};
};

// Rejections by row, for who wants to make room.
struct Rejections {
  NodeRows nodes;
  std::span<const Verdict> verdicts;
  // The plugin's own PreFilter was asked before anybody turned the pod down as a whole.
  bool was_asked = true;
};

class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  [[nodiscard]] virtual PostFilterResult PostFilter(const PodView& pod,
                                                    const Rejections& rejections) const = 0;
};

// ---- which node is best ----

inline constexpr std::int64_t kMaxScore = 100;
// A raw score of a node that takes no part in normalising and ends up with 0.
inline constexpr std::int64_t kIgnored = std::numeric_limits<std::int64_t>::min();

// The least and the greatest raw score over the nodes that fit, ignored ones left out. All zero if
// there are none.
struct ScoreBounds {
  std::int64_t min = 0, max = 0;
  friend bool operator==(const ScoreBounds&, const ScoreBounds&) = default;
};

class NodeScorer {
 public:
  virtual ~NodeScorer() = default;
  // Scope kDomain: called before rows are scored for another pod, to take over what changed since.
  virtual void Refresh() {}
  // Scopes kDomain and kCluster: all rows that fit, once, before any of them is scored.
  virtual void OnFeasible(NodeRows feasible) { (void)feasible; }
  virtual void Score(NodeRows nodes, std::span<std::int64_t> raw) const = 0;
  // From raw to 0..100. With normalizes() false the raw score is the score already.
  [[nodiscard]] virtual bool normalizes() const { return false; }
  [[nodiscard]] virtual std::int64_t Normalize(std::int64_t raw, ScoreBounds bounds) const {
    (void)bounds;
    return raw;
  }
  [[nodiscard]] virtual bool Current() const { return true; }
};

struct PreScoreResult {
  Outcome outcome;  // Skip: the plugin gives this pod the same score everywhere
  Scope scope = Scope::kCluster;
  std::unique_ptr<NodeScorer> scorer;
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  [[nodiscard]] virtual PreScoreResult PreScore(const PodView& pod) const = 0;
  // Scores without a PreScore of its own in kube-scheduler.
  [[nodiscard]] virtual bool has_pre_score() const { return true; }
};

// ---- between the choice and the binding ----

// Sets a volume aside for a claim, or says for which node a claim needs a volume made.
struct VolumeWrite {
  std::string volume;  // empty: the claim is written
  k8s::ClaimReference claim;
  bool bound_by_controller = false;  // with a volume: and says that no person chose it
  std::string node;                  // without a volume
  // Of what is written; if it is another by now, the write is refused.
  std::string resource_version;
};

// Something only the outside can answer. The cycle pauses; the answer, or the deadline, resumes it.
struct Question {
  std::string topic, body;
  Duration timeout;
  // To be written, in this order, up to the first that fails: the answer says how it went.
  std::vector<VolumeWrite> writes = {};
};

struct Answer {
  bool ok = false;
  std::string text;
  // Nobody was asked: the step waited for the state to change. Not ok when its time is up.
  bool recheck = false;
};

// The step waits for the state to change: it is asked again so often, and whenever a claim of the
// pod changes. After the timeout, counted from the first such wait, it is asked with an answer that
// is not ok.
struct Recheck {
  Duration every, timeout;
};

struct StepResult {
  Outcome outcome;  // kWait: `question` or `recheck` is set
  std::optional<Question> question = {};
  std::optional<Recheck> recheck = {};
};

class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  // False: has nothing to reserve for pods of this class, and is not asked.
  [[nodiscard]] virtual bool Reserves(const cluster::PodClass& /*pod_class*/) const { return true; }
  // What the pod is to own from here on is written into the state.
  [[nodiscard]] virtual Outcome Reserve(const PodView& pod, cluster::NodeRow node,
                                        cluster::State& state) const = 0;
  // Also called when this or a later plugin failed; in reverse order; must not mind being called
  // twice.
  virtual void Unreserve(const PodView& pod, cluster::NodeRow node,
                         cluster::State& state) const = 0;
};

class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  [[nodiscard]] virtual StepResult Permit(const PodView& pod, cluster::NodeRow node) const = 0;
  [[nodiscard]] virtual StepResult ResumePermit(const PodView& pod, cluster::NodeRow node,
                                                const Answer& answer) const = 0;
};

class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  // False: has nothing to do for pods of this class, and is not asked.
  [[nodiscard]] virtual bool PreBinds(const cluster::PodClass& /*pod_class*/) const { return true; }
  [[nodiscard]] virtual StepResult PreBind(const PodView& pod, cluster::NodeRow node) const = 0;
  [[nodiscard]] virtual StepResult ResumePreBind(const PodView& pod, cluster::NodeRow node,
                                                 const Answer& answer) const = 0;
};

class BindPlugin {
 public:
  virtual ~BindPlugin() = default;
  // Success: the engine sends the binding. Skip: the next bind plugin is asked.
  [[nodiscard]] virtual Outcome Bind(const PodView& pod, cluster::NodeRow node) const = 0;
};

class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(const PodView& pod, cluster::NodeRow node) const = 0;
};

}  // namespace knx::framework
