#include "cmd/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/quoted_text.h"
#include "cmd/human_units.h"
#include "cmd/run_groups.h"
#include "cmd/text_table.h"
#include "k8s/names.h"

namespace knx::cmd {
namespace {

// A screen of nodes and a screen of work; the rest is summed up.
constexpr std::size_t kMaxNodes = 20;     // as many are shown one by one
constexpr std::size_t kMaxNodeRows = 12;  // of more, so many
constexpr std::size_t kMaxWorkRows = 30;
constexpr std::size_t kMaxWaitingGroups = 12;
constexpr std::size_t kMaxWorkOfOneMessage = 6;
constexpr std::size_t kMaxGpuColumns = 3;
constexpr std::size_t kLineWidth = 100;
constexpr std::string_view kSinglePod = "Pod/";  // in front of pods that nothing made

const sim::ResourceUse* Find(const sim::NodeUse& node, std::string_view resource) {
  const auto found =
      std::find_if(node.resources.begin(), node.resources.end(),
                   [&](const sim::ResourceUse& use) { return use.name == resource; });
  return found == node.resources.end() ? nullptr : &*found;
}

sim::ResourceUse Sum(const std::vector<const sim::NodeUse*>& nodes, std::string_view resource) {
  sim::ResourceUse sum;
  for (const sim::NodeUse* node : nodes) {
    const sim::ResourceUse* use = Find(*node, resource);
    if (use == nullptr) continue;
    // Amounts come from files and may be as large as they like.
    if (__builtin_add_overflow(sum.requested, use->requested, &sum.requested)) {
      sum.requested = INT64_MAX;
    }
    if (__builtin_add_overflow(sum.allocatable, use->allocatable, &sum.allocatable)) {
      sum.allocatable = INT64_MAX;
    }
  }
  return sum;
}

// ---- what ran ----

std::string Head(const sim::SimulationResult& result, const std::string& what,
                 const Palette& palette) {
  std::string out;
  if (result.scenario.empty()) {
    out += palette.Heading(fmt::format("Manifests: {}", Printable(what))) + "\n";
  } else {
    out += palette.Heading(fmt::format("Scenario: {}", Printable(result.scenario))) + "\n";
    out += Wrapped(Printable(result.why), 2, kLineWidth);
    if (!result.variant.empty()) {
      out += fmt::format("Variant {}, one of {}.\n", Printable(result.variant), result.variants);
    }
  }
  std::string_view end = "to its end";
  if (result.settled) end = "until nothing would change any more";
  if (result.cut) end = "no longer without --until, although something would still change";
  if (result.violation.has_value()) end = "until an invariant broke";
  if (result.stopped) end = "until it was interrupted";
  out += fmt::format("Ran {} of virtual time with seed {}, {}.\n", FormatElapsed(result.ended),
                     result.seed, end);
  return out;
}

// ---- nodes ----

std::string StateOf(const sim::NodeUse& node) {
  if (!node.ready) return node.unschedulable ? "not ready, cordoned" : "not ready";
  return node.unschedulable ? "cordoned" : "ready";
}

// Resources with a slash in their names that some node has: GPUs and the like.
std::vector<std::string> DeviceResources(const std::vector<sim::NodeUse>& nodes) {
  std::set<std::string> names;
  for (const sim::NodeUse& node : nodes) {
    for (const sim::ResourceUse& use : node.resources) {
      const bool has_any = use.allocatable != 0 || use.requested != 0;
      if (has_any && use.name.find('/') != std::string::npos) names.insert(use.name);
    }
  }
  std::vector<std::string> out(names.begin(), names.end());
  if (out.size() > kMaxGpuColumns) out.resize(kMaxGpuColumns);
  return out;
}

std::string UsedOf(const sim::ResourceUse& use) {
  return fmt::format("{}/{}", use.requested, use.allocatable);
}

std::vector<std::string> NodeCells(std::string name, const std::vector<const sim::NodeUse*>& nodes,
                                   const std::vector<std::string>& devices, std::string state) {
  const sim::ResourceUse cpu = Sum(nodes, k8s::names::kCpu);
  const sim::ResourceUse memory = Sum(nodes, k8s::names::kMemory);
  std::vector<std::string> cells = {
      std::move(name), UsedOf(Sum(nodes, k8s::names::kPods)),
      fmt::format("{}/{}", FormatCores(cpu.requested), FormatCores(cpu.allocatable)),
      FormatUsedBytes(memory.requested, memory.allocatable)};
  for (const std::string& device : devices) {
    const sim::ResourceUse use = Sum(nodes, device);
    cells.push_back(use.allocatable == 0 && use.requested == 0 ? "-" : UsedOf(use));
  }
  cells.push_back(std::move(state));
  return cells;
}

std::string ShapeLine(const NodeGroup& group, const std::vector<std::string>& devices,
                      const std::string& distinction) {
  const std::vector<const sim::NodeUse*> first = {group.nodes.front()};
  const std::string cores = FormatCores(Sum(first, k8s::names::kCpu).allocatable);
  std::string out = fmt::format(
      "{} with {} {}, {}", FormatCount(std::ssize(group.nodes), "node", "nodes"), cores,
      cores == "1" ? "core" : "cores", FormatBytes(Sum(first, k8s::names::kMemory).allocatable));
  for (const std::string& device : devices) {
    const std::int64_t each = Sum(first, device).allocatable;
    if (each != 0) out += fmt::format(", {} {}", each, device);
  }
  out += distinction;
  if (!group.taints.empty()) out += fmt::format("; taint {}", fmt::join(group.taints, ", "));
  return out;
}

std::string ShortTitle(const std::string& device) {
  std::string title = device.substr(device.rfind('/') + 1);
  std::transform(title.begin(), title.end(), title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return title;
}

// "GPU" for "nvidia.com/gpu", unless there is another of which that could be said.
std::string TitleOf(const std::string& device, const std::vector<std::string>& all) {
  const std::string title = ShortTitle(device);
  const auto same = std::count_if(
      all.begin(), all.end(), [&](const std::string& other) { return ShortTitle(other) == title; });
  return same == 1 ? title : Printable(device);
}

void AddNodeGroup(const NodeGroup& group, std::size_t rows, const std::vector<std::string>& devices,
                  TextTable& table) {
  const std::vector<const sim::NodeUse*> shown = Representatives(group, rows);
  for (const sim::NodeUse* node : shown) {
    table.AddRow(NodeCells("  " + node->name, {node}, devices, StateOf(*node)));
  }
  std::vector<const sim::NodeUse*> rest;
  for (const sim::NodeUse* node : group.nodes) {
    if (std::find(shown.begin(), shown.end(), node) == shown.end()) rest.push_back(node);
  }
  if (rest.empty()) return;
  const bool ordinary =
      std::all_of(rest.begin(), rest.end(), [](const auto* node) { return IsOrdinary(*node); });
  table.AddRow(NodeCells(fmt::format("  … and {} more", rest.size()), rest, devices,
                         ordinary ? "ready" : "not all ready"));
}

std::string Nodes(const sim::SimulationResult& result, const Palette& palette) {
  std::string out = palette.Heading(fmt::format("Nodes: {}", result.nodes.size())) + "\n";
  if (result.nodes.empty()) return out;
  const std::vector<std::string> devices = DeviceResources(result.nodes);
  std::vector<Column> columns = {{"  NAME", Align::kLeft},
                                 {"PODS", Align::kRight},
                                 {"CORES", Align::kRight},
                                 {"MEMORY", Align::kRight}};
  for (const std::string& device : devices) {
    columns.push_back({TitleOf(device, devices), Align::kRight});
  }
  columns.push_back({"STATE", Align::kLeft});
  TextTable table(std::move(columns));

  const std::vector<NodeGroup> groups = GroupNodes(result.nodes);
  std::vector<std::size_t> needs;
  for (const NodeGroup& group : groups) needs.push_back(group.nodes.size());
  const std::vector<std::size_t> rows =
      ShareRows(needs, result.nodes.size() <= kMaxNodes ? kMaxNodes : kMaxNodeRows);
  std::vector<std::string> told = devices;
  told.insert(told.end(), {std::string(k8s::names::kCpu), std::string(k8s::names::kMemory)});
  const std::vector<std::string> distinctions = Distinctions(groups, told);
  std::vector<const sim::NodeUse*> left_out;
  std::size_t shapes_left_out = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (rows[i] == 0) {
      ++shapes_left_out;
      left_out.insert(left_out.end(), groups[i].nodes.begin(), groups[i].nodes.end());
      continue;
    }
    if (groups.size() > 1) table.AddLine(ShapeLine(groups[i], devices, distinctions[i]));
    AddNodeGroup(groups[i], rows[i], devices, table);
  }
  if (!left_out.empty()) {
    table.AddLine(
        FormatCount(std::ssize(left_out), "node", "nodes") + " of " +
        FormatCount(static_cast<std::int64_t>(shapes_left_out), "other shape", "other shapes"));
    table.AddRow(NodeCells("  all of them", left_out, devices, ""));
  }
  return out + table.ToString(2);
}

// ---- work ----

// "cpu-4" or "cpu-1, t4-2", and for more of them "cpu-* ×6, t4-* ×2".
std::string NodesOf(const std::vector<const sim::PodOutcome*>& pods) {
  std::set<std::string> names;
  for (const sim::PodOutcome* pod : pods) {
    if (!pod->node.empty()) names.insert(pod->node);
  }
  if (names.size() <= 2) return fmt::format("{}", fmt::join(names, ", "));
  std::map<std::string, std::size_t> families;
  for (const std::string& name : names) ++families[FamilyOf(name)];
  constexpr std::size_t kMostFamilies = 4;
  if (families.size() > kMostFamilies) return fmt::format("{} nodes", names.size());
  std::vector<std::string> parts;
  for (const auto& [family, count] : families) {
    parts.push_back(count == 1 ? family : fmt::format("{} ×{}", family, count));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string PhasesOf(const std::vector<const sim::PodOutcome*>& pods) {
  std::int64_t waiting = 0;
  std::int64_t starting = 0;
  std::int64_t leaving = 0;
  std::map<std::string, std::int64_t> phases;
  for (const sim::PodOutcome* pod : pods) {
    if (IsWaiting(*pod)) {
      ++waiting;
    } else if (pod->terminating) {
      ++leaving;
    } else if (pod->phase == "Pending") {
      ++starting;
    } else {
      ++phases[pod->phase];
    }
  }
  std::vector<std::string> parts;
  const auto add = [&parts](std::int64_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(std::exchange(phases["Running"], 0), "running");
  add(std::exchange(phases["Succeeded"], 0), "done");
  add(std::exchange(phases["Failed"], 0), "failed");
  for (const auto& [phase, count] : phases) add(count, phase);
  add(starting, "starting");
  add(leaving, "leaving");
  add(waiting, "waiting");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// How many owners there are, unless that is as many as there are pods.
std::string LabelOf(const WorkGroup& work) {
  if (work.owners == 1 || work.owners == std::ssize(work.pods)) return work.label;
  return fmt::format("{} ({})", work.label, work.owners);
}

std::string Work(const sim::SimulationResult& result, const Palette& palette) {
  const std::vector<WorkGroup> groups = GroupPods(result.pods);
  std::string out =
      palette.Heading(fmt::format("Work: {} of {}",
                                  FormatCount(std::ssize(result.pods), "pod", "pods"),
                                  result.counts.pods_created)) +
      fmt::format(" created {} still there\n", result.pods.size() == 1 ? "is" : "are");
  if (groups.empty()) return out;
  const bool several = std::any_of(groups.begin(), groups.end(), [&](const WorkGroup& group) {
    return group.namespace_ != groups.front().namespace_;
  });
  std::vector<Column> columns;
  if (several) columns.push_back({"NAMESPACE", Align::kLeft});
  columns.insert(columns.end(), {{"OWNER", Align::kLeft},
                                 {"PLACED", Align::kRight},
                                 {"STATE", Align::kLeft},
                                 {"NODES", Align::kLeft}});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == kMaxWorkRows && groups.size() > kMaxWorkRows + 1) {
      table.AddLine(fmt::format("… and {} more, see -o json", groups.size() - i));
      break;
    }
    const WorkGroup& group = groups[i];
    const auto placed = std::count_if(group.pods.begin(), group.pods.end(),
                                      [](const auto* pod) { return !pod->node.empty(); });
    std::vector<std::string> cells;
    if (several) cells.push_back(group.namespace_);
    cells.insert(cells.end(), {LabelOf(group), fmt::format("{}/{}", placed, group.pods.size()),
                               PhasesOf(group.pods), NodesOf(group.pods)});
    table.AddRow(std::move(cells));
  }
  return out + table.ToString(2);
}

// ---- what is reserved ----

std::string Amounts(const sim::ReservationOutcome::Amounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [resource, quantity] : amounts) {
    parts.push_back(FormatRequest(resource, quantity));
  }
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Reservations(const sim::SimulationResult& result, const Palette& palette) {
  if (result.reservations.empty()) return "";
  std::string out =
      palette.Heading(fmt::format("Reservations: {}", result.reservations.size())) + "\n";
  const bool several = std::any_of(
      result.reservations.begin(), result.reservations.end(),
      [&](const auto& each) { return each.namespace_ != result.reservations.front().namespace_; });
  std::vector<Column> columns;
  if (several) columns.push_back({"NAMESPACE", Align::kLeft});
  columns.insert(columns.end(), {{"NAME", Align::kLeft},
                                 {"PLACES", Align::kRight},
                                 {"STATE", Align::kLeft},
                                 {"HELD", Align::kLeft},
                                 {"USED", Align::kLeft}});
  TextTable table(std::move(columns));
  std::string waits;
  for (std::size_t i = 0; i < result.reservations.size(); ++i) {
    if (i == kMaxWorkRows && result.reservations.size() > kMaxWorkRows + 1) {
      table.AddLine(fmt::format("… and {} more, see -o json", result.reservations.size() - i));
      break;
    }
    const sim::ReservationOutcome& each = result.reservations[i];
    std::vector<std::string> cells;
    if (several) cells.push_back(each.namespace_);
    cells.insert(cells.end(), {each.name, fmt::format("{}", each.places), each.state,
                               Amounts(each.held), Amounts(each.used)});
    table.AddRow(std::move(cells));
    if (!each.why.empty()) {
      waits += Wrapped(Printable(fmt::format("{}: {}", each.name, each.why)), 6, kLineWidth);
    }
  }
  return "\n" + out + table.ToString(2) + waits;
}

// ---- what waits ----

std::string WantsOf(const WorkGroup& work) {
  const sim::PodOutcome& first = *work.pods.front();
  const bool equal = std::all_of(work.pods.begin(), work.pods.end(),
                                 [&](const auto* pod) { return pod->requests == first.requests; });
  if (!equal || first.requests.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [resource, quantity] : first.requests) {
    parts.push_back(FormatRequest(resource, quantity));
  }
  return fmt::format("; {} {}", work.pods.size() == 1 ? "wants" : "each wants",
                     fmt::join(parts, ", "));
}

std::string WaitingLine(const WorkGroup& work, Duration now) {
  Duration longest;
  for (const sim::PodOutcome* pod : work.pods) longest = std::max(longest, now - pod->created);
  const std::string label = LabelOf(work);
  const bool alone = label.starts_with(kSinglePod);
  return fmt::format("{} {}{}{}, for {}{}{}", FormatCount(std::ssize(work.pods), "pod", "pods"),
                     alone ? label.substr(kSinglePod.size()) : "of " + label,
                     work.namespace_ == "default" ? "" : " in ",
                     work.namespace_ == "default" ? "" : work.namespace_,
                     work.pods.size() == 1 ? "" : "up to ", FormatElapsed(longest), WantsOf(work));
}

std::string Waiting(const sim::SimulationResult& result, const Palette& palette) {
  const std::vector<WaitingGroup> groups = GroupWaiting(result);
  if (groups.empty()) return palette.Good("Nothing waits.") + "\n";
  std::int64_t pods = 0;
  for (const WaitingGroup& group : groups) pods += group.pods;
  std::string out =
      palette.Warning(fmt::format("Waiting: {}", FormatCount(pods, "pod", "pods"))) + "\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == kMaxWaitingGroups && groups.size() > kMaxWaitingGroups + 1) {
      out += fmt::format("  … and for {} more reasons, see -o json\n", groups.size() - i);
      break;
    }
    const std::vector<WorkGroup>& work = groups[i].work;
    for (std::size_t w = 0; w < work.size(); ++w) {
      if (w == kMaxWorkOfOneMessage && work.size() > kMaxWorkOfOneMessage + 1) {
        out += fmt::format("  and pods of {} others\n", work.size() - w);
        break;
      }
      out += Wrapped(Printable(WaitingLine(work[w], result.ended)), 2, kLineWidth);
    }
    out += Wrapped(Printable(groups[i].message), 6, kLineWidth);
  }
  return out;
}

// ---- what was expected, and counts ----

std::string Expectations(const sim::SimulationResult& result, const Palette& palette) {
  if (result.expectations.empty()) return "";
  const auto met = std::count_if(result.expectations.begin(), result.expectations.end(),
                                 [](const auto& expectation) { return expectation.met; });
  const std::string line =
      fmt::format("Expectations: {} of {} met", met, result.expectations.size());
  const bool all = met == std::ssize(result.expectations);
  std::string out = "\n" + (all ? palette.Good(line) : palette.Bad(line)) + "\n";
  for (const sim::ExpectationResult& expectation : result.expectations) {
    if (expectation.met) continue;
    const SourcePlace& place = expectation.place;
    out += Printable(fmt::format("  {}:{}:{}: {}", place.file, place.line, place.column,
                                 expectation.reached ? "not met" : "not reached")) +
           "\n";
    out += Wrapped("expected: " + Printable(expectation.expected), 6, kLineWidth);
    out += Wrapped("found: " + Printable(expectation.found), 6, kLineWidth);
  }
  return out;
}

std::string Trouble(const sim::SimulationResult& result, const Palette& palette) {
  std::string out;
  if (result.violation.has_value()) {
    out += "\n" +
           palette.Bad(fmt::format("Invariant broken: {}, at {}",
                                   Printable(result.violation->invariant),
                                   FormatElapsed(result.violation->at))) +
           "\n" + Wrapped(Printable(result.violation->what), 6, kLineWidth);
  }
  return out + FormatWarnings(result.warnings, palette);
}

std::string Counts(const sim::SimulationResult& result) {
  const sim::SimulationCounts& counts = result.counts;
  std::vector<std::string> parts = {fmt::format("{} created", counts.pods_created),
                                    fmt::format("{} placed", counts.pods_placed)};
  const auto add = [&parts](std::int64_t count, std::string_view one, std::string_view many) {
    if (count > 0) parts.push_back(FormatCount(count, one, many));
  };
  add(counts.pods_succeeded, "done", "done");
  add(counts.pods_failed, "failed", "failed");
  add(counts.pods_deleted, "deleted", "deleted");
  parts.push_back(fmt::format("{} on nodes now", counts.pods_running));
  parts.push_back(fmt::format("{} waiting", counts.pods_waiting));
  std::string out = fmt::format("Pods: {}\n", fmt::join(parts, ", "));

  parts = {FormatCount(counts.failed_attempts, "attempt", "attempts") + " without a place"};
  add(counts.evictions, "eviction", "evictions");
  add(counts.bind_failures, "failed binding", "failed bindings");
  add(counts.faults, "injected fault", "injected faults");
  add(counts.scheduler_restarts, "restart", "restarts");
  out += fmt::format("Scheduler: {}\n", fmt::join(parts, ", "));
  out +=
      fmt::format("Checked: {}, {}, {}\n", FormatCount(counts.steps, "step", "steps"),
                  FormatCount(counts.full_checks, "full recount", "full recounts"),
                  result.violation.has_value() ? "one invariant broken" : "every invariant held");
  out += fmt::format("Decision log: {}, hash {}\n",
                     FormatCount(static_cast<std::int64_t>(result.log_lines), "line", "lines"),
                     sim::FormatHash(result.hash));
  return out;
}

}  // namespace

std::string FormatWarnings(const std::vector<std::string>& warnings, const Palette& palette) {
  if (warnings.empty()) return "";
  std::string out = "\n" + palette.Warning("Warnings:") + "\n";
  for (const std::string& warning : warnings) out += Wrapped(Printable(warning), 2, kLineWidth);
  return out;
}

std::string FormatRun(const sim::SimulationResult& result, const std::string& what,
                      const Palette& palette) {
  std::string out = Head(result, what, palette);
  out += "\n" + Nodes(result, palette);
  out += "\n" + Work(result, palette);
  out += Reservations(result, palette);
  out += "\n" + Waiting(result, palette);
  out += Expectations(result, palette);
  out += Trouble(result, palette);
  out += "\n" + Counts(result);
  return out;
}

}  // namespace knx::cmd
