// Places for a gang as a whole, found on the state itself with its journal. Members that fit take
// their room at once, so that the next ones see it; if not enough of them do, everything is taken
// back as if it had never been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/blocked_kinds.h"
#include "engine/gang_count.h"
#include "engine/gang_shortage.h"
#include "engine/placement.h"

namespace knx::engine {

// What came out of planning a gang.
enum class GangAnswer : std::uint8_t {
  kPlaced,
  kImpossible,  // there are no places for it, whatever is tried
  kNotFound,    // none were found, and there may be some
};

struct GangPlan {
  // Who goes where. They have taken their room. Empty: the gang does not fit.
  std::vector<std::pair<cluster::PodId, cluster::NodeRow>> places;
  // Of a gang whose driver makes the others: so many have to get a place, those whose places are
  // kept among them. 0: as many as the gang needs.
  std::size_t comers = 0;
  // Of a gang that does not fit: how many members found a place, and why another did not.
  std::size_t fitting = 0;
  std::size_t sub_groups = 0;  // that became whole thereby
  cluster::PodId blocked;
  Placement refusal;
  BlockedKinds blocked_kinds = {};  // all that found none when they were tried
  GangAnswer answer = GangAnswer::kNotFound;
  std::optional<GangBound> bound;  // shows that it is impossible; without, every way was tried
  std::size_t evaluations = 0;     // of nodes, in the search for other places
  // Of a gang that has to be in one domain of a label: how many found a place in each, the most
  // first.
  struct Domain {
    Symbol value;
    std::size_t fitting = 0;
    std::vector<cluster::ResourceId> by = {};  // what there is too little of, where that is counted
  };
  std::vector<Domain> domains = {};
  static constexpr std::size_t kMostNamed = 8;  // more would be of no use to a reader
  bool pinned = false;          // there is one only, that of the members that have a place
  bool none_is_enough = false;  // a count shows of each domain that it is impossible there
  // There are places, and the cluster has less left in all than its object wants.
  std::vector<GangShortage> shortages = {};
};

// Why there is no plan, for people; so many members would have to get a place.
std::string WhyRefused(const cluster::State& state, cluster::GangId gang, std::size_t needed,
                       const GangPlan& plan);

class GangPlanner {
 public:
  // The best place for the pod as things stand, without evicting anybody.
  using Place = std::function<Placement(cluster::PodId)>;
  // Takes what the pod needs beside its room; anything but success: it cannot go there.
  using Reserve = std::function<framework::Outcome(cluster::PodId, cluster::NodeRow)>;

  // Of which kind the pod is among those that are alike but may use other room (LentRoom).
  using RoomKind = std::function<std::size_t(cluster::PodId)>;

  // `halves`: see EngineOptions.
  GangPlanner(cluster::State& state, Place place, Reserve reserve, RoomKind room_kind, bool halves)
      : state_(state),
        place_(std::move(place)),
        reserve_(std::move(reserve)),
        room_kind_(std::move(room_kind)),
        halves_(halves) {}

  // At least `needed` of the members, and as many of the others as fit beside them.
  GangPlan Plan(std::span<const cluster::PodId> members, std::size_t needed) {
    return PlanInOrders(OrdersFor(members, needed), needed);
  }
  // Which members come first: the large ones; and where these leave too little room for so many,
  // the small ones, who may be enough.
  using Orders = std::vector<std::vector<cluster::PodId>>;
  [[nodiscard]] Orders OrdersFor(std::span<const cluster::PodId> members, std::size_t needed) const;
  // In the first of them in which there are places for enough.
  GangPlan PlanInOrders(const Orders& orders, std::size_t needed);

  // Pods of one kind find the same places.
  using Kind = std::tuple<cluster::ClassId, cluster::KinId, std::size_t>;
  [[nodiscard]] Kind KindOf(cluster::PodId pod) const {
    return {state_.pod(pod).pod_class, state_.pod(pod).kin, room_kind_(pod)};
  }
  // The order in which members are placed; and, of equally important ones, the other way round.
  [[nodiscard]] std::vector<cluster::PodId> LargestFirst(
      std::span<const cluster::PodId> members) const;
  [[nodiscard]] std::vector<cluster::PodId> SmallestFirst(
      std::span<const cluster::PodId> members) const;
  // Gives places to those without one, until so many have one or no more fit.
  void Fill(std::vector<cluster::PodId>& without, GangPlan& plan, std::size_t enough);
  // The same as long as a place is wanted for the pod, which is asked before each.
  using Wants = std::function<bool(cluster::PodId)>;
  void Fill(std::vector<cluster::PodId>& without, GangPlan& plan, const Wants& wants);

 private:
  GangPlan PlanInOrder(std::vector<cluster::PodId> members, std::size_t needed);
  [[nodiscard]] std::vector<cluster::PodId> BySize(std::span<const cluster::PodId> members,
                                                   bool largest_first) const;
  // One round over those that have no place yet; true: somebody found one.
  bool PlaceSome(std::vector<cluster::PodId>& without, GangPlan& plan, const Wants& wants);
  bool PlaceOne(cluster::PodId pod, GangPlan& plan);

  cluster::State& state_;
  Place place_;
  Reserve reserve_;
  RoomKind room_kind_;
  bool halves_;
};

}  // namespace knx::engine
