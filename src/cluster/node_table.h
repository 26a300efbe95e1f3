// Nodes as rows, what they have and what is used of it as columns.
// A row exists as soon as a Node or a pod names it; only rows with a Node count as nodes. A row
// that nobody names any more is given to the next node that comes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bitmap.h"
#include "base/symbol.h"
#include "base/text_map.h"
#include "cluster/host_ports.h"
#include "cluster/ids.h"
#include "cluster/image_table.h"
#include "cluster/resources.h"
#include "cluster/topology.h"

namespace knx::cluster {

// What the Node object says. Everything else about a row follows from its pods.
struct NodeFacts {
  std::vector<std::pair<Symbol, Symbol>> labels;  // sorted by key symbol
  TaintSetId taints;
  bool unschedulable = false;
  ResourceVector allocatable;
  std::vector<ImageId> images;            // sorted, unique
  std::vector<Symbol> declared_features;  // sorted, unique

  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

// One number a row; a column nobody wrote to takes no room and is zero everywhere.
class Column {
 public:
  [[nodiscard]] std::int64_t operator[](NodeRow row) const {
    return row.index < values_.size() ? values_[row.index] : 0;
  }
  std::int64_t& At(NodeRow row, std::size_t rows) {
    if (values_.size() < rows) values_.resize(rows, 0);
    return values_[row.index];
  }
  // Sums. One that has no room in 64 bits is shown as the nearest number that has, and kept exactly
  // beside, so that taking back what was added always gives the old value.
  void Add(NodeRow row, std::size_t rows, std::int64_t amount) {
    std::int64_t& value = At(row, rows);
    std::int64_t sum = 0;
    if (!beyond_.empty() || __builtin_add_overflow(value, amount, &sum)) [[unlikely]] {
      return AddExactly(row, amount);
    }
    value = sum;
  }
  void Subtract(NodeRow row, std::size_t rows, std::int64_t amount) {
    std::int64_t& value = At(row, rows);
    std::int64_t rest = 0;
    if (!beyond_.empty() || __builtin_sub_overflow(value, amount, &rest)) [[unlikely]] {
      return AddExactly(row, -static_cast<__int128>(amount));
    }
    value = rest;
  }
  [[nodiscard]] std::size_t bytes() const {
    return values_.capacity() * sizeof(std::int64_t) + beyond_.capacity() * sizeof(beyond_[0]);
  }

 private:
  void AddExactly(NodeRow row, __int128 change);

  std::vector<std::int64_t> values_;
  std::vector<std::pair<NodeRow, __int128>> beyond_;  // sums that 64 bits have no room for
};

class NodeTable {
 public:
  // ---- rows and names ----
  NodeRow RowFor(std::string_view name);
  [[nodiscard]] NodeRow Find(std::string_view name) const;
  [[nodiscard]] const std::string& name(NodeRow row) const { return rows_[row.index].name; }
  // Rows are numbered 0..row_count()-1; some of them may be free or have no Node.
  [[nodiscard]] std::uint32_t row_count() const { return static_cast<std::uint32_t>(rows_.size()); }
  [[nodiscard]] bool has_node(NodeRow row) const { return present_.Test(row.index); }
  [[nodiscard]] const Bitmap& present() const { return present_; }
  [[nodiscard]] std::uint32_t node_count() const { return node_count_; }

  // Position of the row's name among all names: the order in which ties are broken. Inserting a
  // name changes numbers but never the order of two rows. Valid after RefreshRanks().
  [[nodiscard]] std::uint32_t rank(NodeRow row) const { return ranks_[row.index]; }
  void RefreshRanks();
  // Every row, those without a Node too, in the order of the names. Valid after RefreshRanks().
  [[nodiscard]] std::span<const NodeRow> by_name() const { return by_rank_; }

  // ---- facts ----
  [[nodiscard]] const NodeFacts& facts(NodeRow row) const { return rows_[row.index].facts; }
  // Gives back what the node said before.
  NodeFacts SetFacts(NodeRow row, NodeFacts facts);
  NodeFacts ClearFacts(NodeRow row);
  // Gives the row back. It must have no Node and no pods.
  void Release(NodeRow row);
  // The value of a label, invalid if the node does not have it.
  [[nodiscard]] Symbol Label(NodeRow row, Symbol key) const;
  // Posting lists: the rows of nodes with this label, with this value of it. Ascending, empty if
  // there are none. The second is a list and no bitmap because most values (hostnames) are on one
  // node only.
  [[nodiscard]] const Bitmap& WithLabel(Symbol key) const;
  [[nodiscard]] std::span<const NodeRow> WithLabel(Symbol key, Symbol value) const;

  // The domains that a label makes of the nodes, kept up to date as long as it is used. Not to be
  // called while nodes are judged.
  [[nodiscard]] TopologyUse UseTopology(Symbol key) const;

  // ---- columns ----
  [[nodiscard]] const Column& allocatable(ResourceId id) const {
    return ColumnOf(allocatable_, id);
  }
  [[nodiscard]] const Column& requested(ResourceId id) const { return ColumnOf(requested_, id); }
  // What scoring assumes a pod uses that does not say: cpu and memory only.
  [[nodiscard]] const Column& assumed_cpu() const { return assumed_cpu_; }
  [[nodiscard]] const Column& assumed_memory() const { return assumed_memory_; }
  [[nodiscard]] std::int64_t pod_count(NodeRow row) const {
    return static_cast<std::int64_t>(rows_[row.index].pods.size());
  }
  [[nodiscard]] const UsedPorts& ports(NodeRow row) const { return rows_[row.index].ports; }
  [[nodiscard]] std::span<const PodId> pods(NodeRow row) const { return rows_[row.index].pods; }

  // What one pod takes.
  struct Usage {
    std::span<const ResourceAmount> requests;
    std::int64_t assumed_cpu = 0, assumed_memory = 0;
    std::span<const HostPort> ports;
  };
  void AddPod(NodeRow row, PodId pod, const Usage& usage);
  void RemovePod(NodeRow row, PodId pod, const Usage& usage);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Row {
    std::string name;
    NodeFacts facts;
    std::vector<PodId> pods;
    UsedPorts ports;
  };
  static const Column& ColumnOf(const std::vector<Column>& columns, ResourceId id);
  std::int64_t& Cell(std::vector<Column>& columns, ResourceId id, NodeRow row);
  template <auto apply>  // Add or Subtract of a column
  void Account(NodeRow row, const Usage& usage);
  void IndexLabels(NodeRow row, bool add);
  void PlaceInTopologies(NodeRow row);

  std::vector<Row> rows_;
  Bitmap present_;
  std::uint32_t node_count_ = 0;
  TextMap<NodeRow> by_name_;
  std::vector<NodeRow> free_rows_;
  std::vector<Column> allocatable_, requested_;  // by resource id
  Column assumed_cpu_, assumed_memory_;
  absl::flat_hash_map<Symbol, Bitmap> with_key_;
  absl::flat_hash_map<std::pair<Symbol, Symbol>, std::vector<NodeRow>> with_value_;
  std::vector<NodeRow> by_rank_;  // rows in the order of their names, without those in unranked_
  std::vector<NodeRow> unranked_;
  std::vector<std::uint32_t> ranks_;
  mutable Topologies topologies_;
};

}  // namespace knx::cluster
