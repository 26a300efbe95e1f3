// Days of gangs that belong to Jobs, on nodes that die, with a scheduler that is refused and that
// starts anew: no gang stays half started for long, and in the end all have done their work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

// Everything of ours that is shipped.
ClusterOptions ShippedOptions(std::uint64_t seed) {
  return GangOptionsForTest(seed, nullptr,
                            "multiPoint: {enabled: [{name: Coscheduling}, {name: GangPreemption}, "
                            "{name: ResourceReservation}, {name: BackfillScoring}]}");
}

// What the scheduler did beside placing gangs.
class Deeds : public engine::Observer {
 public:
  void OnPreemption(std::size_t victims) override { evicted += victims; }
  void OnBackfill(const cluster::State& /*state*/, const engine::BackfillReport& report) override {
    ++outcomes[report.outcome];
  }

  std::size_t evicted = 0;
  std::map<engine::BackfillOutcome, int> outcomes;
};

class GangWeek {
 public:
  explicit GangWeek(std::uint64_t seed) : GangWeek(seed, GangOptionsForTest(seed), false) {}
  // `mixed`: some gangs are more important than others, some say how long they run, for some there
  // is a reservation, they run longer, and several always wait, none of them for nearly all
  // machines.
  GangWeek(std::uint64_t seed, const ClusterOptions& options, bool mixed)
      : random_(seed), cluster_(options), mixed_(mixed) {}

  // What went wrong first; empty: nothing did.
  std::string Live(Duration span) {
    cluster_.AddNodes(kMachines, std::to_string(kCpusOfMachine));
    for (int i = 0; mixed_ && i < kImportances; ++i) AddPriorityClass(i);
    cluster_.Start();
    while (cluster_.now() < span && complaint_.empty()) {
      if (waiting_cpus_ < kMachines * kCpusOfMachine / (mixed_ ? 2 : 10)) AddGang();
      if (random_.Chance(2)) MakeTrouble();
      Pass();
    }
    for (int i = 1; i <= kMachines; ++i) (void)cluster_.node_lifecycle().Restart(Machine(i));
    const Duration end = cluster_.now() + Duration::Minutes(24 * 60);
    while (complaint_.empty() && !sizes_.empty() && cluster_.now() < end) Pass();
    if (complaint_.empty() && !sizes_.empty()) complaint_ = Story(sizes_.begin()->first);
    return complaint_;
  }
  [[nodiscard]] int ended() const { return ended_; }
  [[nodiscard]] int halves() const { return halves_; }

 private:
  static constexpr int kMachines = 16, kCpusOfMachine = 8, kImportances = 3;
  // The grace of a gang, and a look at it.
  static constexpr Duration kLongestHalf = Duration::Seconds(60 + 10);
  // The least that a scheduler which starts gives a gang that it finds incomplete, and a look at
  // it.
  static constexpr Duration kLongestChance = Duration::Seconds(10 + 10);

  struct Size {
    int members = 0, minimum = 0, cpus = 0;
  };
  struct Count {
    int running = 0, succeeded = 0;
  };

  static std::string Machine(int i) { return fmt::format("node-{}", i); }
  std::string AnyMachine() { return Machine(1 + static_cast<int>(random_.Below(kMachines))); }

  void AddGang() {
    const std::string name = fmt::format("gang-{}", ++made_);
    Size& size = sizes_[name];
    size.members = 2 + static_cast<int>(random_.Below(mixed_ ? 14 : 30));
    size.minimum = random_.Chance(70) ? size.members : 2 + size.members / 2;
    size.minimum = std::min(size.minimum, size.members);
    size.cpus = 1 << random_.Below(3);
    k8s::Job job;
    job.meta.name = name;
    job.meta.namespace_ = "default";
    job.parallelism = size.members;
    job.completions = size.members;
    job.backoff_limit = 100'000;
    job.pod_template.spec = SpecForTest(std::to_string(size.cpus));
    job.pod_template.meta.labels = {
        {std::string(k8s::names::kGangMinAvailable), std::to_string(size.minimum)},
        {std::string(k8s::names::kGangName), name}};
    const std::string run_for = fmt::format("{}m", 2 + random_.Below(mixed_ ? 120 : 30));
    job.pod_template.meta.annotations = {{std::string(scenario::kRunFor), run_for}};
    if (mixed_) Mix(name, run_for, job.pod_template);
    cluster_.Create(std::move(job));
  }

  void Mix(const std::string& name, const std::string& run_for, k8s::PodTemplate& pods) {
    pods.spec.priority_class_name = Importance(static_cast<int>(random_.Below(kImportances)));
    if (random_.Chance(70)) {
      pods.meta.annotations.emplace_back(k8s::names::kExpectedDuration, run_for);
      std::sort(pods.meta.annotations.begin(), pods.meta.annotations.end());
    }
    if (random_.Chance(20)) Reserve(name);
  }

  void Reserve(const std::string& name) {
    k8s::ResourceReservation reservation;
    reservation.meta.name = reservation.pod_group = name;
    reservation.meta.namespace_ = "default";
    reservation.duration = Duration::Minutes(1 + static_cast<std::int64_t>(random_.Below(30)));
    for (int i = 0; i < sizes_[name].members; ++i) {
      reservation.places.push_back(
          {fmt::format("{:02}", i), "", {{"cpu", k8s::Quantity::FromUnits(sizes_[name].cpus)}}});
    }
    cluster_.Create(std::move(reservation));
  }

  static std::string Importance(int i) { return fmt::format("importance-{}", i); }
  void AddPriorityClass(int i) {
    k8s::PriorityClass made;
    made.meta.name = Importance(i);
    made.value = i * 100;
    cluster_.Create(std::move(made));
  }

  void MakeTrouble() {
    switch (random_.Below(5)) {
      case 0:
        (void)cluster_.node_lifecycle().Kill(AnyMachine());
        break;
      case 1:
      case 2:
        (void)cluster_.node_lifecycle().Restart(AnyMachine());
        break;
      case 3:
        RestartScheduler();
        break;
      default:
        Refuse();
    }
  }

  void RestartScheduler() {
    cluster_.scheduler().Stop();
    cluster_.RunFor(Duration::Milliseconds(static_cast<std::int64_t>(random_.Below(5000))));
    cluster_.scheduler().Start({.age = {}, .pods_first = random_.Chance(50)});
    restarted_ = cluster_.now();
  }

  void Refuse() {
    CallFault fault;
    fault.call = Call::kBind;
    fault.kind = CallFault::Kind::kRefuse;
    fault.count = 1 + static_cast<std::int64_t>(random_.Below(5));
    cluster_.scheduler().faults().Add(fault, cluster_.agenda().now());
  }

  void Pass() {
    cluster_.RunFor(Duration::Seconds(10));
    if (cluster_.violation()) complaint_ = cluster_.violation()->what;
    Look();
  }

  // Counted from the objects alone.
  void Look() {
    std::map<std::string, Count> counts;
    waiting_cpus_ = 0;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      const std::string& name = NameOfGang(*pod);
      Count& count = counts[name];
      if (pod->status.phase == k8s::PodPhase::kSucceeded) {
        ++count.succeeded;
      } else if (pod->spec.node_name.empty()) {
        waiting_cpus_ += sizes_[name].cpus;
      } else if (!pod->meta.deleted) {
        ++count.running;
      }
    }
    for (const auto& [name, count] : counts) {
      LookForHalf(name, count);
      if (count.succeeded == sizes_[name].members) Remove(name);
    }
  }

  static const std::string& NameOfGang(const k8s::Pod& pod) {
    const auto label =
        std::find_if(pod.meta.labels.begin(), pod.meta.labels.end(),
                     [](const auto& entry) { return entry.first == k8s::names::kGangName; });
    return label->second;
  }

  // Of a gang that never ends, or stays half.
  std::string Story(const std::string& name) {
    std::string story =
        fmt::format("{} of {}, at {}:", name, sizes_[name].members, FormatDuration(cluster_.now()));
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      if (NameOfGang(*pod) != name) continue;
      const auto* why = FindCondition(pod->status.conditions, k8s::names::kPodScheduled);
      story += fmt::format("\n{} of {} on '{}' phase {}{}: {}", key,
                           FormatTime(pod->meta.created.value_or(Time{})), pod->spec.node_name,
                           static_cast<int>(pod->status.phase), pod->meta.deleted ? " leaving" : "",
                           why == nullptr ? "" : why->message);
    }
    return story;
  }

  void LookForHalf(const std::string& name, const Count& count) {
    const int minimum = sizes_[name].minimum;
    if (count.running == 0 || count.running + count.succeeded >= minimum) {
      half_since_.erase(name);
      return;
    }
    const auto [since, is_new] = half_since_.try_emplace(name, cluster_.now());
    if (is_new) ++halves_;
    if (cluster_.now() - since->second <= kLongestHalf) return;
    if (cluster_.now() - restarted_ <= kLongestChance) return;
    complaint_ = fmt::format("{}: {} run and {} are done of {}, for long\n{}", name, count.running,
                             count.succeeded, minimum, Story(name));
  }

  void Remove(const std::string& name) {
    (void)cluster_.api().Delete("Job", "default", name, Actor::kUser);
    (void)cluster_.api().Delete("ResourceReservation", "default", name, Actor::kUser);
    std::vector<std::string> keys;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      if (NameOfGang(*pod) == name) keys.push_back(key);
    }
    for (const std::string& key : keys) (void)cluster_.api().DeletePod(key, Actor::kUser);
    sizes_.erase(name);
    half_since_.erase(name);
    ++ended_;
  }

  Random random_;
  ClusterForTest cluster_;
  bool mixed_;
  std::map<std::string, Size> sizes_;
  std::map<std::string, Duration> half_since_;
  Duration restarted_;
  int made_ = 0, ended_ = 0, halves_ = 0, waiting_cpus_ = 0;
  std::string complaint_;
};

std::int64_t DaysOfWeek() {
  const char* const asked = std::getenv("KNX_GANG_DAYS");
  constexpr std::int64_t kUsual = 7;
  return asked == nullptr ? kUsual : std::strtoll(asked, nullptr, 10);
}

TEST(GangWeek, WhateverDiesNoGangStaysHalfAndAllComeToTheirEnd) {
  ASSERT_GT(DaysOfWeek(), 0) << "KNX_GANG_DAYS is no number";
  int ended = 0;
  int halves = 0;
  for (std::int64_t day = 1; day <= DaysOfWeek(); ++day) {
    GangWeek week(static_cast<std::uint64_t>(day));
    ASSERT_EQ(week.Live(Duration::Minutes(24 * 60)), "") << "seed " << day;
    ended += week.ended();
    halves += week.halves();
  }
  fmt::print("{} gangs ended, {} were seen in halves\n", ended, halves);
  EXPECT_GT(halves, 0) << "nothing happened to them";
}

// One cluster for days, on which all that is shipped does its part.
TEST(GangWeek, OneLongLifeWithEverythingThatIsShipped) {
  constexpr std::int64_t kDays = 3;
  Deeds deeds;
  ClusterOptions options = ShippedOptions(1);
  options.scheduler.engine.observer = &deeds;
  options.keep_log = false;
  GangWeek life(1, options, true);
  ASSERT_EQ(life.Live(Duration::Minutes(kDays * 24 * 60)), "");
  using engine::BackfillOutcome;
  const int promised = deeds.outcomes[BackfillOutcome::kPromised];
  const int passed = deeds.outcomes[BackfillOutcome::kPassed];
  fmt::print("{} gangs ended, {} were seen in halves\n", life.ended(), life.halves());
  fmt::print("{} pods evicted, {} starts promised, {} passed\n", deeds.evicted, promised, passed);
  EXPECT_GT(life.halves(), 0) << "nothing happened to them";
  EXPECT_GT(deeds.evicted, 0U);
  EXPECT_GT(promised, 0);
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace knx::sim
