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
  std::vector<PodId> members;  // in the order in which they came
  // The greatest that a member declares: which of them comes first makes no difference.
  std::int32_t minimum = 0;
  std::uint32_t placed = 0;  // members that have a place and are not about to leave it
  // Pods that were members and have done their work. Nobody has to start in their stead.
  std::uint32_t finished = 0;
};

class GangTable {
 public:
  GangTable() = default;
  GangTable(const GangTable&) = delete;
  GangTable& operator=(const GangTable&) = delete;

  GangId Join(Symbol namespace_, std::string_view name, PodId pod);
  // A gang without members, and without any that have finished, is forgotten.
  void Leave(GangId id, PodId pod);
  // A pod of that gang has done its work, and is remembered until its object is gone.
  void Finish(Symbol namespace_, std::string_view name, std::string_view uid);
  // The gang of a pod that had finished and is gone now; invalid: it was of none.
  GangId ForgetFinished(std::string_view uid);
  void SetMinimum(GangId id, std::int32_t minimum) { gangs_[id.index].minimum = minimum; }
  void CountPlaced(GangId id, int sign) {
    gangs_[id.index].placed += static_cast<std::uint32_t>(sign);
  }

  [[nodiscard]] const Gang& Get(GangId id) const { return gangs_[id.index]; }
  [[nodiscard]] bool Contains(GangId id) const {
    if (id.index >= gangs_.size()) return false;
    return !gangs_[id.index].members.empty() || gangs_[id.index].finished > 0;
  }
  // Ids are below this.
  [[nodiscard]] std::uint32_t id_limit() const { return static_cast<std::uint32_t>(gangs_.size()); }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  GangId Open(Symbol namespace_, std::string_view name);
  void CloseIfEmpty(GangId id);

  std::deque<Gang> gangs_;
  std::map<std::string, GangId, std::less<>> finished_;  // by uid
  std::vector<GangId> free_;
  std::map<std::pair<Symbol, std::string>, GangId, std::less<>> by_name_;
};

}  // namespace knx::cluster
