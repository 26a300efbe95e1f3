// What would have to change so that somebody who waits could start, a gang or a single pod: found
// by trying it on the state itself with the planner that decides, and taking it back. For people
// who ask why it waits: decides nothing, and looks no further than its limits, so that what it
// finds helps, and something smaller might help, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_planner.h"

namespace knx::engine {

// Asks whether somebody would start as the state is, as often as is worth the while of who waits
// for the answer: what is not asked any more is taken for a no.
class StartTrials {
 public:
  struct Tried {
    bool starts = false;
    std::size_t evaluations = 0;  // of nodes, in a search
  };
  // Plans it as it would be decided, and takes that back.
  using Try = std::function<Tried()>;

  // Of so many members, on so many nodes.
  StartTrials(Try attempt, std::size_t members, std::size_t nodes);
  [[nodiscard]] bool Start();
  // As many as at the beginning are allowed again.
  void Renew() { work_ = tried_ = 0; }
  [[nodiscard]] bool spent() const { return tried_ >= kLeast && work_ >= kMostWork; }

 private:
  // In members times nodes. That many take some tenths of a second.
  static constexpr std::size_t kMostWork = 100'000'000, kOfOne = 400'000, kOfEvaluation = 400;
  static constexpr std::size_t kLeast = 8;

  Try attempt_;
  std::size_t of_one_, work_ = 0, tried_ = 0;
};

// So many more nodes like this one, with nothing on them but pods that every such node has.
struct MoreNodes {
  cluster::NodeRow like;  // invalid: no number of nodes like those that there are
  std::size_t count = 0;
};

class GangHelpFinder {
 public:
  struct Doors {
    // Whether the pod fits on the node as the state is.
    std::function<bool(cluster::PodId, cluster::NodeRow)> fits;
    // Whether somebody else would have the room of the pod if it ended.
    std::function<bool(cluster::PodId)> is_replaced;
  };
  // Who waits, and how many of them have to get a place at once; fewer than that find one.
  struct Waiting {
    std::span<const cluster::PodId> members;
    std::size_t needed = 1, fitting = 0;
    bool in_all = false;     // not places are missing, but room: it may take any number of nodes
    std::size_t before = 0;  // places that others have before them, whatever changes
    [[nodiscard]] std::size_t most() const {
      return in_all ? std::numeric_limits<std::size_t>::max() : members.size() + before;
    }
  };

  GangHelpFinder(cluster::State& state, StartTrials& trials, Doors doors)
      : state_(state), trials_(trials), doors_(std::move(doors)) {}

  // ---- more nodes: no plan may be open ----
  // `near`: nodes like these are tried first, if not all can be.
  MoreNodes FindNodes(const Waiting& waiting, std::span<const cluster::NodeRow> near);
  // Nodes with more of something than any that is there, which some of the members ask for: the
  // least of it that would help. None: it would not.
  struct Larger {
    cluster::ResourceId id;
    std::int64_t amount = 0, most = 0;  // the most that a node has
  };
  std::vector<Larger> FindLargerNodes(const Waiting& waiting,
                                      std::span<const cluster::NodeRow> near);

  // ---- fewer pods ----
  struct Where {
    std::optional<cluster::ResourceId> scarce;   // what there is too little of
    std::vector<cluster::NodeRow> open;          // ascending; what they have left alone decides
    std::function<bool(cluster::NodeRow)> uses;  // whether members may be there at all
  };
  // So many of these, in the order in which they are given a place.
  struct Order {
    std::vector<cluster::PodId> members;
    std::size_t needed = 1;
  };
  // The end of these, the fewest that were found; none: no way was. Any of the orders may show one.
  std::vector<cluster::PodId> FindPods(const Where& where, std::span<const Order> orders,
                                       GangPlanner& planner);

 private:
  using Way = std::vector<cluster::PodId>;

  [[nodiscard]] std::vector<cluster::NodeRow> OneOfEachShape(
      std::span<const cluster::NodeRow> near) const;
  bool HelpsMore(cluster::NodeRow like, std::size_t count,
                 std::span<const cluster::ResourceAmount> at_least = {});
  // The fewest from 2 to `most`; nullopt: none was found.
  std::optional<std::size_t> FewestLike(cluster::NodeRow like, std::size_t guess, std::size_t most);
  // How many it takes if each has room for as many as an empty one; about.
  [[nodiscard]] std::size_t Guess(cluster::NodeRow like, const Waiting& waiting);
  // What members ask for, and no node has so much of.
  struct Beyond {
    cluster::ResourceId id;
    std::vector<std::int64_t> asked;  // the most first
    std::int64_t most = 0;            // that a node has
  };
  [[nodiscard]] std::vector<Beyond> BeyondAll(const Waiting& waiting) const;

  // By member, those in the way of each; and by node, all that may end there.
  Way ClearForMembers(const Where& where, const Order& order, GangPlanner& planner);
  Way ClearNodes(const Where& where);
  // The member that finds no place: the fewest pods of one node that are in its way, and the node.
  std::pair<cluster::NodeRow, Way> ClearFor(const Where& where, cluster::PodId member);
  std::optional<Way> InTheWayOf(const Where& where, cluster::PodId member, cluster::NodeRow row,
                                std::size_t fewer_than);
  [[nodiscard]] std::vector<cluster::NodeRow> NearlyFree(const Where& where,
                                                         std::int64_t wanted) const;
  [[nodiscard]] std::vector<cluster::PodId> MayEndOn(cluster::NodeRow row) const;
  [[nodiscard]] bool MayEnd(cluster::PodId pod) const;
  [[nodiscard]] std::int64_t ScarceOf(const Where& where, cluster::PodId pod) const;
  // Whether it starts without these, and without whom of them that it does, too.
  bool HelpsWithout(const Way& gone);
  Way WithoutVain(Way gone);

  cluster::State& state_;
  StartTrials& trials_;
  Doors doors_;
  std::set<cluster::PodId> members_;  // of the search for pods
  cluster::GangId gang_;              // of these
};

}  // namespace knx::engine
