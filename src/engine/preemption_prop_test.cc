// Random clusters: a plan is the one that the definition gives when it is followed node by node,
// nobody equally or more important is ever evicted, the pod fits without the victims, and what an
// engine remembers changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

struct Guest {
  std::string name;
  int cpu = 1, priority = 0;
  std::int64_t started = 0;  // 0: not yet
  bool guarded = false;
};
struct Host {
  int cpu = 4;
  std::vector<Guest> guests;
};
using Hosts = std::map<std::string, Host>;

int Used(const std::vector<Guest>& guests) {
  int sum = 0;
  for (const Guest& guest : guests) sum += guest.cpu;
  return sum;
}

bool MoreImportant(const Guest& a, const Guest& b) {
  const auto start = [](const Guest& guest) {
    return guest.started == 0 ? std::numeric_limits<std::int64_t>::max() : guest.started;
  };
  return std::tuple(-a.priority, start(a), "uid-" + a.name) <
         std::tuple(-b.priority, start(b), "uid-" + b.name);
}

// The victims on one host by the definition; empty if there are none that help.
std::vector<Guest> Victims(const Host& host, int cpu, int priority, int allowed, int& violations) {
  std::vector<Guest> kept, potential, victims;
  for (const Guest& guest : host.guests) {
    (guest.priority < priority ? potential : kept).push_back(guest);
  }
  if (Used(kept) + cpu > host.cpu) return {};
  std::sort(potential.begin(), potential.end(), MoreImportant);
  std::vector<Guest> protected_ones, others;
  for (const Guest& guest : potential) {
    (guest.guarded && --allowed < 0 ? protected_ones : others).push_back(guest);
  }
  const auto reprieve = [&](const std::vector<Guest>& guests) {
    int evicted = 0;
    for (const Guest& guest : guests) {
      if (Used(kept) + guest.cpu + cpu <= host.cpu) {
        kept.push_back(guest);
      } else {
        victims.push_back(guest);
        ++evicted;
      }
    }
    return evicted;
  };
  violations = reprieve(protected_ones);
  reprieve(others);
  std::sort(victims.begin(), victims.end(), MoreImportant);
  return victims;
}

std::string Expected(const Hosts& hosts, int cpu, int priority, int allowed) {
  using Harm = std::tuple<int, int, std::int64_t, std::size_t, std::int64_t, std::string>;
  std::optional<Harm> least;
  std::string plan;
  for (const auto& [name, host] : hosts) {
    int violations = 0;
    const std::vector<Guest> victims = Victims(host, cpu, priority, allowed, violations);
    if (victims.empty()) continue;
    std::int64_t sum = 0;
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    std::string text = name + ":";
    for (const Guest& victim : victims) {
      sum += victim.priority + (std::int64_t{1} << 31);
      if (victim.priority == victims[0].priority && victim.started != 0) {
        earliest = std::min(earliest, victim.started);
      }
      text += " " + victim.name;
    }
    const Harm harm{violations, victims[0].priority, sum, victims.size(), -earliest, name};
    if (least && *least < harm) continue;
    least = harm;
    plan = text;
  }
  return plan;
}

k8s::Pod AsPod(const Guest& guest, const std::string& node) {
  PodBuilder pod(guest.name);
  pod.Asks("cpu", std::to_string(guest.cpu)).Priority(guest.priority);
  if (guest.guarded) pod.Label("app", "guarded");
  if (guest.started != 0) pod.Started(Time{guest.started});
  if (!node.empty()) pod.On(node);
  return pod;
}

k8s::PodDisruptionBudget Budget(int allowed) {
  k8s::PodDisruptionBudget budget;
  budget.meta.name = "guarded";
  budget.meta.namespace_ = "default";
  budget.selector.emplace().match_labels = {{"app", "guarded"}};
  budget.disruptions_allowed = allowed;
  return budget;
}

void Tell(testing::Harness& harness, const Hosts& hosts, int allowed) {
  harness.Object(Budget(allowed));
  for (const auto& [name, host] : hosts) {
    harness.Node(NodeBuilder(name).Has("cpu", std::to_string(host.cpu)).Has("pods", "110"));
    for (const Guest& guest : host.guests) harness.Pod(AsPod(guest, name));
  }
}

std::string PlanText(const testing::Harness& harness, std::size_t plans_before) {
  const auto& plans = const_cast<testing::Harness&>(harness).plans();
  if (plans.size() == plans_before) return "";
  std::string text = plans.back().node + ":";
  for (const PodRef& victim : plans.back().victims) text += " " + victim.name;
  return text;
}

Guest DrawGuest(const std::string& name) {
  return {name, *rc::gen::inRange(1, 4), *rc::gen::inRange(-2, 4),
          *rc::gen::element<std::int64_t>(0, 100, 200), *rc::gen::arbitrary<bool>()};
}

Hosts DrawHosts(int& named) {
  Hosts hosts;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    Host& host = hosts[fmt::format("node-{}", i)];
    host.cpu = *rc::gen::inRange(3, 9);
    while (*rc::gen::inRange(0, 6) != 0) {
      const Guest guest = DrawGuest(fmt::format("pod-{}", ++named));
      if (Used(host.guests) + guest.cpu <= host.cpu) host.guests.push_back(guest);
    }
  }
  return hosts;
}

RC_GTEST_PROP(PreemptionProperty, PlansAreThoseOfTheDefinitionWhateverIsRemembered, ()) {
  int named = 0;
  Hosts hosts = DrawHosts(named);
  int allowed = *rc::gen::inRange(0, 3);
  testing::Harness engine;
  Tell(engine, hosts, allowed);
  const int rounds = *rc::gen::inRange(1, 8);
  for (int round = 0; round < rounds; ++round) {
    Guest vip = DrawGuest(fmt::format("vip-{}", round));
    vip.started = 0;
    const bool fits = std::any_of(hosts.begin(), hosts.end(), [&](const auto& entry) {
      return Used(entry.second.guests) + vip.cpu <= entry.second.cpu;
    });
    const std::string want = fits ? "" : Expected(hosts, vip.cpu, vip.priority, allowed);
    const std::size_t plans_before = engine.plans().size();
    engine.Pod(AsPod(vip, ""));
    engine.Schedule();
    RC_ASSERT(PlanText(engine, plans_before) == want);

    // Who starts from what is there now decides alike.
    testing::Harness fresh;
    Tell(fresh, hosts, allowed);
    fresh.Pod(AsPod(vip, ""));
    fresh.Schedule();
    RC_ASSERT(PlanText(fresh, 0) == want);

    std::string node;
    if (!want.empty()) {
      node = engine.plans().back().node;
      for (auto victims = engine.evictions(); !victims.empty(); victims = engine.evictions()) {
        for (const std::string& victim : victims) {
          const auto gone = [&](const Guest& guest) { return guest.name == victim; };
          RC_ASSERT(std::erase_if(hosts[node].guests, gone) == 1U);
          engine.FinishEviction(victim);
        }
      }
    }
    engine.ScheduleAndBind();
    if (fits || !want.empty()) {
      RC_ASSERT(engine.NodeOf(vip.name) != "");
      if (!want.empty()) RC_ASSERT(engine.NodeOf(vip.name) == node);
      hosts[engine.NodeOf(vip.name)].guests.push_back(vip);
      engine.Pod(AsPod(vip, engine.NodeOf(vip.name)));
    } else {
      engine.PodGone(vip.name);
    }
    if (*rc::gen::inRange(0, 3) == 0) engine.Object(Budget(allowed = *rc::gen::inRange(0, 3)));
    RC_ASSERT(engine.engine().Verify().value_or("equal") == "equal");
    RC_ASSERT(engine.engine().VerifyCaches().value_or("equal") == "equal");
    RC_ASSERT(engine.engine().preemptions() == 0U);
  }
}

}  // namespace
}  // namespace knx::engine
