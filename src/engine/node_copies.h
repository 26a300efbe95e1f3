// Nodes that are not there, for who asks what more nodes would change: like one that is there, with
// nothing on them but pods that every such node has. They are in the state as any other node is,
// until the object goes; nobody is told of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cluster/state.h"

namespace knx::engine {

// Whether there is one of it on every node, as of a DaemonSet's.
bool BelongsToItsNode(const k8s::PodSpec& spec);

class NodeCopies {
 public:
  // No plan may be open, then and when they go. `at_least`: what they have, if that is more than
  // the node has that they are like.
  NodeCopies(cluster::State& state, cluster::NodeRow like, std::size_t count,
             std::span<const cluster::ResourceAmount> at_least = {});
  ~NodeCopies();
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

  [[nodiscard]] std::span<const cluster::NodeRow> rows() const { return rows_; }

 private:
  [[nodiscard]] k8s::Node Describe(cluster::NodeRow like,
                                   std::span<const cluster::ResourceAmount> at_least) const;
  void Add(const std::string& name, const k8s::Node& described, cluster::NodeRow like);
  void AddPods(const std::string& name, cluster::NodeRow like);

  cluster::State& state_;
  std::vector<cluster::NodeRow> rows_;
  std::vector<cluster::PodId> pods_;
};

}  // namespace knx::engine
