// Pods as compact records. What many pods share is in their class and label set.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "base/time.h"
#include "cluster/gang_declaration.h"
#include "cluster/ids.h"
#include "cluster/resources.h"
#include "cluster/workload_profile.h"
#include "k8s/objects.h"
#include "k8s/pod_requests.h"

namespace knx::cluster {

// For a pod whose status says that it takes something else than its class asks for.
struct InPlaceUsage {
  ResourceVector requests;
  k8s::AssumedUsage assumed;
  friend bool operator==(const InPlaceUsage&, const InPlaceUsage&) = default;
};

// Of a pod that says it belongs to a gang. The id is invalid if what it says cannot be read.
struct GangMembership {
  GangDeclaration declared;
  std::string owner;  // the uid of what makes its pods; empty: nothing does
  GangId id = {};
  std::string sub_group = {};  // of the gang, as the pod says or its object; empty: none
  bool conflict_said = false;  // that it contradicts itself, another, or its object
};

struct Pod {
  std::string name, uid;
  Symbol namespace_;
  ClassId pod_class;
  LabelSetId labels;
  KinId kin;          // of its namespace, labels and controller
  NodeRow node;       // where it takes room: bound, or assumed to be
  NodeRow nominated;  // where preemption made room for it
  std::int32_t priority = 0;
  // Of a hold (reservation_hold.h): that of those it is for, where room was promised to others.
  std::int32_t beneficiary_priority = std::numeric_limits<std::int32_t>::min();
  bool assumed = false;      // ours, and not yet confirmed by the API server
  bool terminating = false;  // has a deletion timestamp
  bool preempted = false;    // terminating because a scheduler made room for another pod
  bool evicted = false;      // by us, for another pod: it was asked to go, or is about to be
  bool making_room = false;  // pods are being evicted for it
  bool has_volumes = false;  // that some decision depends on
  bool by_itself = false;    // to who places it gangs mean nothing
  std::int64_t generation = 0;
  Time created, started;
  Time leaves_by;  // of a terminating one: its end has been announced for then
  std::vector<std::string> gates;
  std::unique_ptr<InPlaceUsage> in_place;
  // What it may use at most, if that is not what the spec of its class says. No decision depends on
  // it, so pods of one class may differ.
  std::unique_ptr<ResourceVector> limits;
  // The nominated node as last told, whether it is known or not; nullptr: none. What we decided
  // since is in `nominated`.
  std::unique_ptr<std::string> told_nomination;
  std::unique_ptr<GangMembership> gang;  // nullptr: it belongs to none
  ProfileFindings profile;               // what it says itself; State::profile_of says what counts

  // It goes, whether that is seen already or not: nobody is to count on it.
  [[nodiscard]] bool leaves() const { return terminating || evicted; }
  // Its gang may count on it. Who is placed by itself may fail without anybody of its gang being
  // asked, until it is bound.
  [[nodiscard]] bool fills_gang() const {
    return node.valid() && !leaves() && !(assumed && by_itself);
  }
};

class PodTable {
 public:
  PodTable();
  PodTable(const PodTable&) = delete;
  PodTable& operator=(const PodTable&) = delete;

  // The uid must be new.
  PodId Add(Pod&& pod);
  Pod Remove(PodId id);
  [[nodiscard]] PodId Find(std::string_view uid) const;
  [[nodiscard]] const Pod& Get(PodId id) const { return *pods_[id.index]; }
  [[nodiscard]] Pod& Edit(PodId id) { return *pods_[id.index]; }
  [[nodiscard]] bool Contains(PodId id) const {
    return id.index < pods_.size() && pods_[id.index].has_value();
  }
  [[nodiscard]] std::size_t size() const { return by_uid_.size(); }
  // Ids are below this; Contains() tells which are in use.
  [[nodiscard]] std::uint32_t id_limit() const { return static_cast<std::uint32_t>(pods_.size()); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  // The set holds ids and looks the uids up in the table, so that each is stored once.
  struct UidHash {
    using is_transparent = void;
    const PodTable* table;
    std::size_t operator()(PodId id) const;
    std::size_t operator()(std::string_view uid) const;
  };
  struct UidEqual {
    using is_transparent = void;
    const PodTable* table;
    bool operator()(PodId a, PodId b) const { return a == b; }
    bool operator()(PodId a, std::string_view uid) const;
    bool operator()(std::string_view uid, PodId a) const { return (*this)(a, uid); }
  };

  std::deque<std::optional<Pod>> pods_;
  std::vector<PodId> free_;
  absl::flat_hash_set<PodId, UidHash, UidEqual> by_uid_;
};

}  // namespace knx::cluster
