// What the plugin contract promises beyond kube-scheduler's own plugins: a cycle that pauses,
// answers that depend on more than the node, a PostFilter that makes room, plugins that reserve and
// give back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/harness.h"
#include "engine/testing/plain_objects.h"

namespace knx::engine {
namespace {

using cluster::NodeRow;
using cluster::PodId;
using cluster::testing::PodBuilder;
using framework::Code;
using framework::Outcome;
using framework::PodView;
using framework::StepResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Node;
using ::testing::StartsWith;

// Puts a plugin into the default profile, at every point that it implements.
template <class T>
T& Install(std::vector<framework::Profile>& profiles, std::unique_ptr<T> plugin) {
  framework::Profile& profile = profiles[0];
  const auto index = static_cast<std::uint8_t>(profile.plugins.size());
  T& installed = *plugin;
  if constexpr (std::is_base_of_v<framework::FilterPlugin, T>) {
    profile.filters.push_back({&installed, index, true, true});
  }
  if constexpr (std::is_base_of_v<framework::ScorePlugin, T>) {
    profile.scores.push_back({&installed, index, 100});
  }
  if constexpr (std::is_base_of_v<framework::ReservePlugin, T>)
    profile.reserve.push_back({&installed, index});
  if constexpr (std::is_base_of_v<framework::PermitPlugin, T>)
    profile.permit.push_back({&installed, index});
  if constexpr (std::is_base_of_v<framework::PreBindPlugin, T>)
    profile.pre_bind.push_back({&installed, index});
  if constexpr (std::is_base_of_v<framework::PostFilterPlugin, T>)
    profile.post_filter.push_back({&installed, index});
  profile.plugins.push_back(std::move(plugin));
  return installed;
}

// Asks the outside before a pod may be bound, and reserves something meanwhile.
class Notary final : public framework::Plugin,
                     public framework::ReservePlugin,
                     public framework::PermitPlugin,
                     public framework::PreBindPlugin {
 public:
  explicit Notary(bool at_permit) : at_permit_(at_permit) {}
  [[nodiscard]] std::string_view name() const override { return "Notary"; }
  [[nodiscard]] framework::EventSet events() const override {
    return {framework::EventKind::kNodeAdd};
  }
  [[nodiscard]] Outcome Reserve(const PodView&, NodeRow, cluster::State&) const override {
    ++reserved_;
    return {};
  }
  void Unreserve(const PodView&, NodeRow, cluster::State&) const override { --reserved_; }
  [[nodiscard]] StepResult Permit(const PodView&, NodeRow) const override {
    return at_permit_ ? Ask() : StepResult{};
  }
  [[nodiscard]] StepResult ResumePermit(const PodView&, NodeRow,
                                        const framework::Answer& answer) const override {
    return Judge(answer);
  }
  [[nodiscard]] StepResult PreBind(const PodView&, NodeRow) const override {
    return at_permit_ ? StepResult{} : Ask();
  }
  [[nodiscard]] StepResult ResumePreBind(const PodView&, NodeRow,
                                         const framework::Answer& answer) const override {
    return Judge(answer);
  }
  [[nodiscard]] int reserved() const { return reserved_; }

 private:
  static StepResult Ask() {
    return {{Code::kWait, ""}, framework::Question{"sign", "please", Duration::Seconds(30)}};
  }
  static StepResult Judge(const framework::Answer& answer) {
    if (answer.ok) return {};
    return {Outcome::Unschedulable("nobody signed: " + answer.text), std::nullopt};
  }
  bool at_permit_;
  mutable int reserved_ = 0;
};

class PauseTest : public ::testing::TestWithParam<bool> {
 protected:
  PauseTest() {
    auto profiles = testing::DefaultProfiles();
    notary_ = &Install(profiles, std::make_unique<Notary>(GetParam()));
    harness_ = std::make_unique<testing::Harness>(EngineOptions{}, std::move(profiles));
    harness_->Node(Node("a"));
    harness_->Pod(PodBuilder("p").Asks("cpu", "3"));
    harness_->Schedule();
  }
  void TearDown() override { EXPECT_EQ(harness_->engine().Verify().value_or("equal"), "equal"); }
  [[nodiscard]] std::int64_t Requested() const {
    return harness_->engine().state().nodes().requested(cluster::kCpu)[NodeRow{0}];
  }

  Notary* notary_ = nullptr;
  std::unique_ptr<testing::Harness> harness_;
};

TEST_P(PauseTest, APausedPodKeepsItsRoomAndOthersGoOn) {
  ASSERT_EQ(harness_->questions().size(), 1U);
  EXPECT_EQ(harness_->engine().Standing("uid-p"), PodStanding::kPaused);
  EXPECT_EQ(Requested(), 3000);
  harness_->Pod(PodBuilder("q").Asks("cpu", "2"));
  harness_->Schedule();
  EXPECT_THAT(harness_->Why("q"), HasSubstr("Insufficient cpu"));
  harness_->Answer(harness_->questions()[0].first, {true, ""});
  harness_->ScheduleAndBind();
  EXPECT_EQ(harness_->NodeOf("p"), "a");
  EXPECT_EQ(notary_->reserved(), 1);
}

TEST_P(PauseTest, ARefusalGivesEverythingBack) {
  harness_->Answer(harness_->questions()[0].first, {false, "no ink"});
  EXPECT_EQ(harness_->NodeOf("p"), "");
  EXPECT_EQ(Requested(), 0);
  EXPECT_EQ(notary_->reserved(), 0);
  EXPECT_THAT(harness_->Why("p"), HasSubstr("nobody signed: no ink"));
  EXPECT_NE(harness_->PlaceOf("p"), QueuePlace::kNone);
}

TEST_P(PauseTest, SilenceIsARefusal) {
  harness_->Pass(Duration::Seconds(31));
  EXPECT_THAT(harness_->notes(),
              ::testing::Contains(HasSubstr("nobody signed: no answer in time")));
  harness_->Answer(harness_->questions()[0].first, {true, ""});
  EXPECT_EQ(harness_->NodeOf("p"), "") << "an answer that comes too late changes nothing";
}

TEST_P(PauseTest, AVictimThatIsNotBoundYetIsTakenBackInstead) {
  harness_->Pod(PodBuilder("vip").Asks("cpu", "2").Priority(10));
  harness_->Schedule();
  EXPECT_THAT(harness_->evictions(), ::testing::IsEmpty());
  EXPECT_THAT(
      harness_->notes(),
      ::testing::Contains("Preempted: Preempted by pod uid-vip on node a (in kube-scheduler "
                          "memory)."));
  EXPECT_EQ(harness_->Why("p"),
            GetParam() ? "waiting on permit for pod: preempted"
                       : "running PreBind plugin \"Notary\": preempted by DefaultPreemption");
  EXPECT_EQ(harness_->PlaceOf("p"), QueuePlace::kErrorBackoff) << "it is not lost";
  EXPECT_EQ(harness_->engine().Standing("uid-vip"), PodStanding::kPaused) << "the room is its now";
  EXPECT_EQ(notary_->reserved(), 1);
}

TEST_P(PauseTest, SomebodyElsesBindingCancelsOurs) {
  harness_->Node(Node("b"));
  harness_->Pod(PodBuilder("p").Asks("cpu", "3").On("b"));
  EXPECT_EQ(notary_->reserved(), 0);
  harness_->Answer(harness_->questions()[0].first, {true, ""});
  EXPECT_EQ(harness_->NodeOf("p"), "") << "nothing was sent";
  EXPECT_EQ(harness_->engine().Standing("uid-p"), PodStanding::kBound);
}

TEST_P(PauseTest, ADeletedPodGivesEverythingBack) {
  harness_->PodGone("p");
  EXPECT_EQ(notary_->reserved(), 0);
  EXPECT_EQ(Requested(), 0);
}

INSTANTIATE_TEST_SUITE_P(AtPermitAndBeforeBinding, PauseTest, ::testing::Bool());

// A filter and a scorer whose answers depend on the whole cluster: at most one pod a zone, and the
// later zone first.
class OneAZone final : public framework::Plugin,
                       public framework::FilterPlugin,
                       public framework::ScorePlugin {
 public:
  explicit OneAZone(framework::Scope scope) : scope_(scope) {}
  [[nodiscard]] std::string_view name() const override { return "OneAZone"; }
  [[nodiscard]] framework::PreFilterResult PreFilter(const PodView& pod) const override {
    return {{}, std::nullopt, scope_, std::make_unique<ZoneFilter>(pod.state)};
  }
  [[nodiscard]] framework::PreScoreResult PreScore(const PodView& pod) const override {
    return {{}, scope_, std::make_unique<Scorer>(pod.state)};
  }

 private:
  static std::string_view ZoneOf(const cluster::State& state, NodeRow row) {
    const Symbol zone = state.nodes().Label(row, state.words().Find("zone"));
    return zone.valid() ? state.words().Text(zone) : "";
  }
  class ZoneFilter final : public framework::NodeFilter {
   public:
    explicit ZoneFilter(const cluster::State& state) : state_(state) {}
    void Judge(NodeRow row, std::size_t i, framework::Verdicts& out) const {
      for (std::uint32_t other = 0; other < state_.nodes().row_count(); ++other) {
        if (state_.nodes().pod_count(NodeRow{other}) == 0) continue;
        if (ZoneOf(state_, NodeRow{other}) == ZoneOf(state_, row))
          out.Reject(i, Code::kUnschedulable);
      }
    }
    void Filter(framework::NodeRows rows, framework::Verdicts& out) const override {
      for (std::size_t i = 0; i < rows.size(); ++i) Judge(rows[i], i, out);
    }
    void Explain(const framework::Verdict&, std::vector<std::string>& reasons) const override {
      reasons.emplace_back("zone(s) were taken");
    }

   private:
    const cluster::State& state_;
  };
  class Scorer final : public framework::NodeScorer {
   public:
    explicit Scorer(const cluster::State& state) : state_(state) {}
    void Score(framework::NodeRows rows, std::span<std::int64_t> raw) const override {
      for (std::size_t i = 0; i < rows.size(); ++i) raw[i] = ZoneOf(state_, rows[i])[0];
    }
    [[nodiscard]] bool normalizes() const override { return true; }
    [[nodiscard]] std::int64_t Normalize(std::int64_t raw,
                                         framework::ScoreBounds bounds) const override {
      return bounds.max == bounds.min ? 0 : 100 * (raw - bounds.min) / (bounds.max - bounds.min);
    }

   private:
    const cluster::State& state_;
  };
  framework::Scope scope_;
};

class WideScopeTest : public ::testing::TestWithParam<framework::Scope> {};

TEST_P(WideScopeTest, AnswersThatDependOnMoreThanTheNodeAreAskedAnew) {
  auto profiles = testing::DefaultProfiles();
  Install(profiles, std::make_unique<OneAZone>(GetParam()));
  testing::Harness harness(EngineOptions{}, std::move(profiles));
  for (const char* name : {"a1", "a2", "b1", "b2", "c1"}) {
    harness.Node(Node(name).Label("zone", std::string(1, name[0])));
  }
  std::vector<std::string> places;
  for (const char* pod : {"p1", "p2", "p3", "p4"}) {
    harness.Pod(PodBuilder(pod).Asks("cpu", "1"));
    harness.ScheduleAndBind();
    places.push_back(harness.NodeOf(pod));
  }
  EXPECT_THAT(places, ElementsAre("c1", "b1", "a1", ""));
  EXPECT_THAT(harness.Why("p4"), StartsWith("0/5 nodes are available: 5 zone(s) were taken. "));
}

INSTANTIATE_TEST_SUITE_P(DomainAndCluster, WideScopeTest,
                         ::testing::Values(framework::Scope::kDomain, framework::Scope::kCluster));

// Promises the first node that lacks cpu, and does nothing about it.
class Promiser final : public framework::Plugin, public framework::PostFilterPlugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "Promiser"; }
  [[nodiscard]] framework::PostFilterResult PostFilter(
      const PodView&, const framework::Rejections& rejections) const override {
    for (std::size_t i = 0; i < rejections.nodes.size(); ++i) {
      if (rejections.verdicts[i].code == Code::kUnschedulable) return {{}, rejections.nodes[i]};
    }
    return {Outcome::Unschedulable("preemption: nothing helps."), NodeRow{}};
  }
};

TEST(PostFilterTest, RoomThatIsBeingMadeIsWrittenDownAndKept) {
  auto profiles = testing::DefaultProfiles();
  profiles[0].post_filter.clear();
  Install(profiles, std::make_unique<Promiser>());
  testing::Harness harness(EngineOptions{}, std::move(profiles));
  harness.Node(Node("a"));
  harness.Pod(PodBuilder("there").Asks("cpu", "4").On("a"));
  harness.Pod(PodBuilder("vip").Asks("cpu", "4").Priority(10));
  harness.Schedule();
  ASSERT_EQ(harness.patches().size(), 1U);
  EXPECT_EQ(harness.patches()[0].nominated_node, "a");
  harness.Pod(PodBuilder("small").Asks("cpu", "1"));
  harness.PodGone("there");
  harness.ScheduleAndBind();
  EXPECT_EQ(harness.NodeOf("vip"), "a");
  EXPECT_EQ(harness.NodeOf("small"), "");
}

TEST(PostFilterTest, WhatItSaysIsAddedToTheReason) {
  auto profiles = testing::DefaultProfiles();
  profiles[0].post_filter.clear();
  Install(profiles, std::make_unique<Promiser>());
  testing::Harness harness(EngineOptions{}, std::move(profiles));
  harness.Node(Node("a"));
  harness.Pod(PodBuilder("p").Asks("cpu", "40"));
  harness.Schedule();
  EXPECT_EQ(harness.Why("p"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: nothing helps.");
}

}  // namespace
}  // namespace knx::engine
