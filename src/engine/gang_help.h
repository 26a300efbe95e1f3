// What would have to change so that a gang could start, found by trying it on the state itself and
// taking it back. For people who ask why a gang waits: decides nothing, and looks no further than
// its limits, so that what it finds helps, and something smaller might help, too.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_count.h"
#include "engine/gang_planner.h"

namespace knx::engine {

struct GangHelp {
  // So many more nodes like this one, with nothing on them but pods that every such node has. None:
  // no number of nodes like those that there are.
  cluster::NodeRow like;
  std::size_t nodes = 0;
  // The end of these. None: no way was found.
  std::vector<cluster::PodId> pods;
};

class GangHelpFinder {
 public:
  struct Doors {
    using Ask = std::function<bool(cluster::PodId, cluster::NodeRow)>;
    // Whether the pod fits on the node as the state is.
    Ask fits;
    // Whether everything that does not depend on the node alone accepts it.
    Ask fits_beside;
    // Whether somebody else would have the room of the pod if it ended.
    std::function<bool(cluster::PodId)> is_replaced;
  };

  GangHelpFinder(cluster::State& state, GangPlanner& planner, Doors doors)
      : state_(state), planner_(planner), doors_(std::move(doors)) {}

  // For a gang of which fewer than `needed` of the members find a place. The state is as before
  // when it returns.
  GangHelp Find(std::span<const cluster::PodId> members, std::size_t needed, const GangCount& count,
                std::span<const cluster::ResourceId> scarce);

 private:
  using Way = std::vector<cluster::PodId>;

  // ---- more nodes ----
  void FindNodes(GangHelp& help);
  // Whether a node that is there can stand for new ones that are like it.
  [[nodiscard]] bool NodesStandForOthers(const GangCount& count) const;
  [[nodiscard]] std::vector<cluster::NodeRow> OneOfEachShape() const;
  // How many nodes like it are needed; none: it would not help.
  std::optional<std::size_t> CountNodesLike(cluster::NodeRow row, std::size_t fewer_than);
  void Empty(cluster::NodeRow row);

  // ---- fewer pods ----
  Way FindPods();
  // The member that finds no place: the fewest pods of one node that are in its way, and the node.
  std::pair<cluster::NodeRow, Way> ClearFor(cluster::PodId member);
  std::optional<Way> InTheWayOf(cluster::PodId member, cluster::NodeRow row,
                                std::size_t fewer_than);
  [[nodiscard]] std::vector<cluster::NodeRow> NearlyFree(cluster::PodId member) const;
  [[nodiscard]] bool MayEnd(cluster::PodId pod) const;
  [[nodiscard]] std::int64_t ScarceOf(cluster::PodId pod) const;

  cluster::State& state_;
  GangPlanner& planner_;
  Doors doors_;

  // Of one search.
  std::vector<cluster::PodId> members_;
  std::size_t needed_ = 0;
  std::optional<cluster::ResourceId> scarce_;  // what there is too little of
  std::vector<cluster::NodeRow> open_;  // nothing speaks against them but what they have left
};

}  // namespace knx::engine
