// Random small clusters with a gang that waits: whatever is said to help it helps, and where one
// more node like one that is there would help, that is said.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct HelpNode {
  int cpus = 1, gpus = 0, rack = 0, used = 0;  // by pods of one each
};
struct HelpMember {
  int cpus = 1, gpus = 0;
  std::string role, part;
};

// What may be changed about the cluster.
struct HelpChange {
  std::vector<HelpNode> more = {};
  std::set<std::string> gone = {};
  int minimum = 0;  // 0: as it is
};

class HelpCase {
 public:
  HelpCase() {
    const auto draw = [](int from, int to) { return *rc::gen::inRange(from, to + 1); };
    const auto seldom = [&](int in) { return draw(1, in) == 1; };
    nodes_.resize(static_cast<std::size_t>(draw(1, 4)));
    for (HelpNode& node : nodes_) {
      node = {draw(1, 4), seldom(4) ? 1 : 0, draw(0, 2), 0};
      node.used = draw(0, node.cpus);
    }
    const bool roles = draw(0, 1) == 1, parts = draw(0, 1) == 1;
    together_ = draw(0, 2) == 0;
    part_minimum_ = draw(1, 2);
    minimum_parts_ = draw(1, 2);
    role_minimum_ = draw(1, 2);
    const int size = draw(1, 2) + 1, members = draw(2, 6);
    for (int i = 0; i < members; ++i) {
      HelpMember& member = members_.emplace_back();
      member.cpus = seldom(3) ? 2 : 1;
      member.gpus = seldom(8) ? 1 : 0;
      if (roles) member.role = seldom(2) ? "ps" : "worker";
      if (parts) member.part = std::string(1, static_cast<char>('a' + i / size));
    }
    minimum_ = draw(2, members);
  }

  [[nodiscard]] const std::vector<HelpNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<HelpMember>& members() const { return members_; }
  [[nodiscard]] const HelpNode& NodeCalled(const std::string& name) const {
    return nodes_[static_cast<std::size_t>(name[1] - '0')];
  }

  // As it is from the beginning.
  [[nodiscard]] std::unique_ptr<testing::Harness> Make() const {
    auto harness = std::make_unique<testing::Harness>(
        EngineOptions{}, testing::GangProfiles("searchEvaluations: 20000"));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      AddNode(*harness, fmt::format("n{}", i), nodes_[i]);
      for (int pod = 0; pod < nodes_[i].used; ++pod) {
        harness->Pod(cluster::testing::PodBuilder(fmt::format("other-{}-{}", i, pod))
                         .Asks("cpu", "1")
                         .On(fmt::format("n{}", i)));
      }
    }
    AddMembers(*harness, minimum_);
    harness->ScheduleAndBind();
    return harness;
  }
  // Whether it starts when that is changed.
  [[nodiscard]] bool StartsWith(const HelpChange& change) const {
    const auto harness = Make();
    for (std::size_t i = 0; i < change.more.size(); ++i) {
      AddNode(*harness, fmt::format("a{}", i), change.more[i]);
    }
    for (const std::string& pod : change.gone) harness->PodGone(pod);
    if (change.minimum > 0) {
      for (std::size_t i = 0; i < members_.size(); ++i) harness->PodGone(fmt::format("m{}", i));
      AddMembers(*harness, change.minimum);
    }
    harness->Pass(Duration::Minutes(2));
    harness->ScheduleAndBind();
    return Runs(*harness);
  }
  [[nodiscard]] bool Runs(testing::Harness& harness) const {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!harness.NodeOf(fmt::format("m{}", i)).empty()) return true;
    }
    return false;
  }
  [[nodiscard]] bool OneMoreStartsIt() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [this](const HelpNode& node) { return StartsWith({.more = {node}}); });
  }

 private:
  static void AddNode(testing::Harness& harness, const std::string& name, const HelpNode& node) {
    harness.Node(cluster::testing::NodeBuilder(name)
                     .Has("cpu", std::to_string(node.cpus))
                     .Has("x/gpu", std::to_string(node.gpus))
                     .Has("pods", "20")
                     .Label("kubernetes.io/hostname", name)
                     .Label("rack", fmt::format("r{}", node.rack)));
  }
  void AddMembers(testing::Harness& harness, int minimum) const {
    const std::string ours = "pod-group.scheduling.kubenexus.io/";
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const HelpMember& member = members_[i];
      cluster::testing::PodBuilder pod(fmt::format("m{}", i));
      pod.Asks("cpu", std::to_string(member.cpus));
      if (member.gpus > 0) pod.Asks("x/gpu", "1");
      pod.Label(ours + "name", "gang").Label(ours + "min-available", std::to_string(minimum));
      if (together_) pod.Label(ours + "topology-key", "rack");
      if (!member.role.empty()) {
        pod.Label(ours + "role", member.role);
        pod.Label(ours + "role-min-available", std::to_string(role_minimum_));
      }
      if (!member.part.empty()) {
        pod.Label(ours + "sub-group", member.part);
        pod.Label(ours + "sub-group-min-available", std::to_string(part_minimum_));
        pod.Label(ours + "min-sub-groups", std::to_string(minimum_parts_));
      }
      harness.Pod(pod);
    }
  }

  std::vector<HelpNode> nodes_;
  std::vector<HelpMember> members_;
  bool together_ = false;
  int minimum_ = 2, part_minimum_ = 1, minimum_parts_ = 1, role_minimum_ = 1;
};

// Larger than those there are, as many as there are members.
HelpChange LargerThan(const HelpNode& like, const HelpCase& drawn, const GangInquiry& inquiry) {
  HelpNode node = like;
  for (const Wait::TooLarge& one : inquiry.too_large) {
    const bool cpu = one.resource == "cpu";
    int& has = cpu ? node.cpus : node.gpus;
    has = std::max(has, static_cast<int>(cpu ? one.asked / 1000 : one.asked));
  }
  return {.more = std::vector<HelpNode>(drawn.members().size(), node)};
}

void CheckHelp(const HelpCase& drawn, const GangInquiry& inquiry) {
  if (inquiry.nodes > 0) {
    const HelpNode& like = drawn.NodeCalled(inquiry.like);
    RC_ASSERT(drawn.StartsWith({.more = std::vector<HelpNode>(inquiry.nodes, like)}));
  }
  if (!inquiry.pods.empty()) {
    HelpChange change;
    for (const std::string& pod : inquiry.pods) change.gone.insert(pod.substr(pod.find('/') + 1));
    RC_ASSERT(drawn.StartsWith(change));
  }
  if (inquiry.startable > 0) {
    const std::size_t minimum = inquiry.minimum - (inquiry.needed - inquiry.startable);
    RC_ASSERT(inquiry.fitting == inquiry.startable);
    RC_ASSERT(minimum < 2 || drawn.StartsWith({.minimum = static_cast<int>(minimum)}));
    RC_ASSERT(!drawn.StartsWith({.minimum = static_cast<int>(minimum + 1)}));
  }
  if (!inquiry.too_large.empty()) {
    RC_ASSERT(std::any_of(drawn.nodes().begin(), drawn.nodes().end(), [&](const HelpNode& like) {
      return drawn.StartsWith(LargerThan(like, drawn, inquiry));
    }));
  }
  if (inquiry.nodes != 1) RC_ASSERT(!drawn.OneMoreStartsIt());
}

RC_GTEST_PROP(GangHelp, WhatIsSaidToHelpHelpsAndOneNodeThatWouldIsNamed, ()) {
  const HelpCase drawn;
  const auto harness = drawn.Make();
  if (drawn.Runs(*harness)) return;
  const auto inquiry = harness->engine().InquireGang("uid-m0");
  RC_ASSERT(harness->engine().Verify().value_or("equal") == "equal");
  RC_ASSERT(harness->engine().VerifyCaches().value_or("equal") == "equal");
  RC_PRE(inquiry && inquiry->complete);
  CheckHelp(drawn, *inquiry);
}

}  // namespace
}  // namespace knx::engine
