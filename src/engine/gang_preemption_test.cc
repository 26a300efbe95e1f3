// Who has to go so that a gang fits, in tables.
#include "engine/gang_preemption.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/testing/harness.h"
#include "engine/testing/plain_objects.h"

namespace knx::engine {
namespace {

using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using testing::Budget;

PodBuilder InGang(PodBuilder pod, const std::string& gang, int minimum) {
  return pod.Label("pod-group.scheduling.kubenexus.io/name", gang)
      .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(minimum));
}

struct Bystander {
  std::string node, name, cpu;
  std::int32_t priority = 0;
  std::string gang = "";
  int minimum = 0;
  std::int64_t started = 1;
  k8s::StringMap labels = {};
};

struct Comers {
  int count = 2;
  std::string cpu = "1";
  std::int32_t priority = 10;
  int minimum = 2;
  bool never = false;
};

struct RoomCase {
  std::string_view name;
  std::map<std::string, std::string> nodes;  // with their CPU
  std::vector<Bystander> guests;
  Comers comers;
  std::string victims;  // by name; "": nobody
  std::vector<k8s::PodDisruptionBudget> budgets = {};
};

class RoomStory {
 public:
  explicit RoomStory(const RoomCase& c) : case_(c) {
    for (const auto& [name, cpu] : c.nodes) {
      harness_.Node(NodeBuilder(name).Has("cpu", cpu).Has("memory", "64Gi").Has("pods", "110"));
    }
    for (const auto& budget : c.budgets) harness_.Object(budget);
    for (const Bystander& guest : c.guests) {
      PodBuilder pod(guest.name);
      pod.Asks("cpu", guest.cpu).Priority(guest.priority).On(guest.node);
      pod.Started(Time{guest.started * 1'000'000'000}).Label("app", guest.name);
      for (const auto& [key, value] : guest.labels) pod.Label(key, value);
      if (!guest.gang.empty()) pod = InGang(pod, guest.gang, guest.minimum);
      harness_.Pod(pod);
    }
    for (int i = 0; i < c.comers.count; ++i) {
      PodBuilder pod("comer" + std::to_string(i));
      pod.Asks("cpu", c.comers.cpu).Priority(c.comers.priority);
      if (c.comers.never) pod.NeverPreempts();
      harness_.Pod(InGang(pod, "comers", c.comers.minimum));
    }
    harness_.Schedule();
    Verify();
  }

  std::string Victims() {
    std::vector<std::string> names;
    for (const PlanEvictions& plan : harness_.plans()) {
      for (const PodRef& victim : plan.victims) names.push_back(victim.name);
      for (const PodRef& victim : plan.along) names.push_back(victim.name);
    }
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, " "));
  }
  // They go, one after the other; the gang must have its minimum then, and nobody else go.
  int PlacedWhenTheyAreGone() {
    const std::string planned = Victims();
    for (auto left = harness_.evictions(); !left.empty(); left = harness_.evictions()) {
      EXPECT_EQ(Placed(), 0) << "while " << left.front() << " is still there";
      harness_.FinishEviction(left.front());
      Verify();
    }
    harness_.Pass(Duration::Seconds(2));
    harness_.ScheduleAndBind();
    EXPECT_EQ(Victims(), planned);
    Verify();
    return Placed();
  }

 private:
  int Placed() {
    int placed = 0;
    for (int i = 0; i < case_.comers.count; ++i) {
      placed += harness_.NodeOf("comer" + std::to_string(i)).empty() ? 0 : 1;
    }
    return placed;
  }
  void Verify() {
    EXPECT_EQ(harness_.engine().Verify().value_or("equal"), "equal");
    EXPECT_EQ(harness_.engine().VerifyCaches().value_or("equal"), "equal");
  }

  const RoomCase& case_;
  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "GangPreemption"})};
};

void ExpectVictims(const std::vector<RoomCase>& cases) {
  for (const RoomCase& c : cases) {
    SCOPED_TRACE(c.name);
    RoomStory story(c);
    EXPECT_EQ(story.Victims(), c.victims);
    const int placed = story.PlacedWhenTheyAreGone();
    if (c.victims.empty()) {
      EXPECT_EQ(placed, 0);
    } else {
      EXPECT_GE(placed, c.comers.minimum);
    }
  }
}

TEST(GangPreemption, EvictsTheFewestThatMatterLeast) {
  ExpectVictims({
      {"one large pod for two small ones", {{"a", "2"}}, {{"a", "p", "2"}}, {}, "p"},
      {"only as many as are in the way",
       {{"a", "4"}},
       {{"a", "p", "1"}, {"a", "q", "1"}, {"a", "r", "1"}, {"a", "s", "1"}},
       {},
       "r s"},
      {"room that is free is used", {{"a", "1"}, {"b", "1"}}, {{"b", "p", "1"}}, {}, "p"},
      {"the less important ones",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "p", "2", 5}, {"b", "q", "2", 1}},
       {},
       "q"},
      {"who has lost less",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "old", "2", 0, "", 0, 10}, {"b", "young", "2", 0, "", 0, 20}},
       {},
       "young"},
      {"members above the minimum cause nothing",
       {{"a", "3"}},
       {{"a", "p", "1"}, {"a", "q", "1"}, {"a", "r", "1"}},
       {.count = 3, .minimum = 2},
       "q r"},
  });
}

TEST(GangPreemption, AnObjectSaysWhoGoesWithoutTheOthers) {
  using Mode = k8s::DisruptionMode;
  struct Case {
    Mode mode;
    std::int32_t minimum;
    std::size_t victims;  // of four, where two are in the way
  };
  const Case cases[] = {{Mode::kUnset, 2, 2},  {Mode::kUnset, 3, 4}, {Mode::kSingle, 2, 2},
                        {Mode::kSingle, 4, 2}, {Mode::kAll, 2, 4},   {Mode::kAll, 4, 4}};
  for (const Case& c : cases) {
    // For a gang, and for a single pod.
    for (const bool gang : {true, false}) {
      SCOPED_TRACE(
          fmt::format("mode {} minimum {} gang {}", static_cast<int>(c.mode), c.minimum, gang));
      testing::Harness harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
      harness.Node(NodeBuilder("a").Has("cpu", "4").Has("memory", "64Gi").Has("pods", "110"));
      k8s::PodGroup group;
      group.meta.name = "train";
      group.meta.namespace_ = "default";
      group.minimum = c.minimum;
      group.disruption = c.mode;
      harness.Object(group);
      for (int i = 0; i < 4; ++i) {
        k8s::Pod pod = PodBuilder("m" + std::to_string(i)).Asks("cpu", "1").On("a");
        pod.spec.pod_group = k8s::PodGroupReference{"", "train", ""};
        harness.Pod(pod);
      }
      if (gang) {
        for (const char* const name : {"x", "y"}) {
          harness.Pod(InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "comers", 2));
        }
      } else {
        harness.Pod(PodBuilder("x").Asks("cpu", "2").Priority(10));
      }
      harness.Schedule();
      std::size_t victims = 0;
      for (const PlanEvictions& plan : harness.plans()) {
        victims += plan.victims.size() + plan.along.size();
      }
      EXPECT_EQ(victims, c.victims);
      EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
    }
  }
}

TEST(GangPreemption, WhatPodsSayAboutTheirEndCounts) {
  const k8s::StringMap backfill = {{"scheduling.kubenexus.io/backfill", "true"}};
  const k8s::StringMap preemptible = {{"workload.kubenexus.io/preemptible", "true"}};
  const k8s::StringMap stays = {{"workload.kubenexus.io/preemptible", "false"}};
  ExpectVictims({
      {"who fills gaps goes before who started later",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "old", "2", 0, "", 0, 10, backfill}, {"b", "young", "2", 0, "", 0, 20}},
       {},
       "old"},
      {"so does who may be preempted",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "old", "2", 0, "", 0, 10, preemptible}, {"b", "young", "2", 0, "", 0, 20}},
       {},
       "old"},
      {"but not before who is less important",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "p", "2", 5, "", 0, 1, backfill}, {"b", "q", "2", 1}},
       {},
       "q"},
      {"who is to stay does",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "p", "2", 5}, {"b", "q", "2", 1, "", 0, 1, stays}},
       {},
       "p"},
      {"and the gang with it",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "q0", "2", 0, "q", 2}, {"b", "q1", "2", 0, "q", 2, 1, stays}},
       {},
       ""},
  });
}

// Of two pods, whose profile says what, and who goes.
TEST(GangPreemption, WhatTheirProfileSaysAboutTheirEndCounts) {
  const auto config = framework::ReadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles:\n"
      "- schedulerName: default-scheduler\n"
      "  plugins: {multiPoint: {enabled: [{name: Coscheduling}, {name: GangPreemption},\n"
      "                                   {name: ProfileClassifier}]}}\n",
      "gangs.yaml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  const std::string key = "workload.kubenexus.io/preemptible";
  struct Case {
    std::string_view name;
    PodBuilder old, young;
    std::string_view victim;
  };
  const Case cases[] = {
      {"nothing is said", PodBuilder("old"), PodBuilder("young"), "young"},
      {"by an annotation", PodBuilder("old").Annotation(key, "true"), PodBuilder("young"), "old"},
      {"to stay", PodBuilder("old"), PodBuilder("young").Annotation(key, "false"), "old"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    testing::Harness harness({}, testing::ProfilesOf(*config));
    for (const std::string name : {"a", "b"}) {
      harness.Node(NodeBuilder(name).Has("cpu", "2").Has("memory", "64Gi").Has("pods", "110"));
    }
    harness.Pod(PodBuilder(c.old).Asks("cpu", "2").Started(Time{1}).On("a"));
    harness.Pod(PodBuilder(c.young).Asks("cpu", "2").Started(Time{2}).On("b"));
    for (const std::string name : {"m0", "m1"}) {
      harness.Pod(InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "train", 2));
    }
    harness.Schedule();
    EXPECT_THAT(harness.evictions(), ::testing::ElementsAre(std::string(c.victim)));
  }
}

TEST(GangPreemption, EvictsNobodyForNothing) {
  ExpectVictims({
      {"equally important", {{"a", "2"}}, {{"a", "p", "2", 10}}, {}, ""},
      {"more important than one of them only",
       {{"a", "4"}},
       {{"a", "p", "2", 0}, {"a", "q", "2", 20}},
       {.count = 4, .minimum = 4},
       ""},
      {"they may not", {{"a", "2"}}, {{"a", "p", "2"}}, {.never = true}, ""},
      {"too large for an empty node", {{"a", "2"}}, {{"a", "p", "2"}}, {.cpu = "3"}, ""},
      {"what keeps the cluster going",
       {{"a", "2"}},
       {{"a", "p", "2", 2'000'000'000}},
       {.priority = 2'000'000'001},
       ""},
  });
}

TEST(GangPreemption, GangsGoAsWholesOrOnlyWhatTheyHaveTooMuch) {
  ExpectVictims({
      {"all of it, wherever it is",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "q0", "2", 0, "q", 2}, {"b", "q1", "2", 0, "q", 2}},
       {},
       "q0 q1"},
      {"what it has above its minimum",
       {{"a", "4"}},
       {{"a", "q0", "1", 0, "q", 2},
        {"a", "q1", "1", 0, "q", 2},
        {"a", "q2", "1", 0, "q", 2},
        {"a", "q3", "1", 0, "q", 2}},
       {},
       "q2 q3"},
      {"one of each rather than one gang",
       {{"a", "6"}},
       {{"a", "q0", "1", 0, "q", 2},
        {"a", "q1", "1", 0, "q", 2},
        {"a", "q2", "1", 0, "q", 2},
        {"a", "r0", "1", 0, "r", 2},
        {"a", "r1", "1", 0, "r", 2},
        {"a", "r2", "1", 0, "r", 2}},
       {},
       "q2 r2"},
      {"a single pod rather than a gang that is less important",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "q0", "1", 0, "q", 2}, {"a", "q1", "1", 0, "q", 2}, {"b", "p", "2", 5}},
       {},
       "p"},
      {"what is above the minimum goes along",
       {{"a", "2"}, {"b", "1"}},
       {{"a", "q0", "1", 0, "q", 2}, {"a", "q1", "1", 0, "q", 2}, {"b", "q2", "1", 0, "q", 2, 5}},
       {},
       "q0 q1 q2"},
      {"a gang that is incomplete already breaks first",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "q0", "2", 0, "q", 3}, {"b", "r0", "1", 0, "r", 2}, {"b", "r1", "1", 0, "r", 2}},
       {},
       "q0"},
      {"a gang with one that may not go stays",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "q0", "2", 0, "q", 2}, {"b", "q1", "2", 20, "q", 2}},
       {},
       ""},
  });
}

// Of the sub-group of its first letter, of which two make it whole; so many of them must be.
Bystander InSubGroup(const std::string& pod, const std::string& node, const std::string& wanted,
                     int minimum) {
  const std::string ours = "pod-group.scheduling.kubenexus.io/";
  return {node,
          pod,
          "1",
          0,
          "q",
          minimum,
          1,
          {{ours + "min-sub-groups", wanted},
           {ours + "sub-group", pod.substr(0, 1)},
           {ours + "sub-group-min-available", "2"}}};
}

TEST(GangPreemption, SubGroupsGoAsWholesOrOnlyWhatTheyHaveTooMuch) {
  const auto guests = [](const std::vector<std::string>& names, const std::string& wanted,
                         int minimum) {
    std::vector<Bystander> out;
    for (const std::string& name : names) out.push_back(InSubGroup(name, "a", wanted, minimum));
    return out;
  };
  ExpectVictims({
      {"a whole one rather than one of each",
       {{"a", "4"}},
       guests({"x0", "x1", "y0", "y1"}, "1", 2),
       {},
       "y0 y1"},
      {"members that they do not need rather than a whole one",
       {{"a", "6"}},
       guests({"x0", "x1", "x2", "y0", "y1", "y2"}, "1", 2),
       {},
       "x2 y2"},
      {"what it does not need goes along with it",
       {{"a", "5"}},
       guests({"x0", "x1", "y0", "y1", "y2"}, "1", 2),
       {.count = 3, .minimum = 3},
       "y0 y1 y2"},
      {"all of it where it needs both",
       {{"a", "4"}},
       guests({"x0", "x1", "y0", "y1"}, "2", 4),
       {},
       "x0 x1 y0 y1"},
      {"none where the gang needs the pods",
       {{"a", "4"}, {"b", "2"}},
       [&] {
         auto all = guests({"x0", "x1", "y0", "y1"}, "1", 4);
         all.push_back({"b", "single", "2", 5});
         return all;
       }(),
       {},
       "single"},
  });
}

TEST(GangPreemption, ASinglePodTakesTheRestOfASubGroupAlong) {
  testing::Harness harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
  for (const char* name : {"a", "b", "c", "d"}) {
    harness.Node(NodeBuilder(name).Has("cpu", "1").Has("memory", "64Gi").Has("pods", "110"));
  }
  for (const auto& [name, node] :
       {std::pair("x0", "a"), std::pair("x1", "b"), std::pair("y0", "c"), std::pair("y1", "d")}) {
    const Bystander guest = InSubGroup(name, node, "1", 2);
    PodBuilder pod(guest.name);
    pod.Asks("cpu", guest.cpu).On(guest.node);
    for (const auto& [key, value] : guest.labels) pod.Label(key, value);
    harness.Pod(InGang(pod, guest.gang, guest.minimum));
  }
  harness.Pod(PodBuilder("comer").Asks("cpu", "1").Priority(10));
  harness.Schedule();
  ASSERT_EQ(harness.plans().size(), 1U);
  const PlanEvictions& plan = harness.plans()[0];
  ASSERT_EQ(plan.victims.size(), 1U);
  ASSERT_EQ(plan.along.size(), 1U);
  EXPECT_EQ(plan.victims[0].name[0], plan.along[0].name[0]) << "of the same sub-group";
}

TEST(GangPreemption, RespectsBudgetsWhereItCan) {
  ExpectVictims({
      {"another way",
       {{"a", "2"}, {"b", "2"}},
       {{"a", "p", "2", 0}, {"b", "q", "2", 5}},
       {},
       "q",
       {Budget("p", {{"app", "p"}}, 0)}},
      {"no other way",
       {{"a", "2"}},
       {{"a", "p", "2", 0}},
       {},
       "p",
       {Budget("p", {{"app", "p"}}, 0)}},
  });
}

TEST(GangPreemption, DrainsAWholeCluster) {
  RoomCase c{"11 nodes full of small pods", {}, {}, {.count = 11, .cpu = "4", .minimum = 11}, ""};
  std::vector<std::string> all;
  for (int node = 0; node < 11; ++node) {
    const std::string name = fmt::format("node{:02}", node);
    c.nodes[name] = "4";
    for (int i = 0; i < 4; ++i) {
      all.push_back(fmt::format("p{:02}", 4 * node + i));
      c.guests.push_back({name, all.back(), "1"});
    }
  }
  c.victims = fmt::format("{}", fmt::join(all, " "));
  ExpectVictims({c});
}

// As long as they leave slowly, the gang waits for them and asks nobody else.
TEST(GangPreemption, WaitsForVictimsThatTakeTheirTime) {
  testing::Harness harness({}, testing::ProfilesWith({"Coscheduling", "GangPreemption"}));
  for (const std::string name : {"a", "b"}) {
    harness.Node(NodeBuilder(name).Has("cpu", "2").Has("memory", "64Gi").Has("pods", "110"));
  }
  PodBuilder low("low");
  low.Asks("cpu", "2").On("a");
  harness.Pod(low);
  harness.Pod(PodBuilder("other").Asks("cpu", "2").Priority(5).On("b"));
  for (const std::string name : {"m0", "m1"}) {
    harness.Pod(InGang(PodBuilder(name).Asks("cpu", "1").Priority(10), "train", 2));
  }
  harness.Schedule();
  ASSERT_THAT(harness.evictions(), ::testing::ElementsAre("low"));
  k8s::Pod leaving = low.Preempted();
  leaving.meta.deleted = harness.now() + Duration::Minutes(2);
  harness.Pod(leaving);
  harness.Pass(Duration::Seconds(60));
  EXPECT_EQ(harness.plans().size(), 1U);
  EXPECT_EQ(harness.NodeOf("m0"), "");
  harness.PodGone("low");
  harness.Pass(Duration::Seconds(60));
  EXPECT_EQ(harness.NodeOf("m0"), "a");
  EXPECT_EQ(harness.NodeOf("m1"), "a");
  EXPECT_EQ(harness.plans().size(), 1U);
  EXPECT_EQ(harness.engine().Verify().value_or("equal"), "equal");
}

}  // namespace
}  // namespace knx::engine
