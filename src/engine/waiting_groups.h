// Waiting pods, grouped by what they wait for, so that an event nobody in a group waits for costs
// nothing per pod. A group lives as long as a record refers to it, whether it has members or not: a
// record keeps the group of its last attempt after it moved on, instead of two sets of plugins of
// its own.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/plugin_set.h"

namespace knx::engine {

struct WaitsFor {
  std::uint32_t profile = 0;  // says which plugins the sets mean
  bool gated = false;         // rejected_by is then the plugin that holds it back
  PluginSet rejected_by{}, pending_on{};

  [[nodiscard]] bool names_none() const { return rejected_by.empty() && pending_on.empty(); }
  friend bool operator==(const WaitsFor&, const WaitsFor&) = default;
  template <class H>
  friend H AbslHashValue(H h, const WaitsFor& w) {
    return H::combine(std::move(h), w.profile, w.gated, w.rejected_by, w.pending_on);
  }
};

class WaitingGroups {
 public:
  using Group = std::uint32_t;

  explicit WaitingGroups(std::vector<std::uint32_t>& positions) : positions_(positions) {}

  // The group of those who wait for this; it stays until Release was called as often as Hold.
  Group Hold(const WaitsFor& what);
  void Release(Group group);

  void Join(Group group, std::uint32_t record);
  void Leave(Group group, std::uint32_t record);

  // Groups are below this; those nobody holds have no members.
  [[nodiscard]] Group limit() const { return static_cast<Group>(groups_.size()); }
  [[nodiscard]] const WaitsFor& what(Group group) const { return groups_[group].what; }
  [[nodiscard]] std::uint32_t holders(Group group) const { return groups_[group].holders; }
  // The order depends on nothing but the calls so far.
  [[nodiscard]] std::span<const std::uint32_t> members(Group group) const {
    return groups_[group].members;
  }
  // Where Hold would find it; limit() if nowhere.
  [[nodiscard]] Group Find(const WaitsFor& what) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    WaitsFor what;
    std::uint32_t holders = 0;
    std::vector<std::uint32_t> members;
  };
  std::vector<Entry> groups_;
  std::vector<Group> free_;
  absl::flat_hash_map<WaitsFor, Group> by_what_;
  std::vector<std::uint32_t>& positions_;
};

}  // namespace knx::engine
