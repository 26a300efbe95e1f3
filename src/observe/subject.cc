#include "observe/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "base/near_names.h"
#include "base/shortened.h"
#include "cluster/reservation_hold.h"

namespace knx::observe {

using cluster::GangId;
using cluster::GangSource;
using cluster::PodId;

namespace {

constexpr std::string_view kPod = "pod", kAnyGang = "podgroup", kDefault = "default";

std::string_view KindOf(GangSource source) {
  switch (source) {
    case GangSource::kPodGroup:
      return "podgroup.scheduling.k8s.io";
    case GangSource::kWorkload:
      return "workload.scheduling.k8s.io";
    case GangSource::kSigsPodGroup:
      return "podgroup.scheduling.x-k8s.io";
    case GangSource::kVolcano:
      return "podgroup.scheduling.volcano.sh";
    case GangSource::kOperator:
      return "operator";
    case GangSource::kPod:
      break;
  }
  return "labels";  // or annotations: of the pods themselves
}

PodId WaitingOrAny(const cluster::State& state, const cluster::Gang& gang) {
  for (const PodId member : gang.members) {
    if (!state.pod(member).node.valid()) return member;
  }
  return gang.members.front();
}

// Everything that can be asked about, gangs first.
std::vector<Subject> AllSubjects(const cluster::State& state) {
  const auto text = [&](Symbol symbol) { return std::string(state.words().Text(symbol)); };
  std::vector<Subject> all;
  for (std::uint32_t i = 0; i < state.gangs().id_limit(); ++i) {
    if (!state.gangs().Contains(GangId{i})) continue;
    const cluster::Gang& gang = state.gangs().Get(GangId{i});
    all.push_back({GangId{i}, WaitingOrAny(state, gang), text(gang.namespace_), gang.name,
                   KindOf(gang.source)});
  }
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const PodId id{i};
    if (!state.pods().Contains(id) || cluster::IsHold(state.pod(id))) continue;
    all.push_back({{}, id, text(state.pod(id).namespace_), state.pod(id).name, kPod});
  }
  return all;
}

// Gangs of operators are called after operator and job, and after the group where a job has several
// (LeaderWorkerSet/serve/0); people know the name of the job.
std::vector<std::string_view> JobsIn(const Subject& subject) {
  const std::string_view name = subject.name;
  const std::size_t slash = name.find('/');
  if (subject.kind != KindOf(GangSource::kOperator) || slash == name.npos) return {};
  const std::string_view job = name.substr(slash + 1);
  const std::size_t group = job.find('/');
  if (group == job.npos || group == 0) return {job};
  return {job, job.substr(0, group)};
}

// Names may have slashes, so that it is compared with what is there instead of being taken apart.
bool IsMeant(const Subject& subject, std::string_view name, std::string_view text) {
  const auto is_it = [&](std::string_view rest) {
    const std::string_view in = subject.namespace_;
    return rest == name || (rest.size() == in.size() + 1 + name.size() && rest.starts_with(in) &&
                            rest[in.size()] == '/' && rest.ends_with(name));
  };
  if (is_it(text)) return true;
  for (const std::string_view kind : {subject.kind, subject.gang.valid() ? kAnyGang : kPod}) {
    const bool of_kind =
        text.size() > kind.size() && text.starts_with(kind) && text[kind.size()] == '/';
    if (of_kind && is_it(text.substr(kind.size() + 1))) return true;
  }
  return false;
}

bool IsOfJob(const Subject& subject, std::string_view text) {
  const std::vector<std::string_view> jobs = JobsIn(subject);
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](std::string_view job) { return IsMeant(subject, job, text); });
}

}  // namespace

std::vector<Subject> FindSubjects(const cluster::State& state, std::string_view text) {
  const std::vector<Subject> all = AllSubjects(state);
  std::vector<Subject> found;
  const auto is_called = [&](const Subject& subject) {
    return IsMeant(subject, subject.name, text);
  };
  const auto is_of_job = [&](const Subject& subject) { return IsOfJob(subject, text); };
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), is_called);
  if (found.empty()) std::copy_if(all.begin(), all.end(), std::back_inserter(found), is_of_job);
  const auto rank = [&](const Subject& subject) {
    const auto source =
        subject.gang.valid() ? state.gangs().Get(subject.gang).source : cluster::GangSource::kPod;
    return std::tuple(subject.namespace_ != kDefault, !subject.gang.valid(), source,
                      std::string_view(subject.namespace_), std::string_view(subject.name));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Subject& a, const Subject& b) { return rank(a) < rank(b); });
  return found;
}

std::string SpelledOut(const Subject& subject) {
  return fmt::format("{}/{}/{}", subject.kind, subject.namespace_,
                     Shortened(subject.name, kLongestName));
}

std::string InWords(const Subject& subject) {
  return fmt::format("{} {}/{}", subject.gang.valid() ? "pod group" : "pod", subject.namespace_,
                     Shortened(subject.name, kLongestName));
}

std::string WhatThereIs(const cluster::State& state, std::string_view text) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<Subject> all = AllSubjects(state);
  std::set<std::string> words;
  for (const Subject& subject : all) {
    words.insert(subject.name);
    words.insert(fmt::format("{}/{}", subject.namespace_, subject.name));
    for (const std::string_view job : JobsIn(subject)) words.emplace(job);
  }
  const std::vector<std::string_view> names(words.begin(), words.end());
  std::set<std::string> named;
  const auto near = NamesNear(text, names);
  for (const Subject& subject : all) {
    const bool is_near = std::any_of(near.begin(), near.end(), [&](std::string_view name) {
      return IsMeant(subject, subject.name, name) || IsOfJob(subject, name);
    });
    if (is_near) named.insert(InWords(subject));
  }
  std::string_view what = "much the same is the name of";
  if (named.empty()) {
    what = "what waits is";
    for (const Subject& subject : all) {
      const bool of_gang = !subject.gang.valid() && state.gang_of(subject.pod).valid();
      if (!of_gang && !state.pod(subject.pod).node.valid()) named.insert(InWords(subject));
    }
  }
  if (named.empty()) return "nothing waits";
  std::vector<std::string> shown(named.begin(), named.end());
  const std::size_t more = shown.size() - std::min(shown.size(), kMostNamed);
  shown.resize(shown.size() - more);
  return fmt::format("{} {}{}", what, fmt::join(shown, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace knx::observe
