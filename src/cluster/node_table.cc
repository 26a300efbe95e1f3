#include "cluster/node_table.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace knx::cluster {
namespace {

const Column kZeroColumn;
const Bitmap kEmptyBitmap;

}  // namespace

void Column::AddExactly(NodeRow row, __int128 change) {
  const auto found = std::find_if(beyond_.begin(), beyond_.end(),
                                  [row](const auto& entry) { return entry.first == row; });
  const bool was_beyond = found != beyond_.end();
  const __int128 sum = (was_beyond ? found->second : values_[row.index]) + change;
  constexpr __int128 kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr __int128 kMost = std::numeric_limits<std::int64_t>::max();
  values_[row.index] = static_cast<std::int64_t>(std::clamp(sum, kLeast, kMost));
  const bool is_beyond = sum < kLeast || sum > kMost;
  if (was_beyond && !is_beyond) beyond_.erase(found);
  if (was_beyond && is_beyond) found->second = sum;
  if (!was_beyond && is_beyond) beyond_.emplace_back(row, sum);
}

NodeRow NodeTable::RowFor(std::string_view name) {
  if (const auto it = by_name_.find(name); it != by_name_.end()) return it->second;
  NodeRow row{row_count()};
  if (free_rows_.empty()) {
    rows_.emplace_back();
  } else {
    row = free_rows_.back();
    free_rows_.pop_back();
    std::erase(by_rank_, row);
    std::erase(unranked_, row);
  }
  rows_[row.index].name = name;
  by_name_.emplace(name, row);
  unranked_.push_back(row);
  return row;
}

NodeRow NodeTable::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? NodeRow{} : it->second;
}

void NodeTable::RefreshRanks() {
  if (unranked_.empty()) return;
  const auto by_name = [this](NodeRow a, NodeRow b) { return name(a) < name(b); };
  std::sort(unranked_.begin(), unranked_.end(), by_name);
  const auto middle = static_cast<std::ptrdiff_t>(by_rank_.size());
  by_rank_.insert(by_rank_.end(), unranked_.begin(), unranked_.end());
  std::inplace_merge(by_rank_.begin(), by_rank_.begin() + middle, by_rank_.end(), by_name);
  unranked_.clear();
  ranks_.resize(rows_.size());
  for (std::uint32_t i = 0; i < by_rank_.size(); ++i) ranks_[by_rank_[i].index] = i;
}

NodeFacts NodeTable::SetFacts(NodeRow row, NodeFacts facts) {
  if (has_node(row)) {
    IndexLabels(row, false);
    for (const ResourceAmount& entry : rows_[row.index].facts.allocatable) {
      Cell(allocatable_, entry.id, row) = 0;
    }
  } else {
    present_.Set(row.index);
    ++node_count_;
  }
  std::swap(rows_[row.index].facts, facts);
  for (const ResourceAmount& entry : rows_[row.index].facts.allocatable) {
    Cell(allocatable_, entry.id, row) = entry.amount;
  }
  IndexLabels(row, true);
  PlaceInTopologies(row);
  return facts;
}

NodeFacts NodeTable::ClearFacts(NodeRow row) {
  KNX_CHECK(has_node(row), "a node is removed that is not there");
  IndexLabels(row, false);
  for (const ResourceAmount& entry : rows_[row.index].facts.allocatable) {
    Cell(allocatable_, entry.id, row) = 0;
  }
  NodeFacts before = std::exchange(rows_[row.index].facts, {});
  PlaceInTopologies(row);
  present_.Reset(row.index);
  --node_count_;
  return before;
}

Symbol NodeTable::Label(NodeRow row, Symbol key) const {
  const auto& labels = rows_[row.index].facts.labels;
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& label, Symbol k) { return label.first < k; });
  return it != labels.end() && it->first == key ? it->second : Symbol{};
}

const Bitmap& NodeTable::WithLabel(Symbol key) const {
  const auto it = with_key_.find(key);
  return it == with_key_.end() ? kEmptyBitmap : it->second;
}

std::span<const NodeRow> NodeTable::WithLabel(Symbol key, Symbol value) const {
  const auto it = with_value_.find({key, value});
  if (it == with_value_.end()) return {};
  return it->second;
}

void NodeTable::IndexLabels(NodeRow row, bool add) {
  for (const auto& label : rows_[row.index].facts.labels) {
    with_key_[label.first].Assign(row.index, add);
    std::vector<NodeRow>& rows = with_value_[label];
    const auto at = std::lower_bound(rows.begin(), rows.end(), row);
    if (add) {
      rows.insert(at, row);
    } else {
      rows.erase(at);
      if (rows.empty()) with_value_.erase(label);
    }
  }
}

TopologyUse NodeTable::UseTopology(Symbol key) const {
  return topologies_.Use(key, [&](Topology& made) {
    present_.ForEach([&](std::uint32_t row) { made.Set(NodeRow{row}, Label(NodeRow{row}, key)); });
  });
}

void NodeTable::PlaceInTopologies(NodeRow row) {
  topologies_.ForEach([&](Symbol key, Topology& topology) { topology.Set(row, Label(row, key)); });
}

// The same for every column that a pod counts in.
template <auto apply>
void NodeTable::Account(NodeRow row, const Usage& usage) {
  for (const ResourceAmount& entry : usage.requests) {
    if (entry.id.index >= requested_.size()) requested_.resize(entry.id.index + 1);
    (requested_[entry.id.index].*apply)(row, rows_.size(), entry.amount);
  }
  (assumed_cpu_.*apply)(row, rows_.size(), usage.assumed_cpu);
  (assumed_memory_.*apply)(row, rows_.size(), usage.assumed_memory);
}

void NodeTable::AddPod(NodeRow row, PodId pod, const Usage& usage) {
  rows_[row.index].pods.push_back(pod);
  rows_[row.index].ports.Add(usage.ports);
  Account<&Column::Add>(row, usage);
}

void NodeTable::RemovePod(NodeRow row, PodId pod, const Usage& usage) {
  auto& pods = rows_[row.index].pods;
  const auto it = std::find(pods.begin(), pods.end(), pod);
  KNX_CHECK(it != pods.end(), "a pod is taken from a node it is not on");
  *it = pods.back();
  pods.pop_back();
  rows_[row.index].ports.Remove(usage.ports);
  Account<&Column::Subtract>(row, usage);
}

void NodeTable::Release(NodeRow row) {
  KNX_CHECK(!has_node(row) && pod_count(row) == 0, "a row is given back that is in use");
  by_name_.erase(rows_[row.index].name);
  free_rows_.push_back(row);
}

const Column& NodeTable::ColumnOf(const std::vector<Column>& columns, ResourceId id) {
  return id.index < columns.size() ? columns[id.index] : kZeroColumn;
}

std::int64_t& NodeTable::Cell(std::vector<Column>& columns, ResourceId id, NodeRow row) {
  if (id.index >= columns.size()) columns.resize(id.index + 1);
  return columns[id.index].At(row, rows_.size());
}

std::size_t NodeTable::bytes() const {
  std::size_t total = rows_.capacity() * sizeof(Row) + present_.bytes() +
                      by_name_.capacity() * (sizeof(std::string) + sizeof(NodeRow) + 1) +
                      (free_rows_.capacity() + by_rank_.capacity() + unranked_.capacity()) * 4 +
                      ranks_.capacity() * 4 + topologies_.bytes() + assumed_cpu_.bytes() +
                      assumed_memory_.bytes();
  for (const Row& row : rows_) {
    total += row.facts.labels.capacity() * sizeof(std::pair<Symbol, Symbol>) +
             row.facts.allocatable.capacity() * sizeof(ResourceAmount) +
             row.facts.images.capacity() * sizeof(ImageId) + row.pods.capacity() * sizeof(PodId) +
             row.ports.bytes();
    if (row.name.capacity() > std::string().capacity()) total += 2 * row.name.capacity();
  }
  for (const auto* columns : {&allocatable_, &requested_}) {
    for (const Column& column : *columns) total += column.bytes();
  }
  for (const auto& [key, rows] : with_key_) total += sizeof(key) + sizeof(rows) + rows.bytes();
  for (const auto& [label, rows] : with_value_) {
    total += sizeof(label) + sizeof(rows) + rows.capacity() * sizeof(NodeRow);
  }
  return total;
}

}  // namespace knx::cluster
