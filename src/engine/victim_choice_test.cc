// Who goes so that as few gangs break as possible, in tables.
#include "engine/victim_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/broken_gangs.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::GangId;
using cluster::PodId;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

struct Member {
  std::string name;
  int size = 1;
  std::string gang = "";
  int minimum = 0;
};

struct ChoiceCase {
  std::string_view name;
  std::vector<Member> pods;  // all on one node, in the order in which they come back
  int wanted = 1;
  std::vector<std::string> may_break = {};
  std::vector<std::string> enough = {};
  std::string gone = "";  // "none": there is no way
  std::size_t attempts = 100;
};

// A node of which somebody wants so much.
class OneNode {
 public:
  explicit OneNode(const ChoiceCase& c) : case_(c) {
    harness_.Node(NodeBuilder("a").Has("cpu", "100").Has("memory", "64Gi").Has("pods", "110"));
    for (const Member& member : c.pods) {
      PodBuilder pod(member.name);
      pod.Asks("cpu", std::to_string(member.size)).On("a");
      if (!member.gang.empty()) {
        pod.Label("pod-group.scheduling.kubenexus.io/name", member.gang);
        pod.Label("pod-group.scheduling.kubenexus.io/min-available",
                  std::to_string(member.minimum));
      }
      harness_.Pod(pod);
      pods_.push_back(state().pods().Find("uid-" + member.name));
      size_[pods_.back()] = member.size;
    }
  }

  std::string Gone() {
    const auto attempt = [this](const VictimChoice::PodSet& staying) { return Try(staying); };
    VictimChoice choice(state(), pods_, attempt, case_.attempts);
    const auto gone = choice.Find(Gangs(case_.may_break), Gangs(case_.enough));
    if (!gone) return "none";
    std::vector<std::string> names;
    for (const PodId pod : *gone) names.push_back(state().pod(pod).name);
    return fmt::format("{}", fmt::join(names, " "));
  }
  [[nodiscard]] std::size_t tries() const { return tries_; }

 private:
  const cluster::State& state() { return harness_.engine().state(); }
  std::optional<VictimChoice::Pods> Try(const VictimChoice::PodSet& staying) {
    ++tries_;
    int room = 0;
    for (const PodId pod : pods_) room += staying.contains(pod) ? 0 : size_[pod];
    if (room < case_.wanted) return std::nullopt;
    VictimChoice::Pods gone;
    for (const PodId pod : pods_) {
      if (staying.contains(pod)) continue;
      if (room - size_[pod] >= case_.wanted) {
        room -= size_[pod];
      } else {
        gone.push_back(pod);
      }
    }
    return gone;
  }
  std::vector<GangId> Gangs(const std::vector<std::string>& names) {
    std::vector<GangId> gangs;
    for (const std::string& name : names) {
      for (std::size_t i = 0; i < pods_.size(); ++i) {
        if (case_.pods[i].gang == name) gangs.push_back(TiedTo(state(), pods_[i]));
      }
    }
    std::sort(gangs.begin(), gangs.end());
    gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
    return gangs;
  }

  const ChoiceCase& case_;
  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "GangPreemption"})};
  std::vector<PodId> pods_;
  std::map<PodId, int> size_;
  std::size_t tries_ = 0;
};

TEST(VictimChoice, BreaksAsFewGangsAsItCan) {
  const ChoiceCase cases[] = {
      {"who comes back last goes", {{"p"}, {"q"}}, 1, {}, {}, "q"},
      {"nobody of a gang that can spare nobody",
       {{"q"}, {"g0", 1, "g", 2}, {"g1", 1, "g", 2}},
       1,
       {"g"},
       {},
       "q"},
      {"one large member instead of two small ones that a gang cannot spare",
       {{"large", 2, "g", 2}, {"g0", 1, "g", 2}, {"g1", 1, "g", 2}},
       2,
       {},
       {},
       "large"},
      {"one of each of two gangs instead of two of one",
       {{"g0", 1, "g", 2},
        {"g1", 1, "g", 2},
        {"g2", 1, "g", 2},
        {"h0", 1, "h", 2},
        {"h1", 1, "h", 2},
        {"h2", 1, "h", 2}},
       2,
       {},
       {},
       "g2 h2"},
      {"a gang breaks where nothing else helps",
       {{"g0", 1, "g", 2}, {"g1", 1, "g", 2}},
       1,
       {"g"},
       {},
       "g1"},
      {"not if it must not", {{"g0", 1, "g", 2}, {"g1", 1, "g", 2}}, 1, {}, {}, "none"},
      {"one instead of two that would be enough",
       {{"l0", 2, "l", 2},
        {"l1", 2, "l", 2},
        {"g0", 1, "g", 2},
        {"g1", 1, "g", 2},
        {"h0", 1, "h", 2},
        {"h1", 1, "h", 2}},
       4,
       {"g", "h", "l"},
       {"g", "h"},
       "l0 l1"},
      {"none other than the one that is enough",
       {{"g0", 1, "g", 2}, {"g1", 1, "g", 2}, {"h0", 1, "h", 2}, {"h1", 1, "h", 2}},
       1,
       {"g", "h"},
       {"g"},
       "none"},
  };
  for (const ChoiceCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(OneNode(c).Gone(), c.gone);
  }
}

TEST(VictimChoice, GivesUpAfterSoManyAttempts) {
  ChoiceCase c{"six of which one has to stay each time", {}, 3};
  for (int i = 0; i < 6; ++i) c.pods.push_back({"g" + std::to_string(i), 1, "g", 4});
  for (const std::size_t attempts : {1U, 2U, 7U}) {
    c.attempts = attempts;
    OneNode node(c);
    EXPECT_EQ(node.Gone(), "none");
    EXPECT_LE(node.tries(), attempts);
  }
}

}  // namespace
}  // namespace knx::engine
