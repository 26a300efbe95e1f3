// In which domain is a node? One topology for each label that somebody spreads or gathers pods by:
// the nodes with one value of it are one domain, numbered densely so that counts by domain are
// arrays.
// Kept by the node table for as long as somebody uses it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/symbol.h"
#include "cluster/ids.h"

namespace knx::cluster {

class Topology {
 public:
  // The domain of nodes without the label, and of rows without a node.
  static constexpr std::uint32_t kNowhere = 0;

  // By row; covers at least all rows that have a node.
  [[nodiscard]] std::span<const std::uint32_t> domains() const { return domains_; }
  [[nodiscard]] std::uint32_t domain(NodeRow row) const {
    return row.index < domains_.size() ? domains_[row.index] : kNowhere;
  }
  // Domains are numbered below this; some numbers may be free.
  [[nodiscard]] std::uint32_t domain_limit() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  // The domain of a value, kNowhere if no node has it.
  [[nodiscard]] std::uint32_t Find(Symbol value) const {
    const auto it = by_value_.find(value);
    return it == by_value_.end() ? kNowhere : it->second;
  }
  [[nodiscard]] std::size_t domain_count() const { return by_value_.size(); }
  [[nodiscard]] std::uint32_t labelled_nodes() const { return labelled_; }
  // Grows whenever a node is in another domain than before.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::size_t bytes() const {
    return (domains_.capacity() + nodes_.capacity() + free_.capacity()) * sizeof(std::uint32_t) +
           by_value_.capacity() * (sizeof(Symbol) + sizeof(std::uint32_t) + 1) +
           values_.capacity() * sizeof(Symbol);
  }

  // `value` is invalid if the node lacks the label.
  void Set(NodeRow row, Symbol value);

 private:
  std::vector<std::uint32_t> domains_;    // by row
  std::vector<std::uint32_t> nodes_{0};   // by domain: so many
  std::vector<Symbol> values_{Symbol{}};  // by domain
  std::vector<std::uint32_t> free_;
  absl::flat_hash_map<Symbol, std::uint32_t> by_value_;
  std::uint32_t labelled_ = 0;
  std::uint64_t version_ = 1;
};

class Topologies;

// Keeps a topology alive.
class TopologyUse {
 public:
  TopologyUse() = default;
  TopologyUse(TopologyUse&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)),
        key_(other.key_),
        topology_(other.topology_) {}
  TopologyUse& operator=(TopologyUse&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(key_, other.key_);
    std::swap(topology_, other.topology_);
    return *this;
  }
  ~TopologyUse();
  const Topology* operator->() const { return topology_; }
  const Topology& operator*() const { return *topology_; }

 private:
  friend class Topologies;
  TopologyUse(Topologies& owner, Symbol key, const Topology& topology)
      : owner_(&owner), key_(key), topology_(&topology) {}

  Topologies* owner_ = nullptr;
  Symbol key_;
  const Topology* topology_ = nullptr;
};

class Topologies {
 public:
  // `fill` is called with a topology that was not there before.
  template <class Fill>
  TopologyUse Use(Symbol key, Fill fill) {
    Entry& entry = entries_[key];
    if (entry.topology == nullptr) {
      entry.topology = std::make_unique<Topology>();
      fill(*entry.topology);
    }
    ++entry.users;
    return {*this, key, *entry.topology};
  }
  void Release(Symbol key) {
    const auto it = entries_.find(key);
    if (--it->second.users == 0) entries_.erase(it);
  }
  // In no order.
  template <class Visit>
  void ForEach(Visit visit) {
    for (auto& [key, entry] : entries_) visit(key, *entry.topology);
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& [key, entry] : entries_) total += sizeof(entry) + entry.topology->bytes();
    return total;
  }

 private:
  struct Entry {
    std::unique_ptr<Topology> topology;
    std::uint32_t users = 0;
  };
  absl::flat_hash_map<Symbol, Entry> entries_;
};

inline TopologyUse::~TopologyUse() {
  if (owner_ != nullptr) owner_->Release(key_);
}

}  // namespace knx::cluster
