// Random clusters to which gangs and single pods come while those who were evicted for others are
// still there: nobody is asked to go twice, no gang is left too small by what is taken from it,
// nobody goes for nothing, and whoever had others evicted starts.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct Party {
  int members = 1, minimum = 1, cpu = 1, priority = 0;
};

struct OverlapPod {
  std::string party, node;  // node: of a guest
  int cpu = 1;
  bool planned = false;  // to be evicted
  bool going = false;    // as its object says
  bool gone = false;
};

class Overlap {
 public:
  // `in_order`: all are equally important, and nothing goes wrong.
  explicit Overlap(bool in_order) : in_order_(in_order) {
    const int nodes = *rc::gen::inRange(2, 6);
    for (int i = 0; i < nodes; ++i) {
      const std::string name = fmt::format("node-{}", i);
      free_[name] = capacity_[name] = *rc::gen::inRange(1, 5);
      harness_.Node(cluster::testing::NodeBuilder(name)
                        .Has("cpu", std::to_string(capacity_[name]))
                        .Has("pods", "110"));
    }
    const int parties = *rc::gen::inRange(1, 7);
    for (int i = 0; i < parties; ++i) AddGuests(fmt::format("guest-{}", i));
  }

  void AddGuests(const std::string& name) {
    Party party{*rc::gen::inRange(1, 5), *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 3),
                *rc::gen::inRange(0, 3)};
    party.minimum = std::min(party.minimum, party.members);
    std::vector<std::string> places;
    for (const auto& [node, free] : free_) {
      for (int left = free; left >= party.cpu; left -= party.cpu) places.push_back(node);
    }
    if (static_cast<int>(places.size()) < party.members) return;
    parties_[name] = party;
    for (int i = 0; i < party.members; ++i) {
      const std::size_t at = *rc::gen::inRange<std::size_t>(0, places.size());
      OverlapPod pod{name, places[at], party.cpu};
      places.erase(places.begin() + static_cast<std::ptrdiff_t>(at));
      free_[pod.node] -= party.cpu;
      const std::string pod_name = fmt::format("{}-{}", name, i);
      pods_[pod_name] = pod;
      harness_.Pod(Object(pod_name));
    }
  }

  void AddComers(const std::string& name, int priority) {
    Party party{*rc::gen::inRange(1, 4), 1, *rc::gen::inRange(1, 4), priority};
    party.minimum = *rc::gen::inRange(1, party.members + 1);
    parties_[name] = party;
    for (int i = 0; i < party.members; ++i) {
      const std::string pod_name = fmt::format("{}-{}", name, i);
      pods_[pod_name] = {name, "", party.cpu};
      harness_.Pod(Object(pod_name));
    }
    Decide();
  }

  // Somebody who was asked answers, or goes.
  void Progress(std::uint32_t which) {
    std::vector<std::string> moving = harness_.evictions();
    for (const auto& [name, pod] : pods_) {
      if (pod.going && !pod.gone) moving.push_back(name);
    }
    if (moving.empty()) return;
    const std::string name = moving[which % moving.size()];
    OverlapPod& pod = pods_[name];
    if (pod.going) {
      pod.gone = true;
      harness_.PodGone(name);
    } else if (which % 3 == 0) {
      pod.going = pod.gone = true;
      harness_.FinishEviction(name);
    } else {
      pod.going = true;
      if (which % 3 == 1) harness_.Pod(Object(name));
      harness_.AnswerEviction(name);
      if (which % 3 == 2) harness_.Pod(Object(name));
    }
    Decide();
  }
  void Refuse(std::uint32_t which) {
    const std::vector<std::string> asked = harness_.evictions();
    if (asked.empty()) return;
    harness_.AnswerEviction(asked[which % asked.size()], "no");
    NoteWhoStays();
    Decide();
  }
  // Somebody who waits does not any more.
  void GiveUp(std::uint32_t which) {
    std::vector<std::string> waiting;
    for (const auto& [name, pod] : pods_) {
      if (!pod.gone && PlaceOf(name).empty()) waiting.push_back(name);
    }
    if (waiting.empty()) return;
    const std::string& name = waiting[which % waiting.size()];
    pods_[name].gone = true;
    harness_.PodGone(name);
    NoteWhoStays();
    Decide();
  }

  // Everybody goes who is to go, and who waits is tried again.
  void ComeToRest() {
    constexpr int kEnough = 20;
    for (int round = 0; round < kEnough; ++round) {
      while (!rests()) Progress(*rc::gen::arbitrary<std::uint32_t>());
      harness_.Pass(Duration::Seconds(60));
      Decide();
      if (rests()) return;
    }
    RC_FAIL("evictions without end");
  }
  [[nodiscard]] bool rests() {
    return harness_.evictions().empty() &&
           std::none_of(pods_.begin(), pods_.end(),
                        [](const auto& entry) { return entry.second.going && !entry.second.gone; });
  }

  void Decide() {
    while (harness_.engine().ScheduleOne(harness_.now())) LookAtPlans();
    harness_.ScheduleAndBind();
    LookAtPlans();
    RC_ASSERT(harness_.engine().Verify().value_or("equal") == "equal");
  }

  // After every decision: what happens later may make up for the room that somebody leaves.
  void LookAtPlans() {
    (void)harness_.evictions();
    const std::size_t before = seen_;
    for (; seen_ < harness_.plans().size(); ++seen_) {
      const PlanEvictions& plan = harness_.plans()[seen_];
      preemptors_.push_back(plan.preemptor.name);
      for (const auto* list : {&plan.victims, &plan.along}) {
        for (const PodRef& victim : *list) {
          OverlapPod& pod = pods_.at(victim.name);
          if (pod.planned) RC_FAIL(victim.name + " goes twice\n" + Describe());
          pod.planned = true;
        }
      }
    }
    for (const auto& [name, party] : parties_) {
      const int left = Staying(name);
      const bool too_few = left > 0 && left < party.minimum;
      if (too_few && !disturbed_.contains(name)) RC_FAIL(name + " is too small\n" + Describe());
    }
    for (std::size_t i = before; i < seen_ && in_order_; ++i) LookForNeed(harness_.plans()[i]);
  }
  // Without the room of a victim there would not be enough, unless it goes with its gang.
  void LookForNeed(const PlanEvictions& plan) {
    const cluster::State& state = harness_.engine().state();
    int free = capacity_.at(plan.node);
    for (const auto& [name, pod] : pods_) {
      const cluster::PodId id = state.pods().Find("uid-" + name);
      if (pod.planned || !id.valid()) continue;
      const cluster::NodeRow there =
          state.pod(id).node.valid() ? state.pod(id).node : state.pod(id).nominated;
      if (there == state.nodes().Find(plan.node)) free -= pod.cpu;
    }
    for (const PodRef& victim : plan.victims) {
      const OverlapPod& pod = pods_.at(victim.name);
      const bool alone = parties_.at(pod.party).minimum == 1 || Staying(pod.party) > 0;
      if (alone && free >= pod.cpu) RC_FAIL(victim.name + " goes for nothing\n" + Describe());
    }
  }
  std::string Describe() {
    std::string text;
    const cluster::State& state = harness_.engine().state();
    for (const auto& [name, cpu] : capacity_) text += fmt::format("{}: {}\n", name, cpu);
    for (const auto& [name, pod] : pods_) {
      const Party& party = parties_.at(pod.party);
      const cluster::PodId id = state.pods().Find("uid-" + name);
      const cluster::NodeRow row = id.valid() ? state.pod(id).nominated : cluster::NodeRow{};
      text += fmt::format("{}: {} cpus, priority {}, minimum {}, on {}, nominated to {}{}{}{}\n",
                          name, pod.cpu, party.priority, party.minimum, PlaceOf(name),
                          row.valid() ? state.nodes().name(row) : "none",
                          pod.planned ? ", planned" : "", pod.going ? ", going" : "",
                          pod.gone ? ", gone" : "");
    }
    for (const PlanEvictions& plan : harness_.plans()) {
      text += fmt::format("{} on {}:", plan.preemptor.name, plan.node);
      for (const PodRef& victim : plan.victims) text += " " + victim.name;
      for (const PodRef& victim : plan.along) text += " (" + victim.name + ")";
      text += "\n";
    }
    return text;
  }

  // Not all evictions come to pass. A gang of which some have gone then is left too small.
  void NoteWhoStays() {
    const cluster::State& state = harness_.engine().state();
    for (auto& [name, pod] : pods_) {
      const cluster::PodId id = state.pods().Find("uid-" + name);
      if (!pod.planned) continue;
      disturbed_.insert(pod.party);
      if (id.valid() && !state.pod(id).leaves()) pod.planned = false;
    }
  }

  // Members that have a place and are not to leave it.
  int Staying(const std::string& party) {
    return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& entry) {
      const bool there = !PlaceOf(entry.first).empty();
      return entry.second.party == party && there && !entry.second.planned;
    }));
  }
  std::string PlaceOf(const std::string& pod) {
    return pods_.at(pod).node.empty() ? harness_.NodeOf(pod) : pods_.at(pod).node;
  }

  void LookAtTheEnd() {
    for (const std::string& preemptor : preemptors_) {
      const std::string& party = pods_.at(preemptor).party;
      RC_ASSERT(Staying(party) >= parties_.at(party).minimum);
    }
  }

 private:
  k8s::Pod Object(const std::string& name) {
    const OverlapPod& pod = pods_.at(name);
    const Party& party = parties_.at(pod.party);
    cluster::testing::PodBuilder object(name);
    object.Asks("cpu", std::to_string(pod.cpu)).Priority(party.priority);
    if (!PlaceOf(name).empty()) object.On(PlaceOf(name)).Started(Time{1'000'000'000});
    if (party.minimum > 1) {
      object.Label("pod-group.scheduling.kubenexus.io/name", pod.party)
          .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(party.minimum));
    }
    if (pod.going) object.Preempted();
    return object;
  }

  bool in_order_;
  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "GangPreemption"})};
  std::map<std::string, int> capacity_, free_;
  std::map<std::string, Party> parties_;
  std::map<std::string, OverlapPod> pods_;
  std::vector<std::string> preemptors_;
  std::set<std::string> disturbed_;  // parties
  std::size_t seen_ = 0;
};

RC_GTEST_PROP(OverlappingPlans, NobodyGoesTwiceOrForNothingAndNoGangIsLeftTooSmall, ()) {
  constexpr int kComers = 10;  // more important than every guest
  Overlap overlap(true);
  const int comers = *rc::gen::inRange(1, 6);
  for (int i = 0; i < comers; ++i) {
    const int turns = *rc::gen::inRange(0, 4);
    for (int turn = 0; turn < turns; ++turn) {
      overlap.Progress(*rc::gen::arbitrary<std::uint32_t>());
    }
    overlap.AddComers(fmt::format("comer-{}", i), kComers);
  }
  overlap.ComeToRest();
  overlap.LookAtTheEnd();
}

// Of any importance, while evictions are refused and those give up who wait.
RC_GTEST_PROP(OverlappingPlans, NobodyGoesTwiceWhateverGoesWrong, ()) {
  Overlap overlap(false);
  const int turns = *rc::gen::inRange(1, 20);
  for (int turn = 0; turn < turns; ++turn) {
    const auto which = *rc::gen::arbitrary<std::uint32_t>();
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
      case 1:
        overlap.AddComers(fmt::format("comer-{}", turn), *rc::gen::inRange(1, 12));
        break;
      case 2:
        overlap.Refuse(which);
        break;
      case 3:
        overlap.GiveUp(which);
        break;
      default:
        overlap.Progress(which);
    }
  }
  overlap.ComeToRest();
}

}  // namespace
}  // namespace knx::engine
