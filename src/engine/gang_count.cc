#include "engine/gang_count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/shortened.h"

namespace knx::engine {

using cluster::NodeRow;
using cluster::ResourceAmount;
using cluster::ResourceId;

std::string Describe(const cluster::State& state, const GangBound& bound) {
  std::string text = bound.of.empty() ? fmt::format("at most {} fit", bound.most)
                                      : fmt::format("at most {} of {} fit", bound.most, bound.of);
  if (!bound.by.empty()) {
    std::vector<std::string_view> names;
    for (const ResourceId id : bound.by) names.push_back(state.resources().Name(id));
    text += fmt::format(" by {}{}", fmt::join(names, ", "), names.size() > 1 ? " together" : "");
  }
  if (bound.apart.valid()) {
    text +=
        fmt::format(", one in each {}", Shortened(state.words().Text(bound.apart), kLongestValue));
  }
  if (bound.together.valid()) {
    text += fmt::format(" in one {}", Shortened(state.words().Text(bound.together), kLongestValue));
  }
  const bool nodes_only = bound.by.empty() && !bound.apart.valid() && !bound.together.valid();
  return nodes_only ? text + " on the nodes that come into question" : text;
}

namespace {

bool Contains(const std::vector<Symbol>& keys, Symbol key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void AddOnce(std::vector<Symbol>& all, const std::vector<Symbol>& more) {
  for (const Symbol key : more) {
    if (!Contains(all, key)) all.push_back(key);
  }
}

// Those of the amounts that are asked about; of none, as many as one likes fit.
cluster::ResourceVector Only(const cluster::ResourceVector& takes,
                             const std::vector<ResourceId>& ids) {
  cluster::ResourceVector out;
  for (const ResourceAmount& entry : takes) {
    if (std::find(ids.begin(), ids.end(), entry.id) != ids.end()) out.push_back(entry);
  }
  return out;
}

}  // namespace

GangCount::GangCount(const cluster::State& state, std::vector<Kind> kinds)
    : state_(state), kinds_(std::move(kinds)) {
  for (const Kind& kind : kinds_) members_ += kind.members;
}

GangBound GangCount::Tightest() const {
  const std::vector<ResourceId> resources = ResourcesBySimplicity();
  std::vector<std::vector<ResourceId>> sets = {{}};
  for (const ResourceId id : resources) sets.push_back({id});
  if (resources.size() > 1) sets.push_back(resources);
  std::vector<Symbol> apart = {Symbol{}}, together = {Symbol{}};
  for (const Kind& kind : kinds_) {
    AddOnce(apart, kind.room.apart);
    AddOnce(together, kind.room.together);
  }
  GangBound tightest;
  tightest.most = members_;
  for (const Symbol near : together) {
    for (const Symbol far : apart) {
      for (const std::vector<ResourceId>& by : sets) {
        GangBound bound{.by = by, .apart = far, .together = near};
        Fill(bound);
        if (bound.most < tightest.most) tightest = bound;
      }
    }
  }
  Simplify(tightest);
  return tightest;
}

void GangCount::Simplify(GangBound& bound) const {
  for (std::size_t i = bound.by.size(); bound.by.size() > 1 && i-- > 0;) {
    GangBound without = bound;
    without.by.erase(without.by.begin() + static_cast<std::ptrdiff_t>(i));
    Fill(without);
    if (without.most == bound.most) bound = std::move(without);
  }
}

// What people look at first comes first: devices, then what every node has.
std::vector<ResourceId> GangCount::ResourcesBySimplicity() const {
  std::vector<ResourceId> ids;
  for (const Kind& kind : kinds_) {
    for (const ResourceAmount& entry : kind.room.takes) {
      if (std::find(ids.begin(), ids.end(), entry.id) == ids.end()) ids.push_back(entry.id);
    }
  }
  std::sort(ids.begin(), ids.end(), [this](ResourceId a, ResourceId b) {
    const bool device_a = a.index >= cluster::kFirstScalar;
    const bool device_b = b.index >= cluster::kFirstScalar;
    if (device_a != device_b) return device_a;
    return device_a ? state_.resources().Name(a) < state_.resources().Name(b) : a < b;
  });
  return ids;
}

void GangCount::Fill(GangBound& bound) const {
  bound.most = 0;
  for (const Kind& kind : kinds_) {
    // Labels mean something only to the kinds that speak of them.
    GangBound of_kind = bound;
    if (!Contains(kind.room.apart, bound.apart)) of_kind.apart = {};
    if (!Contains(kind.room.together, bound.together)) of_kind.together = {};
    const Most most = MostOf(kind, of_kind);
    bound.most += most.members;
    bound.domain = most.domain;
  }
  const bool alone = bound.by.size() == 1 && !bound.apart.valid() && !bound.together.valid();
  if (alone && kinds_.size() > 1) bound.most = std::min(bound.most, Shared(bound.by[0]));
}

GangCount::Most GangCount::MostOf(const Kind& kind, const GangBound& bound) const {
  if (!bound.apart.valid() && !bound.together.valid()) {
    const cluster::ResourceVector takes = Only(kind.room.takes, bound.by);
    Most most;
    for (const NodeRow row : kind.room.open) {
      most.members += std::min(RoomOn(state_, row, takes), kind.members - most.members);
      if (most.members == kind.members) break;
    }
    return most;
  }
  Most most;
  for (const Domain& domain : DomainsOf(kind, bound)) {
    const std::size_t members = std::min(domain.most, kind.members);
    if (!bound.together.valid()) {
      most.members = std::min(most.members + members, kind.members);
    } else if (members > most.members) {
      most = {members, domain.value};
    }
  }
  return most;
}

// By domains of `together`, if that is asked for, and otherwise all nodes as one.
std::vector<GangCount::Domain> GangCount::DomainsOf(const Kind& kind,
                                                    const GangBound& bound) const {
  const cluster::ResourceVector takes = Only(kind.room.takes, bound.by);
  std::map<std::pair<Symbol, Symbol>, std::size_t> room;
  for (const NodeRow row : kind.room.open) {
    const Symbol near =
        bound.together.valid() ? state_.nodes().Label(row, bound.together) : Symbol{};
    if (bound.together.valid() && !near.valid()) continue;
    const Symbol far = bound.apart.valid() ? state_.nodes().Label(row, bound.apart) : Symbol{};
    std::size_t& sum = room[{near, far}];
    sum = std::min(sum + std::min(RoomOn(state_, row, takes), kind.members),
                   far.valid() ? std::size_t{1} : kind.members);
  }
  std::vector<Domain> domains;
  for (const auto& [labels, members] : room) {
    if (domains.empty() || domains.back().value != labels.first) {
      domains.push_back({labels.first, 0});
    }
    domains.back().most += members;
  }
  const auto text = [this](const Domain& domain) {
    return domain.value.valid() ? state_.words().Text(domain.value) : std::string_view();
  };
  std::sort(domains.begin(), domains.end(),
            [&](const Domain& a, const Domain& b) { return text(a) < text(b); });
  return domains;
}

std::size_t GangCount::Shared(ResourceId id) const {
  // By node: the least that one who may go there takes, and what they all take a multiple of.
  std::map<NodeRow, std::pair<std::int64_t, std::int64_t>> steps;
  std::vector<std::pair<std::int64_t, std::size_t>> sizes;
  std::size_t most = 0;
  for (const Kind& kind : kinds_) {
    const std::int64_t takes = cluster::AmountOf(kind.room.takes, id);
    if (takes <= 0) {
      most += kind.members;
      continue;
    }
    sizes.emplace_back(takes, kind.members);
    for (const NodeRow row : kind.room.open) {
      auto& [least, multiple] = steps.try_emplace(row, takes, takes).first->second;
      least = std::min(least, takes);
      multiple = std::gcd(multiple, takes);
    }
  }
  std::int64_t left = 0;
  for (const auto& [row, step] : steps) {
    const auto [least, multiple] = step;
    const std::int64_t free = FreeOn(state_, row, id);
    if (free >= least) left = cluster::SaturatingAdd(left, free - free % multiple);
  }
  // The smallest first: no other choice gives places to more.
  std::sort(sizes.begin(), sizes.end());
  for (const auto& [size, members] : sizes) {
    const std::size_t fit = std::min(members, static_cast<std::size_t>(left / size));
    left -= static_cast<std::int64_t>(fit) * size;
    most += fit;
  }
  return most;
}

std::vector<GangCount::Domain> GangCount::ByDomain(Symbol key) const {
  std::vector<Domain> sums;
  for (const Kind& kind : kinds_) {
    GangBound bound{.by = ResourcesBySimplicity(), .together = key};
    if (kind.room.apart.size() == 1) bound.apart = kind.room.apart[0];
    for (const Domain& domain : DomainsOf(kind, bound)) {
      const auto known = std::find_if(sums.begin(), sums.end(),
                                      [&](const Domain& sum) { return sum.value == domain.value; });
      const std::size_t members = std::min(domain.most, kind.members);
      known == sums.end() ? sums.push_back({domain.value, members}) : void(known->most += members);
    }
  }
  std::sort(sums.begin(), sums.end(), [this](const Domain& a, const Domain& b) {
    return state_.words().Text(a.value) < state_.words().Text(b.value);
  });
  return sums;
}

}  // namespace knx::engine
