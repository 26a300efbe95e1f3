#include "engine/drivers.h"

#include <fmt/format.h>

#include <algorithm>

#include "k8s/drivers.h"
#include "k8s/objects.h"
#include "k8s/owner.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

std::optional<k8s::ResourceList> ReadExecutorResources(std::string_view text) {
  k8s::ResourceList out;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    // "cpu=1, memory=2Gi" is what people write.
    entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    const auto amount = k8s::Quantity::Parse(entry.substr(equals + 1));
    if (!amount.ok() || *amount < k8s::Quantity()) return std::nullopt;
    const auto name = k8s::ReservedResource(entry.substr(0, equals));
    if (!name || name->find(' ') != std::string_view::npos) return std::nullopt;
    const auto at = std::lower_bound(
        out.begin(), out.end(), *name,
        [](const auto& each, std::string_view wanted) { return each.first < wanted; });
    if (at != out.end() && at->first == *name) return std::nullopt;
    if (!amount->IsZero()) out.emplace(at, *name, *amount);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::string JobOf(const k8s::ObjectMeta& driver, std::string_view gang) {
  if (const auto maker = k8s::MakerOf(driver)) {
    return fmt::format("{} {}/{}", maker->kind, driver.namespace_, maker->name);
  }
  const std::string_view app = k8s::AppNameOf(driver.labels);
  if (!app.empty()) return fmt::format("app {}/{}", driver.namespace_, app);
  return fmt::format("gang {}", gang);
}

std::vector<GangId> Drivers::Gangs() const {
  std::vector<GangId> out;
  for (const auto& [gang, driven] : by_gang_) out.push_back(gang);
  return out;
}

std::vector<GangId> Drivers::GangsOf(const Group& group) const {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

const Drivers::Driver* Drivers::Of(GangId gang) const {
  const auto found = by_gang_.find(gang);
  return found == by_gang_.end() ? nullptr : &found->second.drivers.front();
}

void Drivers::Add(GangId gang, Group group, Driver driver) {
  gang_by_pod_[driver.pod] = gang;
  by_group_[group].insert(gang);
  Driven& driven = by_gang_[gang];
  driven.group = std::move(group);
  driven.drivers.push_back(std::move(driver));
}

std::optional<Drivers::Gone> Drivers::Remove(PodId pod) {
  const auto known = gang_by_pod_.find(pod);
  if (known == gang_by_pod_.end()) return std::nullopt;
  Gone gone{known->second, std::nullopt};
  gang_by_pod_.erase(known);
  const auto driven = by_gang_.find(gone.gang);
  std::vector<Driver>& drivers = driven->second.drivers;
  const auto at = std::find_if(drivers.begin(), drivers.end(),
                               [pod](const Driver& driver) { return driver.pod == pod; });
  if (at == drivers.begin()) gone.driver = std::move(*at);
  drivers.erase(at);
  if (!drivers.empty()) return gone;
  const auto group = by_group_.find(driven->second.group);
  group->second.erase(gone.gang);
  if (group->second.empty()) by_group_.erase(group);
  by_gang_.erase(driven);
  return gone;
}

bool Drivers::SetSpared(GangId gang, bool spared) {
  return std::exchange(by_gang_.at(gang).drivers.front().spared, spared);
}

void Drivers::Remember(const std::string& job, cluster::ResourceVector executor) {
  const auto [entry, is_new] = past_.insert_or_assign(job, std::move(executor));
  if (!is_new) return;
  past_jobs_.push_back(job);
  if (past_jobs_.size() <= kMostRemembered) return;
  past_.erase(past_jobs_.front());
  past_jobs_.pop_front();
}

cluster::ResourceVector Drivers::Recall(const std::string& job) const {
  const auto found = past_.find(job);
  return found == past_.end() ? cluster::ResourceVector() : found->second;
}

}  // namespace knx::engine
