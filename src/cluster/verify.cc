// Recounts the state from scratch. Written against the definitions, not against the code that keeps
// the counts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cluster/state.h"

namespace knx::cluster {
std::optional<std::string> State::Verify() const {
  std::vector<std::vector<PodId>> on_row(nodes_.row_count());
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    const PodId id{i};
    if (!pods_.Contains(id)) continue;
    const Pod& pod = pods_.Get(id);
    if (pods_.Find(pod.uid) != id) return fmt::format("pod {}: not found by its uid", pod.name);
    if (pod.node.valid()) on_row[pod.node.index].push_back(id);
    if (pod.nominated.valid()) {
      const auto list = nominated(pod.nominated);
      if (std::find(list.begin(), list.end(), id) == list.end()) {
        return fmt::format("pod {}: nominated, but its node does not know", pod.name);
      }
    }
  }
  for (std::uint32_t i = 0; i < nodes_.row_count(); ++i) {
    auto listed =
        std::vector<PodId>(nodes_.pods(NodeRow{i}).begin(), nodes_.pods(NodeRow{i}).end());
    std::sort(listed.begin(), listed.end());
    if (listed != on_row[i]) {
      return fmt::format("node {}: lists {} pods, {} say they are there", nodes_.name(NodeRow{i}),
                         listed.size(), on_row[i].size());
    }
    if (auto difference = VerifyNode(NodeRow{i}, on_row[i])) return difference;
  }
  if (auto difference = VerifyVolumes()) return difference;
  if (auto difference = VerifyShared()) return difference;
  if (auto difference = kinship_.Verify()) return difference;
  if (auto difference = VerifyGangs()) return difference;
  return VerifyCarried();
}

std::optional<std::string> State::VerifyGangs() const {
  struct Counted {
    std::size_t members = 0;
    std::uint32_t placed = 0;
  };
  std::map<GangId, Counted> counted;
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (!pods_.Contains(PodId{i})) continue;
    const Pod& pod = pods_.Get(PodId{i});
    if (pod.gang == nullptr || !pod.gang->declared.problem.empty()) continue;
    Counted& gang = counted[pod.gang->id];
    ++gang.members;
    if (pod.fills_gang()) ++gang.placed;
  }
  for (const auto& [id, gang] : counted) {
    const Gang& kept = gangs_.Get(id);
    GangDemand demand = CountGangDemand(id);
    const std::int32_t minimum = demand.minimum = demand.in_all();
    if (kept.members.size() == gang.members && kept.demand() == demand &&
        kept.placed == gang.placed) {
      continue;
    }
    return fmt::format(
        "gang {}: {} of {} members have a place, {} needed; counted are {} of {}, {}", kept.name,
        gang.placed, gang.members, minimum, kept.placed, kept.members.size(), kept.minimum);
  }
  if (counted.size() != gangs_.size()) return "a gang is kept that has no members";
  return std::nullopt;
}

// What placed pods say about others, counted by selector and row.
std::optional<std::string> State::VerifyCarried() const {
  std::map<std::pair<PodSelectorId, NodeRow>, CarryCounter::Numbers> counted;
  std::set<PodSelectorId> selectors;
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (!pods_.Contains(PodId{i})) continue;
    const Pod& pod = pods_.Get(PodId{i});
    const ClassTerms& terms = classes_.Get(pod.pod_class).terms;
    const auto add = [&](PodSelectorId id, CarryMeasure measure, std::int64_t amount) {
      selectors.insert(id);
      if (pod.node.valid()) counted[{id, pod.node}][measure] += amount;
    };
    for (const PodSelectorId id : terms.apart) add(id, kApart, 1);
    for (const PodSelectorId id : terms.near) add(id, kNear, 1);
    for (const auto& term : terms.preferred) add(term.selector, kPreference, term.weight);
  }
  std::size_t rows = 0;
  for (const PodSelectorId id : selectors) rows += kinship_.Get(id).carried.rows().size();
  std::erase_if(counted, [](const auto& entry) { return entry.second == CarryCounter::Numbers{}; });
  for (const auto& [where, numbers] : counted) {
    if (kinship_.Get(where.first).carried.At(where.second) != numbers) {
      return fmt::format("selector {}: what pods on node {} say about its pods is counted wrong",
                         where.first.index, nodes_.name(where.second));
    }
  }
  if (rows != counted.size()) return "terms of pods are counted that are on no node";
  return std::nullopt;
}

std::optional<std::string> State::VerifyVolumes() const {
  Volumes recounted = volumes_.WithoutPods();
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    const PodId id{i};
    if (!pods_.Contains(id)) {
      if (volumes_.FindPlan(id) != nullptr) return "volumes are planned for a pod that is gone";
      continue;
    }
    const NodeRow row = pods_.Get(id).node;
    const PodClass& pod_class = class_of(id);
    if (row.valid() && !pod_class.spec.volumes.empty()) {
      recounted.PodPlaced(id, row, nodes_.name(row), pod_class);
    }
  }
  return volumes_.Difference(recounted);
}

std::optional<std::string> State::VerifyNode(NodeRow row, std::span<const PodId> pods) const {
  const std::string& name = nodes_.name(row);
  std::vector<std::int64_t> requested(resource_names_.size(), 0);
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  UsedPorts ports;
  for (const PodId id : pods) {
    const NodeTable::Usage usage = usage_of(id);
    for (const ResourceAmount& entry : usage.requests) {
      requested[entry.id.index] = SaturatingAdd(requested[entry.id.index], entry.amount);
    }
    cpu = SaturatingAdd(cpu, usage.assumed_cpu);
    memory = SaturatingAdd(memory, usage.assumed_memory);
    ports.Add(usage.ports);
  }
  for (std::uint32_t r = 0; r < resource_names_.size(); ++r) {
    const ResourceId id{r};
    if (nodes_.requested(id)[row] != requested[r]) {
      return fmt::format("node {}: requested {} is {}, its pods add up to {}", name,
                         resource_names_.Name(id), nodes_.requested(id)[row], requested[r]);
    }
    const std::int64_t allocatable = AmountOf(nodes_.facts(row).allocatable, id);
    if (nodes_.allocatable(id)[row] != allocatable) {
      return fmt::format("node {}: allocatable {} is {}, the node says {}", name,
                         resource_names_.Name(id), nodes_.allocatable(id)[row], allocatable);
    }
  }
  if (nodes_.assumed_cpu()[row] != cpu || nodes_.assumed_memory()[row] != memory) {
    return fmt::format("node {}: assumed usage is {}m/{}, its pods add up to {}m/{}", name,
                       nodes_.assumed_cpu()[row], nodes_.assumed_memory()[row], cpu, memory);
  }
  if (!(nodes_.ports(row) == ports)) return fmt::format("node {}: host ports differ", name);
  for (const auto& [key, value] : nodes_.facts(row).labels) {
    const auto rows = nodes_.WithLabel(key, value);
    if (!std::binary_search(rows.begin(), rows.end(), row) ||
        !nodes_.WithLabel(key).Test(row.index)) {
      return fmt::format("node {}: not in the posting list of {}={}", name, words_.Text(key),
                         words_.Text(value));
    }
  }
  return std::nullopt;
}

std::optional<std::string> State::VerifyShared() const {
  std::vector<std::uint32_t> pods_of_class;
  std::uint32_t nodes = 0;
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (!pods_.Contains(PodId{i})) continue;
    const std::uint32_t c = pods_.Get(PodId{i}).pod_class.index;
    if (c >= pods_of_class.size()) pods_of_class.resize(c + 1, 0);
    ++pods_of_class[c];
  }
  for (std::uint32_t c = 0; c < pods_of_class.size(); ++c) {
    const std::uint32_t counted = pods_of_class[c];
    if (counted > 0 && classes_.Get(ClassId{c}).pods != counted) {
      return fmt::format("class {}: has {} pods, counts {}", c, counted,
                         classes_.Get(ClassId{c}).pods);
    }
  }
  std::vector<std::uint32_t> nodes_with_image;
  for (std::uint32_t i = 0; i < nodes_.row_count(); ++i) {
    if (!nodes_.has_node(NodeRow{i})) continue;
    ++nodes;
    for (const ImageId image : nodes_.facts(NodeRow{i}).images) {
      if (image.index >= nodes_with_image.size()) nodes_with_image.resize(image.index + 1, 0);
      ++nodes_with_image[image.index];
    }
  }
  for (std::uint32_t i = 0; i < nodes_with_image.size(); ++i) {
    if (nodes_with_image[i] > 0 && images_.Get(ImageId{i}).nodes != nodes_with_image[i]) {
      return fmt::format("image {}: on {} nodes, counts {}", images_.Get(ImageId{i}).name,
                         nodes_with_image[i], images_.Get(ImageId{i}).nodes);
    }
  }
  if (nodes != nodes_.node_count()) {
    return fmt::format("{} nodes are there, {} are counted", nodes, nodes_.node_count());
  }
  std::size_t nominated_pods = 0;
  for (const auto& [row, list] : nominations_) nominated_pods += list.size();
  for (std::uint32_t i = 0; i < pods_.id_limit(); ++i) {
    if (pods_.Contains(PodId{i}) && pods_.Get(PodId{i}).nominated.valid()) --nominated_pods;
  }
  if (nominated_pods != 0) return "a node lists nominated pods that are not nominated there";
  return std::nullopt;
}

State::Bytes State::bytes() const {
  Bytes bytes;
  bytes.nodes = nodes_.bytes() + images_.bytes() + taint_sets_.bytes();
  bytes.pods = pods_.bytes() + gangs_.bytes();
  bytes.classes = classes_.bytes();
  bytes.labels = label_sets_.bytes();
  bytes.words = words_.bytes() + resource_names_.bytes();
  bytes.changes = fact_changes_.bytes() + usage_changes_.bytes();
  bytes.bystanders = bystanders_.bytes();
  bytes.volumes = volumes_.bytes();
  bytes.kinship = kinship_.bytes();
  return bytes;
}

}  // namespace knx::cluster
