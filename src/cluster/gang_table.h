// Gangs: pods that start together or not at all. Who belongs to which, how many must start
// together, and how many have a place. How many must is said by the members themselves, or by an
// object that they name, which may come before or after them and may go.
#pragma once

#include <algorithm>
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
#include "base/time.h"
#include "cluster/finished_members.h"
#include "cluster/gang_declaration.h"
#include "cluster/gang_key.h"
#include "cluster/ids.h"
#include "cluster/resources.h"

namespace knx::cluster {

// Members of a gang that start whole or not at all.
struct SubGroupDemand {
  std::int32_t minimum = 1;  // so many of them make it whole
  std::string kind = {};     // sub-groups of which so many must start
  friend bool operator==(const SubGroupDemand&, const SubGroupDemand&) = default;
};

// Who must start together: so many, and of each of these roles so many of them; where, and when.
struct GangDemand {
  // What the object says, 1 if each starts for itself. Without an object the greatest that a member
  // declares: which of them comes first makes no difference.
  std::int32_t minimum = 0;
  std::int32_t said = 0;  // the greatest that a member declares in so many words
  GangRoles roles = {};   // that must be among them; together no more than the minimum
  std::map<std::string, SubGroupDemand, std::less<>> sub_groups = {};    // by name
  std::map<std::string, std::int32_t, std::less<>> min_sub_groups = {};  // of each kind, if any
  std::string topology_key = {};  // all in one domain of this label of nodes; empty: anywhere
  ResourceVector resources = {};  // nobody starts before so much is left for it in all
  // False: each of its pods is one like any other.
  [[nodiscard]] bool together() const { return minimum > 1 || !resources.empty(); }
  // Who wants more of its roles than in all wants that many in all.
  [[nodiscard]] std::int32_t in_all() const;
  [[nodiscard]] std::int64_t of_roles() const;
  friend bool operator==(const GangDemand&, const GangDemand&) = default;
};

struct Gang : GangDemand {
  // As a minimum: the object that would say it is not there.
  static constexpr std::int32_t kNoObject = std::numeric_limits<std::int32_t>::max();

  Symbol namespace_;
  GangSource source = GangSource::kPod;
  std::string name;
  std::vector<PodId> members;  // in the order in which they came; empty: the slot is free
  GangTerms terms;             // as its object says
  std::uint32_t placed = 0;    // members that have a place and do not leave it
  Time begun = kNever;         // the first of this run was made then, as far as is known
  // Pods of this run that have done their work. Nobody has to start in their stead.
  std::uint32_t finished = 0;
  std::uint32_t finished_and_gone = 0;  // of those, so many are not there any more
  std::int64_t roles_in_all = 0;        // what its roles need together
  // Another one, that no gang has had, whenever something of this changes.
  std::uint64_t version = 0;

  [[nodiscard]] bool awaits_object() const { return minimum == kNoObject; }
  [[nodiscard]] const GangDemand& demand() const { return *this; }
  [[nodiscard]] GangKey key() const { return {namespace_, source, name}; }
};

class GangTable {
 public:
  GangTable() = default;
  GangTable(const GangTable&) = delete;
  GangTable& operator=(const GangTable&) = delete;

  // `begun`: when the run began that the pod belongs to, see BegunBy.
  GangId Join(const GangKey& key, PodId pod, Time begun = kNever);
  // A gang without members is forgotten.
  void Leave(GangId id, PodId pod);
  // When the run began that a pod belongs to: with the pod, or with another of its owner.
  [[nodiscard]] Time BegunBy(const GangKey& key, std::string_view owner, Time created) const {
    return std::min(created, finished_.BegunBy(key, owner));
  }
  // When it began, as its members say; what has finished is counted anew.
  void SetBegun(GangId id, Time begun);
  // Somebody has finished that is still there, in this run or in one before.
  [[nodiscard]] bool HasFinished(const GangKey& key) const { return finished_.Contains(key); }
  // A pod of a gang has done its work. The gang, invalid if it has no members or knew of it.
  GangId AddFinished(const GangKey& key, FinishedMember pod);
  // One that had is gone. It stays counted as long as somebody of its run has a place.
  GangId RemoveFinished(const std::string& uid);
  void SetDemand(GangId id, GangDemand demand);
  // Its demand, to be raised by what one member says; whoever does calls the second one then, with
  // how many more its roles need.
  GangDemand& EditDemand(GangId id) { return gangs_[id.index]; }
  void SettleDemand(GangId id, std::int32_t more_in_roles);
  void CountPlaced(GangId id, int sign) {
    gangs_[id.index].placed += static_cast<std::uint32_t>(sign);
    Touch(gangs_[id.index]);
  }

  // An object is there and has these groups, with their minimums, and what each wants besides;
  // none: it is not there.
  using Groups = std::span<const std::pair<std::string, std::int32_t>>;
  void SetObject(const GangKey& object, Groups groups, const GangDemand& each = {},
                 std::vector<k8s::SubGroupPolicy> sub_groups = {});
  // How the object of a gang divides it.
  [[nodiscard]] std::span<const k8s::SubGroupPolicy> PoliciesOf(const Gang& gang) const;
  // What else the object says, likewise; nothing if it is not there.
  void SetTerms(const GangKey& object, const GangTerms& terms);
  // Whose members name the object, whether it is there or not.
  [[nodiscard]] std::vector<GangId> NamedBy(const GangKey& object) const;
  // What the object of a gang says at present.
  [[nodiscard]] GangDemand DemandByObject(const Gang& gang) const;
  [[nodiscard]] GangTerms TermsByObject(const Gang& gang) const;

  [[nodiscard]] const Gang& Get(GangId id) const { return gangs_[id.index]; }
  [[nodiscard]] bool Contains(GangId id) const {
    return id.index < gangs_.size() && !gangs_[id.index].members.empty();
  }
  // Ids are below this.
  [[nodiscard]] std::uint32_t id_limit() const { return static_cast<std::uint32_t>(gangs_.size()); }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] GangId Find(const GangKey& key) const;
  void Touch(Gang& gang) { gang.version = ++changes_; }

  std::deque<Gang> gangs_;
  std::uint64_t changes_ = 0;
  std::deque<GangId> free_;  // the first to be used again in front
  std::map<GangKey, GangId> by_name_;
  std::map<GangKey, GangDemand> objects_;  // their groups, and what each wants
  std::map<GangKey, std::vector<k8s::SubGroupPolicy>> policies_;  // of those that have any
  std::map<GangKey, GangTerms> terms_;  // of objects that say something there
  FinishedMembers finished_;
};

}  // namespace knx::cluster
