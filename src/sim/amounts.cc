#include "sim/amounts.h"

#include <array>

#include "cluster/resources.h"
#include "k8s/names.h"
#include "k8s/pod_requests.h"

namespace knx::sim {
namespace {

bool Counts(const std::string& name) {
  namespace names = k8s::names;
  return name == names::kCpu || name == names::kMemory || name == names::kEphemeralStorage ||
         name == names::kPods || cluster::IsScalarResource(name);
}

}  // namespace

Amounts ToAmounts(const k8s::ResourceList& list) {
  Amounts out;
  for (const auto& [name, quantity] : list) {
    if (!Counts(name)) continue;
    const std::int64_t amount = name == k8s::names::kCpu ? quantity.MilliValue() : quantity.Value();
    if (amount != 0) out[name] = amount;
  }
  return out;
}

Amounts RequestsOf(const k8s::Pod& pod) { return ToAmounts(k8s::PodRequestsInPlace(pod)); }

void Add(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) {
    std::int64_t& sum = to[name];
    sum = cluster::SaturatingAdd(sum, amount);
  }
}

std::int64_t AmountOf(const Amounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

}  // namespace knx::sim
