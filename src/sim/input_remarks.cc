#include "sim/input_remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/shortened.h"
#include "k8s/names.h"
#include "sim/amounts.h"

namespace knx::sim {
namespace {

constexpr std::size_t kShown = 3;

// "5000m of 4000m cpu": the first resource, by name, that more is taken of than there is.
std::string TooMuchOf(const Store& store, const k8s::Node& node) {
  Amounts taken;
  std::int64_t pods = 0;
  for (const std::string& key : store.PodsOn(node.meta.name)) {
    const PodPtr pod = store.Find<k8s::Pod>(key);
    if (IsFinished(*pod)) continue;
    ++pods;
    Add(taken, RequestsOf(*pod));
  }
  taken[std::string(k8s::names::kPods)] = pods;
  const Amounts allocatable = ToAmounts(node.allocatable);
  for (const auto& [name, amount] : taken) {
    const std::int64_t whole = AmountOf(allocatable, name);
    if (amount <= whole) continue;
    const std::string_view unit = name == k8s::names::kCpu ? "m" : "";
    return fmt::format("{}{} of {}{} {}", amount, unit, whole, unit, name);
  }
  return "";
}

}  // namespace

void InputRemarks::Names::Add(std::string name) {
  if (count++ < kShown) first.push_back(std::move(name));
}

std::string InputRemarks::Names::ToString() const {
  const std::string more = count > first.size() ? fmt::format(" and {} more", count - kShown) : "";
  return fmt::format("{}{}", fmt::join(first, ", "), more);
}

InputRemarks::InputRemarks(Store& store) : store_(store) { store.Listen(*this); }

void InputRemarks::OnWrite(const Write<k8s::Pod>& write) {
  if (write.before != nullptr || IsFinished(*write.after)) return;
  const k8s::Pod& pod = *write.after;
  const std::string& node = pod.spec.node_name;
  if (node.empty() || write.by != Actor::kUser) return;
  given_.insert(node);
  if (store_.Find<k8s::Node>(node) == nullptr) elsewhere_[node].push_back(KeyOf(pod));
}

void InputRemarks::OnWrite(const Write<k8s::Node>& write) {
  if (write.before == nullptr) elsewhere_.erase(write.after->meta.name);
}

void InputRemarks::OnWrite(const Write<k8s::ResourceReservation>& write) {
  if (write.before != nullptr || write.after == nullptr) return;
  const k8s::ResourceReservation& made = *write.after;
  for (const std::string& field : made.unread) {
    unread_.Add(fmt::format("spec.{} of {}/{}", Shortened(field, kLongestName),
                            made.meta.namespace_, made.meta.name));
  }
}

void InputRemarks::LookAtNodes() {
  for (const std::string& name : std::exchange(given_, {})) {
    const NodePtr node = store_.Find<k8s::Node>(name);
    if (node == nullptr) {
      given_.insert(name);
      continue;
    }
    const std::string what = TooMuchOf(store_, *node);
    if (what.empty() || !overfull_names_.insert(name).second) continue;
    overfull_.Add(fmt::format("node {} ({})", name, what));
  }
}

std::vector<std::string> InputRemarks::Texts() const {
  std::vector<std::string> out;
  if (overfull_.count > 0) {
    out.push_back(fmt::format("pods that came with their node take more than there is of {}",
                              overfull_.ToString()));
  }
  if (unread_.count > 0) {
    out.push_back(
        fmt::format("nobody reads these fields of ResourceReservations, and an API server "
                    "leaves them out: {}",
                    unread_.ToString()));
  }
  Names elsewhere;
  for (const auto& [node, pods] : elsewhere_) {
    for (const std::string& pod : pods) elsewhere.Add(fmt::format("{} (on {})", pod, node));
  }
  if (elsewhere.count > 0) {
    out.push_back(
        fmt::format("{} came with a node that is not there, so {} nowhere: {}",
                    elsewhere.count == 1 ? "a pod" : fmt::format("{} pods", elsewhere.count),
                    elsewhere.count == 1 ? "it counts" : "they count", elsewhere.ToString()));
  }
  return out;
}

}  // namespace knx::sim
