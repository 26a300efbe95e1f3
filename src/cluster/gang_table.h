// Gangs: pods that start together or not at all. Who belongs to which, how many must start
// together, and how many have a place. How many must is said by the members themselves, or by an
// object that they name, which may come before or after them and may go.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbol.h"
#include "cluster/gang_declaration.h"
#include "cluster/ids.h"

namespace knx::cluster {

struct GangKey {
  Symbol namespace_;
  GangSource source = GangSource::kPod;
  std::string name;
  friend bool operator==(const GangKey&, const GangKey&) = default;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

struct Gang {
  // As a minimum: the object that would say it is not there.
  static constexpr std::int32_t kNoObject = std::numeric_limits<std::int32_t>::max();

  Symbol namespace_;
  GangSource source = GangSource::kPod;
  std::string name;
  std::vector<PodId> members;  // in the order in which they came; empty: the slot is free
  // What the object says, 1 if each starts for itself. Without an object the greatest that a member
  // declares: which of them comes first makes no difference.
  std::int32_t minimum = 0;
  std::uint32_t placed = 0;  // members that have a place and are not about to leave it
  // Pods that were members and have done their work, since there were members last. Nobody has to
  // start in their stead.
  std::uint32_t finished = 0;

  [[nodiscard]] bool awaits_object() const { return minimum == kNoObject; }
};

class GangTable {
 public:
  GangTable() = default;
  GangTable(const GangTable&) = delete;
  GangTable& operator=(const GangTable&) = delete;

  // `owner`: the uid of what makes the pod, empty if nothing does.
  GangId Join(const GangKey& key, PodId pod, std::string_view owner = {});
  // A gang without members is forgotten, but for how many of one owner have done their work: the
  // owner may make one more that failed.
  void Leave(GangId id, PodId pod, std::string_view owner = {});
  // Of a gang without an object.
  void SetMinimum(GangId id, std::int32_t minimum) { gangs_[id.index].minimum = minimum; }
  void CountFinished(GangId id, std::uint32_t pods = 1) { gangs_[id.index].finished += pods; }
  void CountPlaced(GangId id, int sign) {
    gangs_[id.index].placed += static_cast<std::uint32_t>(sign);
  }

  // An object is there and has these groups, with their minimums; none: it is not there.
  using Groups = std::span<const std::pair<std::string, std::int32_t>>;
  void SetObject(const GangKey& object, Groups groups);
  // Whose members name the object, whether it is there or not.
  [[nodiscard]] std::vector<GangId> NamedBy(const GangKey& object) const;
  // What the object of a gang says at present.
  [[nodiscard]] std::int32_t MinimumByObject(const Gang& gang) const;

  [[nodiscard]] const Gang& Get(GangId id) const { return gangs_[id.index]; }
  [[nodiscard]] bool Contains(GangId id) const {
    return id.index < gangs_.size() && !gangs_[id.index].members.empty();
  }
  // Ids are below this.
  [[nodiscard]] std::uint32_t id_limit() const { return static_cast<std::uint32_t>(gangs_.size()); }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  // Of a gang without members.
  struct Past {
    GangKey key;
    std::uint32_t finished = 0;
  };
  static constexpr std::size_t kMostPasts = 10'000;  // the oldest are forgotten

  void Remember(const Gang& gang, std::string_view owner);

  std::deque<Gang> gangs_;
  std::vector<GangId> free_;
  std::map<GangKey, GangId> by_name_;
  std::map<GangKey, std::int32_t> objects_;         // their groups, and the minimum of each
  std::map<std::string, Past, std::less<>> pasts_;  // by owner
  std::deque<std::string> past_owners_;             // in the order in which they came
};

}  // namespace knx::cluster
