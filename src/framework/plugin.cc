#include "framework/plugin.h"

namespace knx::framework {

void NodeFilter::Keep(std::vector<cluster::NodeRow>& nodes) const {
  std::vector<Verdict> verdicts(nodes.size());
  Verdicts out(verdicts, 0);
  Filter(nodes, out);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i].code == Code::kSuccess) nodes[kept++] = nodes[i];
  }
  nodes.resize(kept);
}

}  // namespace knx::framework
