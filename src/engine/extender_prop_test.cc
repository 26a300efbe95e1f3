// Random histories with extenders: answers come in any order, late, wrong or never, and nothing is
// lost, counted twice or promised to two. Extenders that have no opinion change nothing.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::NodeRow;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;

struct Turn {
  int what = 0;
  std::uint32_t a = 0, b = 0;
};

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
  return out << "{" << turn.what << ", " << turn.a << ", " << turn.b << "}";
}

std::vector<Turn> DrawTurns() {
  return *rc::gen::container<std::vector<Turn>>(
      rc::gen::build<Turn>(rc::gen::set(&Turn::what, rc::gen::inRange(0, 12)),
                           rc::gen::set(&Turn::a, rc::gen::arbitrary<std::uint32_t>()),
                           rc::gen::set(&Turn::b, rc::gen::arbitrary<std::uint32_t>())));
}

std::vector<framework::Extender> ThreeExtenders() {
  std::vector<framework::Extender> out(3);
  out[0].url_prefix = "http://all";
  out[0].filter_verb = "f";
  out[0].prioritize_verb = "p";
  out[0].preempt_verb = "e";
  out[0].weight = 1;
  out[1].url_prefix = "http://some";
  out[1].filter_verb = "f";
  out[1].managed_resources = {{"example.com/thing", true}};
  out[2].url_prefix = "http://ignorable";
  out[2].prioritize_verb = "p";
  out[2].preempt_verb = "e";
  out[2].weight = 2;
  out[2].ignorable = true;
  return out;
}

// Agrees with everything.
ExtenderAnswer Agree(const AskExtender& ask) {
  ExtenderAnswer answer;
  answer.nodes = ask.nodes;
  for (const AskExtender::Victims& on_node : ask.victims) {
    ExtenderAnswer::Victims victims{on_node.node, {}, on_node.violations};
    for (const PodRef& pod : on_node.pods) victims.uids.push_back(pod.uid);
    answer.victims.push_back(std::move(victims));
  }
  return answer;
}

// Agrees with some of it, or lies.
ExtenderAnswer Disagree(const AskExtender& ask, std::uint32_t how) {
  ExtenderAnswer answer = Agree(ask);
  if (how % 7 == 0) answer.failure = "no";
  if (how % 11 == 0) answer.nodes.push_back("moon");
  if (how % 13 == 0) answer.victims.push_back({"node-0", {"uid-nobody"}, 1});
  std::uint32_t drop = how;
  std::erase_if(answer.nodes, [&](const std::string& name) {
    const bool drops = (drop = drop * 1'664'525 + 1'013'904'223) >> 30 == 0;
    if (drops && how % 2 == 0) answer.failed.emplace_back(name, "not there");
    return drops;
  });
  std::erase_if(answer.victims, [&](const auto&) { return how % 3 == 0; });
  for (const std::string& name : answer.nodes) {
    answer.scores.emplace_back(name, static_cast<std::int64_t>(drop % 11));
  }
  return answer;
}

class Story {
 public:
  explicit Story(std::vector<framework::Extender> extenders, bool gangs = false) : gangs_(gangs) {
    framework::SchedulerConfiguration config =
        gangs ? testing::ConfigurationWith({"Coscheduling", "GangPreemption"})
              : framework::DefaultConfiguration();
    // The same plugins with and without.
    config.extenders = ThreeExtenders();
    EngineOptions options = OptionsFor(config);
    options.extenders = std::move(extenders);
    harness_.emplace(std::move(options), testing::ProfilesOf(config));
  }

  void Happen(const Turn& turn) {
    const std::string node = "node-" + std::to_string(turn.a % 6);
    const std::string pod = "pod-" + std::to_string(turn.a % 20);
    switch (turn.what) {
      case 0:
      case 1:
        harness_->Node(NodeBuilder(node).Has("cpu", "2").Has("memory", "8Gi").Has("pods", "6"));
        break;
      case 2:
        harness_->NodeGone(node);
        break;
      case 3:
        harness_->PodGone(pod);
        break;
      case 4:
        harness_->Pass(Duration::Seconds(turn.b % 20));
        break;
      case 5:
        if (harness_->engine().Standing("uid-" + pod) != PodStanding::kBinding) break;
        harness_->FinishBinding(pod,
                                turn.b % 2 == 0 ? std::optional<std::string>("no") : std::nullopt);
        break;
      case 6:
        if (!harness_->evictions().empty()) {
          harness_->FinishEviction(harness_->evictions().front());
        }
        break;
      default:
        AddPod(pod, turn);
    }
    harness_->Schedule();
  }
  void AnswerOne(const Turn& turn) {
    const auto& asked = harness_->asked();
    if (asked.empty()) return;
    // Also questions that were answered long ago.
    const auto& [action, ask] =
        asked[asked.size() - 1 - turn.a % std::min(asked.size(), kAnswered)];
    harness_->Answer(action, Disagree(AskExtender(ask), turn.b));
    harness_->Schedule();
  }

  // For as long as anybody may have to wait: for an answer that never comes, and then, refused by
  // what was answered before it, for the next attempt. Twice, as that may be refused, too.
  void LetAllHappen() {
    const int turns_of_20_s = 2 * (15 + 6) * 3;
    for (int i = 0; i < turns_of_20_s; ++i) {
      harness_->Pass(Duration::Seconds(20));
      while (!harness_->evictions().empty()) {
        harness_->FinishEviction(harness_->evictions().front());
      }
      harness_->ScheduleAndBind();
    }
  }

  testing::Harness& harness() { return *harness_; }
  std::string Decisions() {
    std::string out;
    for (int i = 0; i < 20; ++i) out += harness_->NodeOf("pod-" + std::to_string(i)) + " ";
    for (const std::string& note : harness_->notes()) out += note + "\n";
    return out;
  }
  // No gang waits beside an empty node for each of its members.
  [[nodiscard]] bool GangsThatFitAreThere() {
    const cluster::State& state = harness_->engine().state();
    std::size_t empty = 0;
    state.nodes().present().ForEach([&](std::uint32_t row) {
      if (state.nodes().pods(NodeRow{row}).empty()) ++empty;
    });
    for (std::uint32_t i = 0; i < state.gangs().id_limit(); ++i) {
      if (!state.gangs().Contains(cluster::GangId{i})) continue;
      const cluster::Gang& gang = state.gangs().Get(cluster::GangId{i});
      const bool whole = gang.members.size() >= static_cast<std::size_t>(gang.minimum);
      if (whole && gang.placed == 0 && empty >= gang.members.size()) return false;
    }
    return true;
  }
  // No node is given more than it has.
  [[nodiscard]] bool WithinRoom() {
    const cluster::State& state = harness_->engine().state();
    bool within = true;
    state.nodes().present().ForEach([&](std::uint32_t row) {
      within = within && state.nodes().requested(cluster::kCpu)[NodeRow{row}] <= 2000;
    });
    return within;
  }

 private:
  static constexpr std::size_t kAnswered = 12;

  void AddPod(const std::string& name, const Turn& turn) {
    if (harness_->engine().Standing("uid-" + name) != PodStanding::kUnknown) return;
    PodBuilder pod(name);
    pod.Asks("cpu", std::to_string(500 * (1 + turn.b % 4)) + "m")
        .Priority(static_cast<int>(turn.b % 3));
    if (turn.b % 5 == 0) pod.Asks("example.com/thing", "1");
    if (gangs_ && turn.b % 7 != 0) {
      pod.Label("pod-group.scheduling.kubenexus.io/name", "gang-" + std::to_string(turn.a % 3))
          .Label("pod-group.scheduling.kubenexus.io/min-available", std::to_string(2 + turn.a % 3));
    }
    harness_->Pod(pod);
  }

  bool gangs_ = false;
  std::optional<testing::Harness> harness_;
};

RC_GTEST_PROP(ExtenderProperties, AnswersInAnyOrderLoseNothingAndPromiseNothingTwice, ()) {
  Story story(framework::AskingOrder(ThreeExtenders()));
  for (const Turn& turn : DrawTurns()) {
    turn.b % 3 == 0 ? story.Happen(turn) : story.AnswerOne(turn);
    RC_ASSERT(story.harness().engine().Verify().value_or("equal") == "equal");
    RC_ASSERT(story.harness().engine().VerifyCaches().value_or("equal") == "equal");
    RC_ASSERT(story.WithinRoom());
  }
}

RC_GTEST_PROP(ExtenderProperties, AnswersAboutGangsInAnyOrderLoseNothingAndPromiseNothingTwice,
              ()) {
  Story story(framework::AskingOrder(ThreeExtenders()), true);
  for (const Turn& turn : DrawTurns()) {
    turn.b % 3 == 0 ? story.Happen(turn) : story.AnswerOne(turn);
    RC_ASSERT(story.harness().engine().Verify().value_or("equal") == "equal");
    RC_ASSERT(story.harness().engine().VerifyCaches().value_or("equal") == "equal");
    RC_ASSERT(story.WithinRoom());
  }
  // Questions that nobody ever answers hold up nobody.
  story.harness().AnswerAtOnce(Agree);
  story.LetAllHappen();
  RC_ASSERT(story.harness().engine().Verify().value_or("equal") == "equal");
  RC_ASSERT(story.GangsThatFitAreThere());
}

RC_GTEST_PROP(ExtenderProperties, ThoseThatAgreeAtOnceChangeNothing, ()) {
  Story with(framework::AskingOrder(ThreeExtenders()));
  Story without({});
  with.harness().AnswerAtOnce(Agree);
  for (const Turn& turn : DrawTurns()) {
    with.Happen(turn);
    without.Happen(turn);
    RC_ASSERT(with.Decisions() == without.Decisions());
  }
  RC_ASSERT(with.harness().engine().Verify().value_or("equal") == "equal");
}

}  // namespace
}  // namespace knx::engine
