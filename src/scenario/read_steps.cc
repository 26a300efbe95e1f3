#include "scenario/read_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "k8s/object_fields.h"

namespace knx::scenario {
namespace {

using k8s::FieldReader;
using k8s::IntegerLimits;

constexpr std::int64_t kMaxCount = 1'000'000;

// ---- things that happen to pods and what makes them ----

// `object` and `objects`, of which there must be something.
void CheckManifests(FieldReader& fields) {
  fields.Map("object", [](FieldReader& /*manifest*/) {});
  bool some = fields.Has("object");
  const bool list = fields.ForEach("objects", [&some](FieldReader& /*manifest*/) { some = true; });
  if (fields.ok() && list && !some) fields.Fail("objects", "is empty");
}

void ReadCreate(FieldReader& fields, Create& out) {
  ReadCount(fields, out.what);
  fields.ReadEnum<Order>("order", out.order,
                         {{"forwards", Order::kForwards},
                          {"backwards", Order::kBackwards},
                          {"shuffled", Order::kShuffled}});
  ReadSpan(fields, "every", out.every);
  fields.Read("random_gaps", out.random_gaps);
  if (out.random_gaps && !out.every.has_value()) {
    fields.Fail("random_gaps", "needs `every` beside it");
  }
  out.what.node = &fields.node();
  out.what.path = fields.path();
  const bool manifests = fields.Has("object") || fields.Has("objects");
  out.what.form = manifests ? Template::Form::kManifests : Template::Form::kShort;
  if (manifests) return CheckManifests(fields);
  // Looked at again, strictly, when it is made into a manifest.
  for (const k8s::YamlNode& child : fields.node().children) fields.Allow({child.key});
}

struct KindWord {
  std::string_view word, kind;
};
constexpr std::array<KindWord, 19> kDeletable = {{
    {"node", "Node"},
    {"deployment", "Deployment"},
    {"replicaset", "ReplicaSet"},
    {"statefulset", "StatefulSet"},
    {"replicationcontroller", "ReplicationController"},
    {"job", "Job"},
    {"pdb", "PodDisruptionBudget"},
    {"priority_class", "PriorityClass"},
    {"of_namespace", "Namespace"},
    {"claim", "PersistentVolumeClaim"},
    {"volume", "PersistentVolume"},
    {"storage_class", "StorageClass"},
    {"csi_node", "CSINode"},
    {"csi_driver", "CSIDriver"},
    {"storage_capacity", "CSIStorageCapacity"},
    {"volume_attachment", "VolumeAttachment"},
    {"pod_group", "PodGroup"},
    {"reservation", "ResourceReservation"},
    {"workload", "Workload"},
}};
// The first so many after the node make pods and can be scaled.
constexpr std::size_t kScalable = 5;

void ReadApply(FieldReader& fields, Apply& out) {
  ReadCount(fields, out.what);
  out.what.node = &fields.node();
  out.what.path = fields.path();
  out.what.form = Template::Form::kManifests;
  if (fields.ok() && !fields.Has("object") && !fields.Has("objects")) {
    FailWithout(fields, "needs object or objects");
  }
  CheckManifests(fields);
}

void ReadNamespace(FieldReader& fields, std::string& out) {
  out = "default";
  fields.Read("namespace", out);
}

void ReadDelete(FieldReader& fields, Delete& out) {
  fields.Read("grace", out.grace_seconds, IntegerLimits{.min = 0, .max = kMaxCount});
  for (const auto& [word, kind] : kDeletable) {
    if (!fields.Read(word, out.name)) continue;
    if (!out.kind.empty()) fields.Fail(word, "only one thing can be deleted in one step");
    out.kind = kind;
  }
  if (!out.kind.empty()) return ReadNamespace(fields, out.namespace_);
  out.kind = "Pod";
  ReadPodSelection(fields, Need::kSome, out.pods);
  fields.Read("if_there", out.if_there);
}

void ReadScale(FieldReader& fields, Scale& out) {
  ReadNamespace(fields, out.namespace_);
  for (const auto& [word, kind] : std::span(kDeletable).subspan(1, kScalable)) {
    if (!fields.Read(word, out.name)) continue;
    if (!out.kind.empty()) fields.Fail(word, "only one thing can be scaled in one step");
    out.kind = kind;
  }
  if (fields.ok() && out.kind.empty()) {
    FailWithout(fields, "needs deployment, replicaset, statefulset, replicationcontroller or job");
  }
  fields.Require("replicas", out.replicas, IntegerLimits{.min = 0, .max = kMaxCount});
}

void ReadUpdatePod(FieldReader& fields, UpdatePod& out) {
  fields.RequireMap("of", [&](FieldReader& of) { ReadPodSelection(of, Need::kSome, out.pods); });
  fields.Read("if_there", out.if_there);
  fields.Read("labels", out.labels);
  fields.Read("remove_labels", out.remove_labels);
  fields.Read("node_selector", out.node_selector);
  fields.Read("remove_gates", out.remove_gates);
  fields.Read("remove_finalizers", out.remove_finalizers);
  k8s::ReadTolerations(fields, out.tolerations);
  if (k8s::ResourceList list; k8s::ReadResourceList(fields, "requests", list)) {
    out.requests = std::move(list);
  }
  ReadResize(fields, "resize", out.resize);
}

void ReadBind(FieldReader& fields, BindByOther& out) {
  fields.Require("node", out.node);
  ReadPodSelection(fields, Need::kSome, out.pods);
}

// ---- things that happen to nodes ----

void ReadUpdateNode(FieldReader& fields, UpdateNode& out) {
  fields.Require("node", out.node);
  fields.Read("labels", out.labels);
  fields.Read("remove_labels", out.remove_labels);
  fields.Read("remove_taints", out.remove_taints);
  fields.Read("remove_finalizers", out.remove_finalizers);
  k8s::ReadTaints(fields, out.taints);
  k8s::ReadResourceList(fields, "allocatable", out.allocatable);
  fields.Read("declared_features", out.declared_features);
}

void ReadDrain(FieldReader& fields, NodeAction& out) {
  fields.Require("node", out.node);
  fields.ReadEnum("budgets", out.honour_budgets, {{"honour", true}, {"ignore", false}});
}

// ---- faults ----

void ReadCallFault(FieldReader& fields, std::string_view key, CallFault& out) {
  using Kind = CallFault::Kind;
  fields.ReadEnum(key, out.kind,
                  {{"refuse", Kind::kRefuse},
                   {"timeout", Kind::kTimeout},
                   {"answer_lost", Kind::kAnswerLost},
                   {"no_answer", Kind::kNoAnswer},
                   {"vanish", Kind::kVanish},
                   {"slow", Kind::kSlow}});
  out.delay =
      out.kind == Kind::kTimeout || out.kind == Kind::kSlow ? Duration::Seconds(30) : Duration{};
  ReadSpan(fields, "delay", out.delay);
  fields.Read("error", out.error);
  fields.Read("count", out.count, IntegerLimits{.min = 1, .max = kMaxCount});
  ReadSpan(fields, "for", out.lasts);
  fields.Read("percent", out.percent);
  if (out.percent < 0 || out.percent > 100) fields.Fail("percent", "allowed is 0 to 100");
  ReadPodSelection(fields, Need::kNone, out.pods);
}

void ReadWatchFault(FieldReader& fields, WatchFault& out, Duration& oldest_list) {
  std::string which;
  fields.ReadEnum<std::string>("watch", which,
                               {{"pods", "pods"}, {"nodes", "nodes"}, {"all", "all"}});
  out.pods = which != "nodes";
  out.nodes = which != "pods";
  int kinds = 0;
  if (ReadSpan(fields, "late", out.by)) {
    out.kind = WatchFault::Kind::kLate;
    ++kinds;
  }
  if (fields.Read("duplicate", out.count, IntegerLimits{.min = 1, .max = kMaxCount})) {
    out.kind = WatchFault::Kind::kDuplicate;
    ++kinds;
  }
  if (ReadSpan(fields, "lost_for", out.lasts)) {
    out.kind = WatchFault::Kind::kLose;
    ++kinds;
  }
  if (ReadSpan(fields, "random_every", out.every)) {
    out.kind = WatchFault::Kind::kRandom;
    oldest_list = std::max(oldest_list, kOldestRandomList);
    if (out.every < Duration::Milliseconds(1)) fields.Fail("random_every", "must be 1ms at least");
    ++kinds;
  }
  if (fields.ok() && kinds != 1) {
    FailWithout(fields, "needs exactly one of late, duplicate, lost_for and random_every");
  }
  if (out.kind == WatchFault::Kind::kLate || out.kind == WatchFault::Kind::kRandom) {
    out.lasts = Duration::Minutes(1);
    ReadSpan(fields, "for", out.lasts);
  }
  if (out.kind == WatchFault::Kind::kLose && ReadSpan(fields, "stale", out.stale)) {
    oldest_list = std::max(oldest_list, out.stale);
  }
}

void ReadFault(FieldReader& fields, Happening& out, Duration& oldest_list) {
  const bool bind = fields.Has("bind");
  const bool status = fields.Has("status");
  const bool volume = fields.Has("volume");
  const bool evict = fields.Has("evict");
  const bool watch = fields.Has("watch");
  if (int{bind} + int{status} + int{volume} + int{evict} + int{watch} != 1) {
    return FailWithout(fields, "needs exactly one of bind, status, volume, evict and watch");
  }
  if (watch) return ReadWatchFault(fields, out.emplace<WatchFault>(), oldest_list);
  CallFault& fault = out.emplace<CallFault>();
  const std::pair<const char*, Call> calls[] = {{"bind", Call::kBind},
                                                {"status", Call::kStatus},
                                                {"volume", Call::kVolume},
                                                {"evict", Call::kEvict}};
  for (const auto& [name, call] : calls) {
    if (!fields.Has(name)) continue;
    fault.call = call;
    ReadCallFault(fields, name, fault);
  }
}

void ReadRestart(FieldReader& fields, RestartScheduler& out, Duration& oldest_list) {
  ReadSpan(fields, "down_for", out.down_for);
  if (ReadSpan(fields, "stale", out.stale)) oldest_list = std::max(oldest_list, out.stale);
  fields.ReadEnum("list_first", out.pods_first, {{"nodes", false}, {"pods", true}});
}

// ---- the step itself ----

bool ReadNodeVerb(FieldReader& fields, Happening& out) {
  using Kind = NodeAction::Kind;
  const std::pair<std::string_view, Kind> verbs[] = {{"cordon", Kind::kCordon},
                                                     {"uncordon", Kind::kUncordon},
                                                     {"kill_node", Kind::kKill},
                                                     {"restart_node", Kind::kRestart}};
  for (const auto& [verb, kind] : verbs) {
    if (std::string node; fields.Read(verb, node)) {
      out = NodeAction{.kind = kind, .node = std::move(node), .honour_budgets = true};
      return true;
    }
  }
  return fields.Map("drain", [&](FieldReader& drain) {
    NodeAction& action = out.emplace<NodeAction>();
    action.kind = Kind::kDrain;
    ReadDrain(drain, action);
  });
}

bool ReadRunVerb(FieldReader& fields, Happening& out) {
  const std::pair<std::string_view, PassTime::Kind> verbs[] = {
      {"run_for", PassTime::Kind::kFor},
      {"run_until", PassTime::Kind::kUntil},
      {"settle", PassTime::Kind::kSettle}};
  for (const auto& [verb, kind] : verbs) {
    if (Duration span; ReadSpan(fields, verb, span)) {
      out = PassTime{.kind = kind, .span = span};
      return true;
    }
  }
  return false;
}

constexpr std::array<std::string_view, 18> kVerbs = {"create",
                                                     "apply",
                                                     "delete",
                                                     "scale",
                                                     "cordon",
                                                     "uncordon",
                                                     "drain",
                                                     "kill_node",
                                                     "restart_node",
                                                     "bind",
                                                     "update_node",
                                                     "update_pod",
                                                     "restart_scheduler",
                                                     "fault",
                                                     "run_for",
                                                     "run_until",
                                                     "settle",
                                                     "expect"};

// Exactly one of the verbs. A word that is none is refused with those that are, as any unknown
// field.
bool CheckVerb(FieldReader& fields) {
  std::int64_t verbs = 0;
  for (const std::string_view verb : kVerbs) verbs += fields.Has(verb) ? 1 : 0;
  const auto& children = fields.node().children;
  const bool all_known = std::all_of(children.begin(), children.end(), [](const auto& child) {
    return child.key == "at" || std::find(kVerbs.begin(), kVerbs.end(), child.key) != kVerbs.end();
  });
  if (!all_known) return false;
  if (fields.ok() && verbs != 1) {
    fields.FailHere(fmt::format("needs exactly one of {}", fmt::join(kVerbs, ", ")));
  }
  return fields.ok();
}

template <class T, class Read>
bool ReadVerb(FieldReader& fields, std::string_view verb, Happening& out, Read read) {
  return fields.Map(verb, [&](FieldReader& of) { read(of, out.emplace<T>()); });
}

}  // namespace

bool ReadSpan(FieldReader& fields, std::string_view key, Duration& out) {
  Duration span;
  if (!fields.Read(key, span)) return false;
  if (span < Duration{} || span > kMaxSpan) {
    fields.Fail(key, fmt::format("{} is out of range, allowed is 0s to {}", FormatDuration(span),
                                 FormatDuration(kMaxSpan)));
    return false;
  }
  out = span;
  return true;
}

bool ReadSpan(FieldReader& fields, std::string_view key, std::optional<Duration>& out) {
  Duration span;
  if (!ReadSpan(fields, key, span)) return false;
  out = span;
  return true;
}

void ReadCount(FieldReader& fields, Template& out) {
  fields.Read("count", out.count, IntegerLimits{.min = 0, .max = kMaxCount});
  fields.Read("first", out.first, IntegerLimits{.min = 0, .max = kMaxCount});
}

void FailWithout(FieldReader& fields, std::string_view needs) {
  std::vector<std::string_view> there;
  for (const k8s::YamlNode& child : fields.node().children) there.push_back(child.key);
  fields.FailHere(there.empty() ? fmt::format("{}; it has nothing", needs)
                                : fmt::format("{}; it has {}", needs, fmt::join(there, ", ")));
}

void ReadResize(FieldReader& fields, std::string_view key, std::string& out) {
  fields.ReadEnum<std::string>(
      key, out, {{"Done", "Done"}, {"Deferred", "Deferred"}, {"Infeasible", "Infeasible"}});
}

void ReadPodSelection(FieldReader& fields, Need need, PodSelection& out) {
  fields.Read("pod", out.name);
  fields.Read("labels", out.labels);
  fields.Read("owner", out.owner);
  const bool some = !out.name.empty() || !out.labels.empty() || !out.owner.empty();
  fields.Read("namespace", out.namespace_);
  if (need == Need::kSome && fields.ok() && !some) {
    FailWithout(fields, "says of no pods: needs pod, labels or owner");
  }
}

void ReadStep(FieldReader& fields, std::string_view file, Step& out, Duration& oldest_list) {
  out.place = {std::string(file), fields.node().line, fields.node().column};
  out.path = fields.path();
  ReadSpan(fields, "at", out.at);
  if (!CheckVerb(fields)) return;
  Happening& what = out.what;
  if (ReadNodeVerb(fields, what) || ReadRunVerb(fields, what)) return;
  if (fields.Map("fault", [&](FieldReader& of) { ReadFault(of, what, oldest_list); })) return;
  if (fields.Map("restart_scheduler", [&](FieldReader& of) {
        ReadRestart(of, what.emplace<RestartScheduler>(), oldest_list);
      })) {
    return;
  }
  if (ReadVerb<Create>(fields, "create", what, ReadCreate) ||
      ReadVerb<Apply>(fields, "apply", what, ReadApply) ||
      ReadVerb<Delete>(fields, "delete", what, ReadDelete) ||
      ReadVerb<Scale>(fields, "scale", what, ReadScale) ||
      ReadVerb<BindByOther>(fields, "bind", what, ReadBind) ||
      ReadVerb<UpdateNode>(fields, "update_node", what, ReadUpdateNode) ||
      ReadVerb<UpdatePod>(fields, "update_pod", what, ReadUpdatePod)) {
    return;
  }
  ReadVerb<Expectation>(fields, "expect", what, ReadExpectation);
}

}  // namespace knx::scenario
