// Random small clusters with a driver that waits: what is said of it is what its condition says,
// whatever is said to help it helps, and where one more node like one that is there would help,
// that is said.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

struct DriverNode {
  int cpus = 1, rack = 0, used = 0;  // by pods of one each
};

// What may be changed about the cluster.
struct DriverChange {
  std::vector<DriverNode> more = {};
  std::set<std::string> gone = {};
  std::string ended = {};  // a reservation
  int minimum = 0;         // 0: as it is
};

// What its executors ask for is known from the driver, from a reservation, or not at all.
enum class Known { kByDriver, kByReservation, kNot };

class DriverCase {
 public:
  DriverCase() {
    const auto draw = [](int from, int to) { return *rc::gen::inRange(from, to + 1); };
    nodes_.resize(static_cast<std::size_t>(draw(1, 4)));
    for (DriverNode& node : nodes_) {
      node = {draw(1, 5), draw(0, 1), 0};
      node.used = draw(0, node.cpus);
    }
    known_ = static_cast<Known>(draw(0, 2));
    together_ = draw(0, 2) == 0;
    driver_ = draw(1, 3);
    executor_ = draw(1, 3);
    minimum_ = draw(2, 5);
    early_ = draw(0, std::min(2, minimum_ - 2));
    for_others_ = draw(0, 2);
    fewer_places_ = draw(0, 3) == 0 ? 1 : 0;
  }

  [[nodiscard]] const DriverNode& NodeCalled(const std::string& name) const {
    return nodes_[static_cast<std::size_t>(name[1] - '0')];
  }
  [[nodiscard]] bool StartsWith(const DriverChange& change) const {
    const auto harness = Make(change.minimum > 0 ? change.minimum : minimum_);
    for (std::size_t i = 0; i < change.more.size(); ++i) {
      AddNode(*harness, fmt::format("a{}", i), change.more[i]);
    }
    for (const std::string& pod : change.gone) harness->PodGone(pod);
    if (!change.ended.empty()) harness->ObjectGone(ForOthers());
    harness->Pass(Duration::Minutes(2));
    return Runs(*harness);
  }
  [[nodiscard]] static bool Runs(testing::Harness& harness) {
    // With a smaller minimum some of those that are there may be enough.
    return !harness.NodeOf("driver").empty() || !harness.NodeOf("e0").empty() ||
           !harness.NodeOf("e1").empty();
  }
  // Of two that wait for room it depends on what comes first which of them gets it.
  [[nodiscard]] static bool OthersWait(testing::Harness& harness) {
    const auto& all = harness.engine().reservations().all();
    const auto report = all.find("default/report");
    return report != all.end() && report->second.stage() == ReservationStage::kWaiting;
  }
  [[nodiscard]] bool OneMoreStartsIt() const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [this](const DriverNode& node) { return StartsWith({.more = {node}}); });
  }
  [[nodiscard]] std::unique_ptr<testing::Harness> Make() const { return Make(minimum_); }

 private:
  [[nodiscard]] std::unique_ptr<testing::Harness> Make(int minimum) const {
    auto harness = std::make_unique<testing::Harness>(
        EngineOptions{},
        testing::ProfilesWith({"Coscheduling", "ResourceReservation"},
                              "{name: Coscheduling, args: {searchEvaluations: 20000}}, {name: "
                              "ResourceReservation, args: {durationSeconds: 7200}}"));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      AddNode(*harness, fmt::format("n{}", i), nodes_[i]);
      for (int pod = 0; pod < nodes_[i].used; ++pod) {
        harness->Pod(cluster::testing::PodBuilder(fmt::format("other-{}-{}", i, pod))
                         .Asks("cpu", "1")
                         .On(fmt::format("n{}", i)));
      }
    }
    if (for_others_ > 0) harness->Object(ForOthers());
    if (known_ == Known::kByReservation) {
      harness->Object(Reserved("own", "spark", minimum_ - 1 - fewer_places_, executor_));
    }
    for (int i = 0; i < early_; ++i) {
      harness->Pod(Member(fmt::format("e{}", i), executor_, minimum));
    }
    k8s::Pod driver = Member("driver", driver_, minimum).Label("spark-role", "driver");
    if (known_ == Known::kByDriver) {
      driver.meta.annotations = {
          {"scheduling.kubenexus.io/executor-resources", fmt::format("cpu={}", executor_)}};
    }
    harness->Pod(driver);
    harness->ScheduleAndBind();
    return harness;
  }
  static void AddNode(testing::Harness& harness, const std::string& name, const DriverNode& node) {
    harness.Node(cluster::testing::NodeBuilder(name)
                     .Has("cpu", std::to_string(node.cpus))
                     .Has("pods", "20")
                     .Label("kubernetes.io/hostname", name)
                     .Label("rack", fmt::format("r{}", node.rack)));
  }
  static k8s::ResourceReservation Reserved(const std::string& name, const std::string& group,
                                           int places, int cpus) {
    k8s::ResourceReservation made;
    made.meta.namespace_ = "default";
    made.meta.name = made.meta.uid = name;
    made.meta.created = testing::Harness().now();  // when each begins
    made.duration = Duration::Minutes(100);
    made.pod_group = group;
    for (int i = 0; i < places; ++i) {
      made.places.push_back({std::to_string(i), "", {{"cpu", k8s::Quantity::FromUnits(cpus)}}});
    }
    return made;
  }
  [[nodiscard]] k8s::ResourceReservation ForOthers() const {
    return Reserved("report", "", 1, for_others_);
  }
  [[nodiscard]] cluster::testing::PodBuilder Member(const std::string& name, int cpus,
                                                    int minimum) const {
    const std::string ours = "pod-group.scheduling.kubenexus.io/";
    cluster::testing::PodBuilder pod(name);
    pod.Asks("cpu", std::to_string(cpus));
    pod.Label(ours + "name", "spark").Label(ours + "min-available", std::to_string(minimum));
    if (together_) pod.Label(ours + "topology-key", "rack");
    return pod;
  }

  std::vector<DriverNode> nodes_;
  Known known_ = Known::kNot;
  bool together_ = false;
  int driver_ = 1, executor_ = 1, minimum_ = 2, early_ = 0, for_others_ = 0, fewer_places_ = 0;
};

void CheckDriverHelp(const DriverCase& drawn, const GangInquiry& inquiry) {
  if (inquiry.nodes > 0) {
    const DriverNode& like = drawn.NodeCalled(inquiry.like);
    RC_ASSERT(drawn.StartsWith({.more = std::vector<DriverNode>(inquiry.nodes, like)}));
  }
  if (!inquiry.pods.empty()) {
    DriverChange change;
    for (const std::string& pod : inquiry.pods) change.gone.insert(pod.substr(pod.find('/') + 1));
    RC_ASSERT(drawn.StartsWith(change));
  }
  for (const Wait::Reserved& reserved : inquiry.reserved) {
    RC_ASSERT(reserved.name == "default/report");
    RC_ASSERT(drawn.StartsWith({.ended = reserved.name}));
  }
  if (inquiry.startable > 0) {
    const std::size_t minimum = inquiry.minimum - (inquiry.needed - inquiry.startable);
    RC_ASSERT(minimum < 2 || drawn.StartsWith({.minimum = static_cast<int>(minimum)}));
  }
  if (inquiry.nodes != 1) RC_ASSERT(!drawn.OneMoreStartsIt());
}

RC_GTEST_PROP(DriverHelp, WhatIsSaidToHelpADriverHelpsAndOneNodeThatWouldIsNamed, ()) {
  const DriverCase drawn;
  const auto harness = drawn.Make();
  if (DriverCase::Runs(*harness) || DriverCase::OthersWait(*harness)) return;
  const auto inquiry = harness->engine().InquireGang("uid-driver");
  RC_ASSERT(harness->engine().Verify().value_or("equal") == "equal");
  RC_ASSERT(harness->engine().VerifyCaches().value_or("equal") == "equal");
  RC_ASSERT(inquiry.has_value());
  RC_ASSERT(inquiry->complete || inquiry->awaited);
  RC_ASSERT(inquiry->answer != GangAnswer::kPlaced);
  if (inquiry->complete) {
    const std::string sure = inquiry->message.substr(inquiry->message.rfind(". ") + 2);
    RC_ASSERT(harness->Why("driver").ends_with(sure));
  }
  CheckDriverHelp(drawn, *inquiry);
}

}  // namespace
}  // namespace knx::engine
