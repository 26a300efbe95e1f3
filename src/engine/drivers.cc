#include "engine/drivers.h"

#include <algorithm>

#include "k8s/names.h"

namespace knx::engine {

namespace names = k8s::names;

bool IsDriver(const k8s::StringMap& labels) {
  return std::any_of(labels.begin(), labels.end(), [](const auto& label) {
    return (label.first == names::kSparkRole && label.second == "driver") ||
           (label.first == names::kRayNodeType && label.second == "head");
  });
}

std::optional<k8s::ResourceList> ReadExecutorResources(std::string_view text) {
  k8s::ResourceList out;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    const auto amount = k8s::Quantity::Parse(entry.substr(equals + 1));
    if (!amount.ok() || *amount < k8s::Quantity()) return std::nullopt;
    const std::string_view name = entry.substr(0, equals);
    const auto at = std::lower_bound(
        out.begin(), out.end(), name,
        [](const auto& each, std::string_view wanted) { return each.first < wanted; });
    if (at != out.end() && at->first == name) return std::nullopt;
    if (!amount->IsZero()) out.emplace(at, name, *amount);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

const Drivers::Driver* Drivers::Of(cluster::GangId gang) const {
  const auto found = by_gang_.find(gang);
  return found == by_gang_.end() ? nullptr : &found->second;
}

void Drivers::Remember(const std::string& gang, cluster::ResourceVector executor) {
  const auto [entry, is_new] = past_.insert_or_assign(gang, std::move(executor));
  if (!is_new) return;
  past_names_.push_back(gang);
  if (past_names_.size() <= kMostRemembered) return;
  past_.erase(past_names_.front());
  past_names_.pop_front();
}

cluster::ResourceVector Drivers::Recall(const std::string& gang) const {
  const auto found = past_.find(gang);
  return found == past_.end() ? cluster::ResourceVector() : found->second;
}

}  // namespace knx::engine
