// Gangs whose members are made in random order on a cluster that is full: no gang ever stays half
// started, and room that would hold a waiting gang does not stay empty.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {
namespace {

using testing::HasSubstr;

constexpr int kNodes = 64;
constexpr int kCpusOfNode = 8;
constexpr int kCpus = kNodes * kCpusOfNode;
// Percent of the CPUs that are wanted while pods are made: at least, and when more are made.
constexpr int kLeastLoad = 95, kMoreWorkAt = 150;
constexpr int kWaves = 4;
constexpr Duration kPatience = Duration::Seconds(60);
// The grace of a gang begins when its scheduler learns that a binding failed; who is asked to go at
// its end goes a moment later.
constexpr Duration kMoment = Duration::Seconds(2);

// What a plan found before it failed is not taken back.
ClusterOptions WithoutTakingBack(std::uint64_t seed, Checking checking) {
  ClusterOptions options = GangOptionsForTest(seed);
  options.scheduler.engine.halves_gangs = true;
  options.checking = checking;
  return options;
}

class GangLife {
 public:
  // `refusals`: of bindings, in each wave.
  GangLife(std::uint64_t seed, const ClusterOptions& options, int refusals = 2)
      : random_(seed), cluster_(options), refusals_(refusals) {}

  // What went wrong first; empty: nothing did.
  std::string Run() {
    cluster_.AddNodes(kNodes, std::to_string(kCpusOfNode));
    cluster_.Start();
    for (int wave = 0; wave < kWaves; ++wave) {
      // New work comes before there is too little.
      while (LookAtLoad() > kMoreWorkAt && complaint_.empty()) Pass(Duration::Seconds(1));
      Refuse();
      for (k8s::Pod& pod : NextWave()) {
        cluster_.Create(std::move(pod));
        Pass(Duration::Milliseconds(static_cast<std::int64_t>(random_.Below(60))));
        LookAtLoad();
        if (!complaint_.empty()) return complaint_;
      }
    }
    if (!loaded_) return "there was never enough to do";
    const Duration end = cluster_.now() + Duration::Minutes(60);
    while (WaitingCpus() > 0 && complaint_.empty()) {
      Pass(Duration::Seconds(1));
      if (cluster_.now() > end) complaint_ = "some wait still";
    }
    return complaint_;
  }

 private:
  struct Gang {
    int members = 0, minimum = 0, cpus = 0;
    bool in_pairs = false;  // its members start two by two
  };
  struct Begun {
    int started = 0, running = 0;
    void Add(bool finished) {
      ++started;
      if (!finished) ++running;
    }
  };
  struct Pair {
    Begun begun;
    int waiting = 0;
  };
  struct Progress {
    int seen = 0;               // those who leave, too
    int made = 0, waiting = 0;  // without them
    Begun begun;
    std::map<std::string, Pair> pairs;  // one, where they do not start two by two
  };

  void Refuse() {
    if (refusals_ == 0) return;
    CallFault fault;
    fault.call = Call::kBind;
    fault.kind = CallFault::Kind::kRefuse;
    fault.count = refusals_;
    refused_ += static_cast<std::size_t>(refusals_);
    cluster_.scheduler().faults().Add(fault, cluster_.agenda().now());
  }

  // Half of what the cluster holds and more, members of all gangs in random order.
  std::vector<k8s::Pod> NextWave() {
    std::vector<k8s::Pod> pods;
    for (int cpus = 0; cpus < kCpus / 2;) {
      const std::string name = fmt::format("gang-{}", gangs_.size());
      Gang& gang = gangs_[name];
      gang.members = 2 + static_cast<int>(random_.Below(40));
      gang.minimum = random_.Chance(70) ? gang.members : 2 + gang.members / 2;
      gang.minimum = std::min(gang.minimum, gang.members);
      gang.cpus = 1 << random_.Below(3);
      gang.in_pairs = gangs_.size() % 5 == 0;
      if (gang.in_pairs) {
        gang.members += gang.members % 2;
        gang.minimum += gang.minimum % 2;
      }
      cpus += gang.members * gang.cpus;
      const std::string run_for = fmt::format("{}s", 20 + random_.Below(60));
      for (int i = 0; i < gang.members; ++i) {
        k8s::Pod pod = PodForTest(fmt::format("{}-{}", name, i), std::to_string(gang.cpus));
        pod.meta.labels = {
            {std::string(k8s::names::kGangMinAvailable), std::to_string(gang.minimum)},
            {std::string(k8s::names::kGangName), name}};
        pod.meta.annotations = {{std::string(scenario::kRunFor), run_for}};
        if (gang.in_pairs) PutIntoPair(i / 2, pod);
        pods.push_back(std::move(pod));
      }
    }
    for (std::size_t i = pods.size(); i > 1; --i) std::swap(pods[i - 1], pods[random_.Below(i)]);
    return pods;
  }

  static void PutIntoPair(int pair, k8s::Pod& pod) {
    auto& annotations = pod.meta.annotations;
    annotations.emplace_back(k8s::names::kGangSubGroup, std::to_string(pair));
    annotations.emplace_back(k8s::names::kGangSubGroupMinAvailable, "2");
    std::sort(annotations.begin(), annotations.end());
  }

  void Pass(Duration time) {
    const Duration end = cluster_.now() + time;
    while (cluster_.Step(end)) continue;
    if (const auto& violation = cluster_.violation()) {
      complaint_ = fmt::format("{}: {}", violation->invariant, violation->what);
      return;
    }
    if (cluster_.now() < next_look_) return;
    next_look_ = cluster_.now() + Duration::Seconds(1);
    Look();
  }

  // Percent of the CPUs that those want who run or wait. Once that is nearly all it stays so as
  // long as pods are made.
  int LookAtLoad() {
    int wanted = 0;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      if (!IsFinished(*pod)) wanted += gangs_[pod->meta.labels.back().second].cpus;
    }
    const int load = wanted * 100 / kCpus;
    if (loaded_ && load < kLeastLoad && complaint_.empty()) {
      complaint_ = fmt::format("the load is {} % only", load);
    }
    loaded_ = loaded_ || load >= kLeastLoad;
    return load;
  }

  // Counted from the objects alone.
  void Look() {
    std::map<std::string, Progress> progress;
    std::map<std::string, int> free;
    for (int i = 1; i <= kNodes; ++i) free[fmt::format("node-{}", i)] = kCpusOfNode;
    waiting_cpus_ = 0;
    for (const auto& [key, pod] : cluster_.store().All<k8s::Pod>()) {
      const std::string& name = pod->meta.labels.back().second;
      Progress& gang = progress[name];
      ++gang.seen;
      const bool waits = pod->spec.node_name.empty();
      // Only a pod that had no place before moves anything on: one that goes does not.
      if (!waits && placed_.insert(std::string(key)).second) moved_ = cluster_.now();
      if (!waits && !IsFinished(*pod)) free[pod->spec.node_name] -= gangs_[name].cpus;
      // Who was asked to go takes its time, and nobody makes it again.
      if (pod->meta.deleted) continue;
      ++gang.made;
      Pair& pair = gang.pairs[gangs_[name].in_pairs ? PairOf(*pod) : ""];
      if (waits) {
        ++gang.waiting;
        ++pair.waiting;
        continue;
      }
      gang.begun.Add(IsFinished(*pod));
      pair.begun.Add(IsFinished(*pod));
    }
    for (const auto& [name, gang] : progress) {
      const Gang& wanted = gangs_[name];
      if (gang.made >= wanted.minimum) waiting_cpus_ += gang.waiting * wanted.cpus;
    }
    LookForHalves(progress);
    LookForLost(progress);
    LookForIdleRoom(progress, free);
  }

  static std::string PairOf(const k8s::Pod& pod) {
    for (const auto& [key, value] : pod.meta.annotations) {
      if (key == k8s::names::kGangSubGroup) return value;
    }
    return {};
  }

  void LookForHalves(const std::map<std::string, Progress>& progress) {
    for (const auto& [name, gang] : progress) {
      LookForHalf(name, gang.begun, gangs_[name].minimum);
      if (!gangs_[name].in_pairs) continue;
      for (const auto& [key, pair] : gang.pairs) LookForHalf(name + "/" + key, pair.begun, 2);
    }
  }

  void LookForHalf(const std::string& name, const Begun& begun, int minimum) {
    // Where all who started have done their work nobody waits for the others, nor holds anything.
    if (begun.running == 0 || begun.started >= minimum) {
      half_since_.erase(name);
      return;
    }
    const auto since = half_since_.try_emplace(name, cluster_.now()).first;
    const Duration half_for = cluster_.now() - since->second;
    // While bindings are on their way nothing is wrong.
    if (half_for > Duration::Milliseconds(500)) halves_.insert(name.substr(0, name.find('/')));
    // Nothing but a binding that fails may leave a gang half, and not for long.
    if (halves_.size() <= refused_ && half_for <= kPatience + kMoment) return;
    complaint_ = fmt::format("{}: {} of {} members started, {} gangs were half", name,
                             begun.started, minimum, halves_.size());
  }

  // Nobody goes but at the end of a grace. Those who are left of such a gang wait for pods that
  // nobody makes again, and no room is idle for them.
  void LookForLost(const std::map<std::string, Progress>& progress) {
    for (const auto& [name, gang] : progress) {
      most_seen_[name] = std::max(most_seen_[name], gang.seen);
      if (gang.made == most_seen_[name] || halves_.contains(name)) continue;
      complaint_ = fmt::format("{} lost pods and was never half", name);
    }
  }

  // The least places, of which each is for one member, with which some more of it have to start;
  // nullopt: whatever is free, none of them could.
  static std::optional<int> PlacesToMoveOn(const Gang& wanted, const Progress& gang) {
    const int missing = std::max(wanted.minimum - gang.begun.started, 1);
    if (!wanted.in_pairs) return gang.waiting < missing ? std::nullopt : std::optional(missing);
    // The other of a pair that has begun needs nobody beside itself.
    int could = 0, alone = 0;
    for (const auto& [name, pair] : gang.pairs) {
      const bool joins = pair.begun.started > 0;
      if (joins) alone += pair.waiting;
      if (joins || pair.waiting > 1) could += pair.waiting;
    }
    const int places = missing <= alone ? missing : alone + (missing - alone + 1) / 2 * 2;
    return could < places ? std::nullopt : std::optional(places);
  }

  // A gang that has yet to start, that lost some, or of which more could run than have to.
  void LookForIdleRoom(const std::map<std::string, Progress>& progress,
                       const std::map<std::string, int>& free) {
    std::string fits;
    for (const auto& [name, gang] : progress) {
      const Gang& wanted = gangs_[name];
      const std::optional<int> needed = PlacesToMoveOn(wanted, gang);
      if (!needed) continue;
      int places = 0;
      for (const auto& [node, cpus] : free) places += cpus / wanted.cpus;
      if (places >= *needed) fits = name;
    }
    if (fits.empty()) moved_ = cluster_.now();
    if (cluster_.now() - moved_ > kPatience) {
      complaint_ = fmt::format("{} would fit, and nothing was placed for a minute", fits);
    }
  }

  int WaitingCpus() {
    Look();
    return waiting_cpus_;
  }

  Random random_;
  ClusterForTest cluster_;
  int refusals_;
  std::map<std::string, Gang> gangs_;
  std::map<std::string, Duration> half_since_;
  std::set<std::string> halves_;          // that were seen
  std::size_t refused_ = 0;               // bindings, at most
  std::map<std::string, int> most_seen_;  // pods, by gang
  std::set<std::string> placed_;          // pods that ever had a place
  Duration next_look_, moved_;
  int waiting_cpus_ = 0;
  bool loaded_ = false;
  std::string complaint_;
};

std::uint64_t NumberIn(const char* variable, std::uint64_t otherwise) {
  const char* const asked = std::getenv(variable);
  return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}

// Every KNX_GANG_SEED_STEP-th from KNX_GANG_FIRST_SEED on, so that several may share the work.
TEST(GangSoak, NoGangStaysHalfAndNoRoomStaysIdle) {
  const std::uint64_t seeds = NumberIn("KNX_GANG_SEEDS", 300),
                      first = NumberIn("KNX_GANG_FIRST_SEED", 1),
                      step = NumberIn("KNX_GANG_SEED_STEP", 1);
  ASSERT_TRUE(seeds > 0 && first > 0 && step > 0) << "KNX_GANG_... is no number";
  std::uint64_t lived = 0;
  for (std::uint64_t seed = first; seed <= seeds; seed += step) {
    ASSERT_EQ(GangLife(seed, GangOptionsForTest(seed)).Run(), "") << "seed " << seed;
    if (++lived % 1000 == 0) std::cout << "-- " << lived << " seeds\n" << std::flush;
  }
}

// The same lives, member by member: what the soak looks for is found.
TEST(GangSoak, WithoutPlanningGangsAsWholesSomeStayHalf) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_THAT(GangLife(seed, OptionsForTest(seed)).Run(), HasSubstr(" members started"));
  }
}

// And so it is if only the taking back is left out. What the soak counts itself shows it, too,
// where no binding fails.
TEST(GangSoak, WithoutTakingBackWhatAFailedPlanFoundSomeAreHalf) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(GangLife(seed, GangOptionsForTest(seed), 0).Run(), "");
    GangLife checked(seed, WithoutTakingBack(seed, Checking::kAsInTests), 0);
    EXPECT_THAT(checked.Run(), HasSubstr("have to start together"));
    GangLife unchecked(seed, WithoutTakingBack(seed, Checking::kOff), 0);
    EXPECT_THAT(unchecked.Run(), HasSubstr(" members started"));
  }
}

// Decides nothing any more once it was asked so often.
class FallsAsleep : public Saboteur {
 public:
  explicit FallsAsleep(int after) : left_(after) {}
  bool OnSchedule() override { return --left_ >= 0; }

 private:
  int left_;
};

TEST(GangSoak, RoomThatStaysIdleIsSeen) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    FallsAsleep saboteur(40 * static_cast<int>(seed));
    ClusterOptions options = GangOptionsForTest(seed, &saboteur);
    options.checking = Checking::kOff;
    EXPECT_THAT(GangLife(seed, options).Run(), HasSubstr("nothing was placed for a minute"));
  }
}

TEST(GangSoak, NoConfigurationLeavesOutTheTakingBack) {
  EXPECT_FALSE(engine::OptionsFor(ConfigForTest()).halves_gangs);
}

}  // namespace
}  // namespace knx::sim
