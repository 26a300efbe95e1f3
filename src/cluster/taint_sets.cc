#include "cluster/taint_sets.h"

namespace knx::cluster {

TaintSetId TaintSets::Intern(const std::vector<k8s::Taint>& taints) {
  std::string key;
  for (const k8s::Taint& taint : taints) {
    for (const std::string* part : {&taint.key, &taint.value}) {
      key += std::to_string(part->size()) + ':' + *part;
    }
    key += static_cast<char>('0' + static_cast<int>(taint.effect));
  }
  const auto [it, inserted] = index_.emplace(std::move(key), TaintSetId{size()});
  if (inserted) sets_.push_back(taints);
  return it->second;
}

}  // namespace knx::cluster
