#include "engine/gang_domains.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/kind_room.h"
#include "k8s/selector.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::PodId;

namespace {

// What is scarce where there are such pods: devices, then CPU.
cluster::ResourceId MainResource(std::span<const cluster::ResourceAmount> requests) {
  for (const cluster::ResourceAmount& entry : requests) {
    if (entry.id.index >= cluster::kFirstScalar && entry.amount > 0) return entry.id;
  }
  return cluster::kCpu;
}

// Where all of them have room, by what the largest asks for, it is taken where least is left over;
// then come those with room for as many as must start, and the others, the most room first.
void OrderDomains(const cluster::State& state, const Aspirants& who, PodId largest,
                  std::vector<Confines>& domains) {
  constexpr std::size_t kPlenty = 1'000'000;  // on a node; keeps the sums small
  const auto& takes = state.class_of(largest).requests;
  const cluster::ResourceId main = MainResource(takes);
  using Rank = std::tuple<int, std::int64_t, std::int64_t, std::string_view>;
  std::vector<std::pair<Rank, Confines>> ranked;
  for (Confines& domain : domains) {
    std::size_t room = 0;
    std::int64_t free = 0;
    for (const NodeRow row : domain.rows) {
      room += std::min(RoomOn(state, row, takes), kPlenty);
      free = cluster::SaturatingAdd(free, FreeOn(state, row, main));
    }
    const int order = room >= who.ready.size() ? 0 : room >= who.needed ? 1 : 2;
    const std::int64_t sign = order == 0 ? 1 : -1;
    ranked.emplace_back(Rank(order, sign * static_cast<std::int64_t>(room), sign * free,
                             state.words().Text(domain.value)),
                        std::move(domain));
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  domains.clear();
  for (auto& [rank, domain] : ranked) domains.push_back(std::move(domain));
}

}  // namespace

std::optional<Symbol> PinOf(const cluster::State& state, const cluster::Gang& gang) {
  if (gang.topology_key.empty()) return std::nullopt;
  const Symbol key = state.words().Find(gang.topology_key);
  if (!key.valid()) return std::nullopt;
  std::map<Symbol, std::size_t> members;
  for (const PodId member : gang.members) {
    const cluster::Pod& pod = state.pod(member);
    if (pod.fills_gang()) ++members[state.nodes().Label(pod.node, key)];
  }
  if (members.empty()) return std::nullopt;
  // They are in several only if not all of them were placed here: then where most of them are.
  const auto text = [&](Symbol value) {
    return value.valid() ? state.words().Text(value) : std::string_view();
  };
  const auto most = std::max_element(members.begin(), members.end(), [&](auto& a, auto& b) {
    return a.second != b.second ? a.second < b.second : text(a.first) > text(b.first);
  });
  return most->first;
}

namespace {

// Those of the label, or only the one.
GangDomains DomainsOf(const cluster::State& state, std::string_view key,
                      std::optional<Symbol> pinned, const Aspirants& who,
                      const GangPlanner& planner) {
  GangDomains domains{.key = state.words().Find(key)};
  if (!domains.key.valid()) return domains;
  domains.pinned = pinned.has_value();
  std::map<Symbol, Confines> all;
  state.nodes().WithLabel(domains.key).ForEach([&](std::uint32_t row) {
    const Symbol value = state.nodes().Label(NodeRow{row}, domains.key);
    if (pinned && value != *pinned) return;
    Confines& domain = all.try_emplace(value, Confines{domains.key, value, {}}).first->second;
    domain.rows.push_back(NodeRow{row});
  });
  for (auto& [value, domain] : all) domains.all.push_back(std::move(domain));
  if (domains.all.size() > 1 && !who.ready.empty()) {
    OrderDomains(state, who, planner.LargestFirst(who.ready).front(), domains.all);
  }
  return domains;
}

// The label in whose domain the pod has to be together with one of those; empty: there is none.
std::string_view AffinityKey(const cluster::State& state, PodId pod,
                             std::span<const PodId> others) {
  for (const k8s::PodAffinityTerm& term : state.class_of(pod).spec.pod_affinity.required) {
    const bool selects = std::any_of(others.begin(), others.end(), [&](PodId other) {
      return term.selector &&
             k8s::Matches(*term.selector, state.label_sets().Get(state.pod(other).labels));
    });
    if (selects) return term.topology_key;
  }
  return {};
}

}  // namespace

std::optional<GangDomains> DomainsFor(const cluster::State& state, const Aspirants& who,
                                      const GangPlanner& planner) {
  const cluster::Gang& gang = state.gangs().Get(who.gang);
  if (gang.topology_key.empty()) return std::nullopt;
  return DomainsOf(state, gang.topology_key, PinOf(state, gang), who, planner);
}

std::optional<GangDomains> DomainsByAffinity(const cluster::State& state, const Aspirants& who,
                                             const GangPlanner& planner) {
  constexpr std::size_t kMostTried = 16;
  std::vector<cluster::ClassId> asked;
  for (const PodId member : who.ready) {
    const cluster::ClassId pod_class = state.pod(member).pod_class;
    if (std::find(asked.begin(), asked.end(), pod_class) != asked.end()) continue;
    asked.push_back(pod_class);
    const std::string_view key = AffinityKey(state, member, who.ready);
    if (key.empty()) continue;
    GangDomains domains = DomainsOf(state, key, std::nullopt, who, planner);
    if (domains.all.size() > kMostTried) domains.all.resize(kMostTried);
    return domains;
  }
  return std::nullopt;
}

}  // namespace knx::engine
