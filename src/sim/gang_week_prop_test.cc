// Days of gangs that belong to Jobs, on nodes that die, with a scheduler that is refused and that
// starts anew: no gang stays half started for long, and in the end all have done their work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "k8s/drivers.h"
#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"
#include "sim/drawn_gang_for_test.h"

namespace knx::sim {
namespace {

// Everything of ours that is shipped.
ClusterOptions ShippedOptions(std::uint64_t seed) {
  return GangOptionsForTest(
      seed, nullptr,
      "multiPoint: {enabled: [{name: ProfileClassifier}, {name: Coscheduling}, "
      "{name: GangPreemption}, {name: ResourceReservation}, {name: BackfillScoring}]}");
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
  // `mixed`: there are gangs of all kinds and tiers, some are more important than others, some say
  // how long they run, for some there is a reservation, they run longer, and several always wait,
  // none of them for nearly all machines.
  GangWeek(std::uint64_t seed, const ClusterOptions& options, bool mixed)
      : random_(seed), cluster_(options), mixed_(mixed) {}

  // What went wrong first; empty: nothing did.
  std::string Live(Duration span) {
    AddMachines();
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
  [[nodiscard]] int given_up() const { return given_up_; }
  [[nodiscard]] int ended_of(GangKind kind) const {
    const auto found = ended_of_.find(kind);
    return found == ended_of_.end() ? 0 : found->second;
  }

 private:
  static constexpr int kMachines = 16, kCpusOfMachine = 8, kImportances = 3, kRacks = 4;
  static constexpr Duration kBetweenLooks = Duration::Seconds(10);
  static constexpr Duration kLongWait = Duration::Minutes(12 * 60);
  // The grace of a gang, and a look at it.
  static constexpr Duration kLongestHalf = Duration::Seconds(60 + 10);
  // The least that a scheduler which starts gives a gang that it finds incomplete, and a look at
  // it.
  static constexpr Duration kLongestChance = Duration::Seconds(10 + 10);

  // While the places of its executors are kept a driver waits for them (driverSeconds).
  static constexpr Duration kLongestDrive = Duration::Minutes(10);

  struct Count {
    int running = 0, succeeded = 0;
    std::string driver;             // its key, if one runs
    std::set<std::string> who_run;  // keys
    Time first_made = kNever;       // of those who have not done their work
  };
  struct Done {
    int succeeded = 0;
    Time first_seen, seen;  // the first, so many
  };
  struct Half {
    Duration since;
    std::set<std::string> who_ran;
    std::string driver;
  };

  static std::string Machine(int i) { return fmt::format("node-{}", i); }
  std::string AnyMachine() { return Machine(1 + static_cast<int>(random_.Below(kMachines))); }

  void AddMachines() {
    for (int i = 1; i <= kMachines; ++i) {
      k8s::Node machine = NodeForTest(Machine(i), std::to_string(kCpusOfMachine));
      if (mixed_) machine.meta.labels = {{kRackForTest, fmt::format("rack-{}", i % kRacks)}};
      cluster_.Create(std::move(machine));
    }
  }

  void AddGang() {
    const std::string name = fmt::format("gang-{}", ++made_);
    DrawnGang& gang = sizes_[name];
    GangDrawer drawer(random_, name, kMachines / kRacks * kCpusOfMachine);
    gang = mixed_ ? drawer.Draw() : drawer.DrawPlain();
    if (mixed_) Mix(name, gang);
    for (k8s::Job& job : gang.jobs) cluster_.Create(std::move(job));
    gang.jobs.clear();
  }

  // What all pods of a gang have in common.
  void Mix(const std::string& name, DrawnGang& gang) {
    std::vector<k8s::Job*> jobs;
    for (k8s::Job& job : gang.jobs) jobs.push_back(&job);
    if (gang.executors) jobs.push_back(&*gang.executors);
    const std::string importance = Importance(static_cast<int>(random_.Below(kImportances)));
    const bool says_how_long = random_.Chance(70), has_tier = random_.Chance(50);
    const char* const tier = std::array{"gold", "silver", "bronze"}[random_.Below(3)];
    for (k8s::Job* const job : jobs) {
      k8s::PodTemplate& pods = job->pod_template;
      pods.spec.priority_class_name = importance;
      k8s::StringMap& annotations = pods.meta.annotations;
      if (says_how_long) annotations.emplace_back(k8s::names::kExpectedDuration, gang.run_for);
      if (has_tier) annotations.emplace_back(k8s::names::kTenantTier, tier);
      std::sort(annotations.begin(), annotations.end());
    }
    if (gang.kind == GangKind::kPlain && random_.Chance(30)) Reserve(name);
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
    cluster_.RunFor(kBetweenLooks);
    if (cluster_.violation()) complaint_ = cluster_.violation()->what;
    Look();
  }

  // Counted from the objects alone.
  void Look() {
    std::map<std::string, Count> counts;
    waiting_cpus_ = 0;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      const std::string& name = NameOfGang(*pod);
      // Who leaves a dead node may still be there when its gang is over.
      if (!sizes_.contains(name)) continue;
      Count& count = counts[name];
      if (pod->status.phase == k8s::PodPhase::kSucceeded) {
        ++count.succeeded;
        continue;
      }
      count.first_made = std::min(count.first_made, pod->meta.created.value_or(Time{}));
      if (pod->spec.node_name.empty()) {
        waiting_cpus_ += sizes_[name].cpus;
      } else if (!pod->meta.deleted) {
        ++count.running;
        count.who_run.insert(std::string(key));
        if (k8s::IsDriver(pod->meta.labels)) count.driver = key;
      }
    }
    for (const auto& [name, count] : counts) {
      if (!count.driver.empty()) MakeExecutors(sizes_[name]);
      LookForHalf(name, count);
      if (count.succeeded == sizes_[name].members) Remove(name);
      if (IsAnotherRun(name, count)) GiveUp(name);
    }
  }

  // Those who are left are of other Jobs than all who have done their work, and were made anew
  // after that: to them that was another gang of the same name, and they are too few.
  bool IsAnotherRun(const std::string& name, const Count& count) {
    const auto gang = sizes_.find(name);
    if (gang == sizes_.end() || gang->second.names.size() < 2) return false;
    Done& done = done_[name];
    const Time now = cluster_.agenda().now();
    if (done.succeeded == 0) done.first_seen = now;
    if (done.succeeded != count.succeeded) done.seen = now;
    done.succeeded = count.succeeded;
    if (count.succeeded == 0 || count.running > 0) return false;
    // A pod that had done its work was deleted with its node: its Job knows, and we do not.
    if (count.first_made == kNever) return now - done.seen > kLongWait;
    const Time made = count.first_made + kBetweenLooks;
    if (made >= done.seen) return true;
    // To a scheduler that started meanwhile only some of those may be of another gang.
    return made >= done.first_seen && now - std::max(done.seen, made) > kLongWait;
  }
  void GiveUp(const std::string& name) {
    Remove(name);
    --ended_;
    ++given_up_;
  }

  void MakeExecutors(DrawnGang& gang) {
    if (auto made = std::exchange(gang.executors, std::nullopt)) cluster_.Create(*std::move(made));
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
    const Half now{cluster_.now(), count.who_run, count.driver};
    const auto [half, is_new] = half_since_.try_emplace(name, now);
    if (is_new) ++halves_;
    // All may have gone at the end of the grace and others have started, between two looks; and for
    // another driver places are kept anew.
    const std::set<std::string>& before = half->second.who_ran;
    const bool some_stayed = std::any_of(
        before.begin(), before.end(), [&](const auto& key) { return count.who_run.contains(key); });
    if (!some_stayed || half->second.driver != count.driver) half->second = now;
    const bool driven = sizes_[name].kind == GangKind::kDriven;
    const Duration longest = driven ? kLongestDrive + kLongestHalf : kLongestHalf;
    if (cluster_.now() - half->second.since <= longest) return;
    // Places for executors that were kept may have been given up while nobody scheduled.
    if (cluster_.now() - restarted_ <= (driven ? kLongestHalf : kLongestChance)) return;
    complaint_ = fmt::format("{}: {} run and {} are done of {}, for long\n{}", name, count.running,
                             count.succeeded, minimum, Story(name));
  }

  void Remove(const std::string& name) {
    for (const std::string& job : sizes_[name].names) {
      (void)cluster_.api().Delete("Job", "default", job, Actor::kUser);
    }
    (void)cluster_.api().Delete("ResourceReservation", "default", name, Actor::kUser);
    std::vector<std::string> keys;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      if (NameOfGang(*pod) == name) keys.push_back(key);
    }
    for (const std::string& key : keys) (void)cluster_.api().DeletePod(key, Actor::kUser);
    ++ended_of_[sizes_[name].kind];
    done_.erase(name);
    sizes_.erase(name);
    half_since_.erase(name);
    ++ended_;
  }

  Random random_;
  ClusterForTest cluster_;
  bool mixed_;
  std::map<std::string, DrawnGang> sizes_;
  std::map<std::string, Half> half_since_;
  std::map<std::string, Done> done_;
  std::map<GangKind, int> ended_of_;
  Duration restarted_;
  int made_ = 0, ended_ = 0, given_up_ = 0, halves_ = 0, waiting_cpus_ = 0;
  std::string complaint_;
};

std::int64_t AskedFor(const char* variable, std::int64_t otherwise) {
  const char* const asked = std::getenv(variable);
  return asked == nullptr ? otherwise : std::strtoll(asked, nullptr, 10);
}

// KNX_GANG_DAYS lives of a day each.
TEST(GangWeek, WhateverDiesNoGangStaysHalfAndAllComeToTheirEnd) {
  const std::int64_t days = AskedFor("KNX_GANG_DAYS", 7);
  ASSERT_GT(days, 0) << "KNX_GANG_DAYS is no number";
  int ended = 0;
  int halves = 0;
  for (std::int64_t day = 1; day <= days; ++day) {
    GangWeek week(static_cast<std::uint64_t>(day));
    ASSERT_EQ(week.Live(Duration::Minutes(24 * 60)), "") << "seed " << day;
    ended += week.ended();
    halves += week.halves();
  }
  fmt::print("{} gangs ended, {} were seen in halves\n", ended, halves);
  EXPECT_GT(halves, 0) << "nothing happened to them";
}

// One cluster for days, on which all that is shipped does its part.
void LiveLong(std::uint64_t seed, std::int64_t days) {
  Deeds deeds;
  ClusterOptions options = ShippedOptions(seed);
  options.scheduler.engine.observer = &deeds;
  options.keep_log = false;
  GangWeek life(seed, options, true);
  ASSERT_EQ(life.Live(Duration::Minutes(days * 24 * 60)), "");
  using engine::BackfillOutcome;
  const int promised = deeds.outcomes[BackfillOutcome::kPromised];
  const int passed = deeds.outcomes[BackfillOutcome::kPassed];
  fmt::print(
      "seed {}: {} gangs ended, {} were given up, {} were seen in halves, {} pods evicted, {} "
      "starts promised, {} passed\n",
      seed, life.ended(), life.given_up(), life.halves(), deeds.evicted, promised, passed);
  EXPECT_LT(life.given_up() * 4, life.ended());
  EXPECT_GT(life.halves(), 0) << "nothing happened to them";
  EXPECT_GT(deeds.evicted, 0U);
  EXPECT_GT(promised, 0);
  EXPECT_GT(passed, 0);
  for (int kind = 0; kind < kGangKinds; ++kind) {
    EXPECT_GT(life.ended_of(static_cast<GangKind>(kind)), 0) << "of kind " << kind;
  }
}

// KNX_GANG_LIVES of KNX_GANG_LIFE_DAYS each, the first with the seed KNX_GANG_FIRST_LIFE.
TEST(GangWeek, OneLongLifeWithEverythingThatIsShipped) {
  const std::int64_t days = AskedFor("KNX_GANG_LIFE_DAYS", 3),
                     lives = AskedFor("KNX_GANG_LIVES", 1),
                     first = AskedFor("KNX_GANG_FIRST_LIFE", 1);
  ASSERT_TRUE(days > 0 && lives > 0 && first > 0) << "KNX_GANG_... is no number";
  for (std::int64_t seed = first; seed < first + lives && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LiveLong(static_cast<std::uint64_t>(seed), days);
  }
}

}  // namespace
}  // namespace knx::sim
