// Random small clusters full of pods that matter less than a gang whose members differ: if the gang
// fits where all of them are gone, by trying every way, then room is made for it and it starts; if
// it does not, nobody goes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct Comer {
  int cpu = 1;
  int node = -1;  // the only one that it may be on; -1: any
  std::string role;
};

class Siege {
 public:
  Siege() {
    const int nodes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < nodes; ++i) {
      capacity_.push_back(*rc::gen::inRange(1, 5));
      harness_.Node(cluster::testing::NodeBuilder(fmt::format("node-{}", i))
                        .Label("of", std::to_string(i))
                        .Has("cpu", std::to_string(capacity_.back()))
                        .Has("pods", "110"));
      for (int free = capacity_.back(), n = 0; free > 0 && *rc::gen::inRange(0, 6) > 0; ++n) {
        const int cpu = *rc::gen::inRange(1, free + 1);
        free -= cpu;
        harness_.Pod(cluster::testing::PodBuilder(fmt::format("low-{}-{}", i, n))
                         .Asks("cpu", std::to_string(cpu))
                         .On(fmt::format("node-{}", i)));
      }
    }
    const int members = *rc::gen::inRange(2, 5);
    minimum_ = *rc::gen::inRange(2, members + 1);
    if (*rc::gen::arbitrary<bool>()) role_minimum_ = *rc::gen::inRange(1, minimum_ + 1);
    for (int i = 0; i < members; ++i) {
      Comer comer{*rc::gen::inRange(1, 4), *rc::gen::inRange(-2, nodes), "worker"};
      comer.node = std::max(comer.node, -1);
      if (role_minimum_ > 0 && *rc::gen::arbitrary<bool>()) comer.role = "leader";
      comers_.push_back(comer);
    }
  }

  void Begin() {
    for (std::size_t i = 0; i < comers_.size(); ++i) harness_.Pod(Object(i));
    for (int i = 0; i < 20; ++i) {
      harness_.ScheduleAndBind();
      for (const std::string& victim : harness_.evictions()) {
        harness_.FinishEviction(victim);
        ++evicted_;
      }
      harness_.Pass(Duration::Seconds(20));
    }
  }

  // Whether it fits on an empty cluster, by trying all ways.
  [[nodiscard]] bool Fits() const {
    std::vector<int> free = capacity_;
    int started = 0, leaders = 0;
    const std::function<bool(std::size_t)> place = [&](std::size_t next) {
      if (started >= minimum_ && leaders >= LeadersNeeded()) return true;
      if (next == comers_.size()) return false;
      const Comer& comer = comers_[next];
      for (std::size_t node = 0; node < free.size(); ++node) {
        const bool allowed = comer.node < 0 || comer.node == static_cast<int>(node);
        if (!allowed || free[node] < comer.cpu) continue;
        const int leads = comer.role == "leader" ? 1 : 0;
        free[node] -= comer.cpu, ++started, leaders += leads;
        const bool fits = place(next + 1);
        free[node] += comer.cpu, --started, leaders -= leads;
        if (fits) return true;
      }
      return place(next + 1);
    };
    return place(0);
  }

  [[nodiscard]] bool Started() {
    int started = 0, leaders = 0;
    for (std::size_t i = 0; i < comers_.size(); ++i) {
      if (harness_.NodeOf(NameOf(i)).empty()) continue;
      ++started;
      if (comers_[i].role == "leader") ++leaders;
    }
    return started >= minimum_ && leaders >= LeadersNeeded();
  }
  [[nodiscard]] int evicted() const { return evicted_; }

  friend std::ostream& operator<<(std::ostream& out, const Siege& siege) {
    out << "minimum " << siege.minimum_ << ", leaders " << siege.LeadersNeeded() << ":";
    for (const Comer& comer : siege.comers_) {
      out << fmt::format(" {} of {} on {}", comer.role, comer.cpu, comer.node);
    }
    return out;
  }

 private:
  static std::string NameOf(std::size_t i) { return fmt::format("comer-{}", i); }

  // Known only from its members.
  [[nodiscard]] int LeadersNeeded() const {
    const bool any = std::any_of(comers_.begin(), comers_.end(),
                                 [](const Comer& comer) { return comer.role == "leader"; });
    return any ? role_minimum_ : 0;
  }

  [[nodiscard]] cluster::testing::PodBuilder Object(std::size_t i) const {
    const std::string group = "pod-group.scheduling.kubenexus.io/";
    cluster::testing::PodBuilder pod(NameOf(i));
    pod.Asks("cpu", std::to_string(comers_[i].cpu))
        .Priority(10)
        .Label(group + "name", "comers")
        .Label(group + "min-available", std::to_string(minimum_));
    if (comers_[i].node >= 0) pod.NodeSelector("of", std::to_string(comers_[i].node));
    if (comers_[i].role == "leader") {
      pod.Label(group + "role", "leader")
          .Label(group + "role-min-available", std::to_string(role_minimum_));
    }
    return pod;
  }

  std::vector<int> capacity_;
  std::vector<Comer> comers_;
  int minimum_ = 2, role_minimum_ = 0, evicted_ = 0;
  testing::Harness harness_{{}, testing::ProfilesWith({"Coscheduling", "GangPreemption"})};
};

RC_GTEST_PROP(GangRooms, IsMadeWheneverThereIsAWay, ()) {
  Siege siege;
  siege.Begin();
  RC_LOG() << siege << "\n";
  RC_ASSERT(siege.Started() == siege.Fits());
  if (!siege.Fits()) RC_ASSERT(siege.evicted() == 0);
}

}  // namespace
}  // namespace knx::engine
