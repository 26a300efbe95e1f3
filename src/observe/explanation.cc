#include "observe/explanation.h"

#include <algorithm>
#include <map>

#include "observe/help_words.h"

namespace knx::observe {

using cluster::GangId;
using cluster::PodId;

namespace {

// nullptr: it is for another scheduler.
const framework::Profile* ProfileOf(const engine::Engine& engine, PodId pod) {
  const std::string& name = engine.state().class_of(pod).spec.scheduler_name;
  for (const framework::Profile& profile : engine.profiles()) {
    if (profile.scheduler_name == name) return &profile;
  }
  return nullptr;
}

// Why a member waits for something else than its gang; empty: it does not.
std::string HeldBy(const engine::Engine& engine, PodId pod) {
  const cluster::Pod& record = engine.state().pod(pod);
  const framework::Profile* const profile = ProfileOf(engine, pod);
  if (profile == nullptr) return "is for another scheduler";
  const engine::Queue::View view = engine.queue().Get(pod);
  const bool by_gang = profile->gangs && view.gate == profile->gangs->index;
  if (view.place != engine::QueuePlace::kGated || by_gang) return {};
  return engine.WhyWaiting(record.uid);
}

GangMembers MembersOf(const engine::Engine& engine, GangId id) {
  const cluster::State& state = engine.state();
  const cluster::Gang& gang = state.gangs().Get(id);
  GangMembers out;
  out.all = gang.members.size();
  out.finished = gang.finished;
  if (!gang.awaits_object()) out.minimum = static_cast<std::size_t>(std::max(gang.minimum, 1));
  out.as_a_whole =
      gang.together() && std::any_of(gang.members.begin(), gang.members.end(), [&](PodId member) {
        const auto* profile = ProfileOf(engine, member);
        return profile != nullptr && profile->gangs;
      });
  std::map<std::string, std::size_t> places;
  for (const PodId member : gang.members) {
    const cluster::Pod& pod = state.pod(member);
    if (pod.terminating) ++out.leaving;
    if (pod.node.valid()) {
      if (pod.terminating) continue;
      if (!pod.leaves()) ++out.placed;
      ++places[state.nodes().name(pod.node)];
      if (engine.Standing(pod.uid) != engine::PodStanding::kBound) ++out.binding;
    } else if (!pod.terminating) {
      std::string name = NameOf(state, member);
      if (std::string why = HeldBy(engine, member); why.empty()) {
        out.waiting.push_back(std::move(name));
      } else {
        out.held.emplace_back(std::move(name), std::move(why));
      }
    }
  }
  out.places.assign(places.begin(), places.end());
  std::sort(out.waiting.begin(), out.waiting.end());
  std::sort(out.held.begin(), out.held.end());
  return out;
}

void ListRefusals(const engine::Inquiry& inquiry, Explanation& explanation) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const engine::Inquiry::Rejection& rejection : inquiry.rejections) {
    for (const std::string& reason : rejection.reasons) ++counts[{rejection.plugin, reason}];
  }
  for (const auto& [refusal, nodes] : counts) {
    explanation.refusals.push_back({refusal.first, refusal.second, nodes});
  }
  std::stable_sort(explanation.refusals.begin(), explanation.refusals.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
}

// Of a pod that is decided about by itself, or that something keeps from being decided about.
void ExplainPod(engine::Engine& engine, PodId pod, Explanation& explanation) {
  const cluster::State& state = engine.state();
  const std::string uid = state.pod(pod).uid;
  explanation.message = engine.WhyWaiting(uid);
  // What it says about its gang cannot be read: no node has a say before that is mended.
  const auto& membership = state.pod(pod).gang;
  const bool unreadable = membership != nullptr && !membership->declared.problem.empty();
  if (unreadable && explanation.message == membership->declared.problem) return;
  explanation.pod = engine.InquirePod(uid);
  if (!explanation.pod) return;
  const engine::Inquiry& asked = explanation.pod->asked;
  if (explanation.message.empty()) explanation.message = asked.message;
  // What is only added to it is no news: a promise, or that nobody is evicted for it.
  const bool news = !explanation.message.starts_with(asked.message) &&
                    !asked.message.starts_with(explanation.message);
  if (news) explanation.now = asked.message;
  if (asked.chosen.empty()) ListRefusals(asked, explanation);
  explanation.help = HelpFor(state, pod, *explanation.pod);
}

// True: the gang is why its members wait, or why they do not.
bool ExplainGang(engine::Engine& engine, PodId member, GangId id, Explanation& explanation) {
  explanation.members = MembersOf(engine, id);
  if (!explanation.members->as_a_whole) return false;
  explanation.gang = engine.InquireGang(engine.state().pod(member).uid);
  if (!explanation.gang) return false;
  explanation.message = explanation.gang->message;
  explanation.help = HelpFor(engine.state().gangs().Get(id), *explanation.gang);
  return true;
}

void DescribePod(const engine::Engine& engine, PodId pod, Explanation& explanation) {
  const cluster::State& state = engine.state();
  const cluster::Pod& record = state.pod(pod);
  explanation.leaving = record.terminating;
  explanation.binding =
      record.node.valid() && engine.Standing(record.uid) != engine::PodStanding::kBound;
  if (record.node.valid()) {
    explanation.node = state.nodes().name(record.node);
  } else if (ProfileOf(engine, pod) == nullptr) {
    explanation.scheduler = state.class_of(pod).spec.scheduler_name;
    for (const auto& profile : engine.profiles()) {
      explanation.profiles.push_back(profile.scheduler_name);
    }
  }
}

}  // namespace

std::optional<Explanation> Explain(engine::Engine& engine, std::string_view name) {
  const std::vector<Subject> subjects = FindSubjects(engine.state(), name);
  if (subjects.empty()) return std::nullopt;
  const Subject& subject = subjects.front();
  Explanation explanation;
  explanation.what = InWords(subject);
  explanation.of_gang = subject.gang.valid();
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    explanation.others.push_back(SpelledOut(subjects[i]));
  }
  if (!subject.gang.valid()) {
    DescribePod(engine, subject.pod, explanation);
    if (!explanation.waits()) return explanation;
    const GangId gang = engine.state().gang_of(subject.pod);
    const bool by_gang = gang.valid() && HeldBy(engine, subject.pod).empty() &&
                         ExplainGang(engine, subject.pod, gang, explanation);
    if (!by_gang) ExplainPod(engine, subject.pod, explanation);
    return explanation;
  }
  const bool by_gang = ExplainGang(engine, subject.pod, subject.gang, explanation);
  const bool waits = !engine.state().pod(subject.pod).node.valid();
  if (!by_gang && waits) ExplainPod(engine, subject.pod, explanation);
  return explanation;
}

}  // namespace knx::observe
