// Gangs: pods that start together or not at all. Who belongs to which, how many must start
// together, and how many have a place.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbol.h"
#include "cluster/ids.h"

namespace knx::cluster {

struct Gang {
  Symbol namespace_;
  std::string name;
  std::vector<PodId> members;  // in the order in which they came; empty: the slot is free
  // The greatest that a member declares: which of them comes first makes no difference.
  std::int32_t minimum = 0;
  std::uint32_t placed = 0;  // members that have a place and are not about to leave it
  // Pods that were members and have done their work, since there were members last. Nobody has to
  // start in their stead.
  std::uint32_t finished = 0;
};

class GangTable {
 public:
  GangTable() = default;
  GangTable(const GangTable&) = delete;
  GangTable& operator=(const GangTable&) = delete;

  GangId Join(Symbol namespace_, std::string_view name, PodId pod);
  // A gang without members is forgotten.
  void Leave(GangId id, PodId pod);
  void SetMinimum(GangId id, std::int32_t minimum) { gangs_[id.index].minimum = minimum; }
  void CountFinished(GangId id) { ++gangs_[id.index].finished; }
  void CountPlaced(GangId id, int sign) {
    gangs_[id.index].placed += static_cast<std::uint32_t>(sign);
  }

  [[nodiscard]] const Gang& Get(GangId id) const { return gangs_[id.index]; }
  [[nodiscard]] bool Contains(GangId id) const {
    return id.index < gangs_.size() && !gangs_[id.index].members.empty();
  }
  // Ids are below this.
  [[nodiscard]] std::uint32_t id_limit() const { return static_cast<std::uint32_t>(gangs_.size()); }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::deque<Gang> gangs_;
  std::vector<GangId> free_;
  std::map<std::pair<Symbol, std::string>, GangId, std::less<>> by_name_;
};

}  // namespace knx::cluster
