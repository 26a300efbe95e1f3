#include "engine/gang_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/counted.h"
#include "base/shortened.h"
#include "engine/gang_roles.h"
#include "engine/sub_groups.h"

namespace knx::engine {

using cluster::GangId;
using cluster::PodId;

std::string GangName(const cluster::State& state, GangId id) {
  const cluster::Gang& gang = state.gangs().Get(id);
  return fmt::format("{}/{}", state.words().Text(gang.namespace_),
                     Shortened(gang.name, kLongestName));
}

namespace {

constexpr std::size_t kMostPartsNamed = 3;  // of roles, of sub-groups; more would be of no use

// "; 1 of 2 sub-groups could start, sub-group b has 1 of 4 pods"
std::string MissingInSubGroups(const cluster::State& state, const cluster::Gang& gang,
                               const WaitingGang& waiting) {
  if (!HasSubGroups(gang)) return {};
  const SubGroups groups = SubGroupsOf(state, gang, waiting.ready);
  std::int64_t wanted = 0;
  for (const auto& [kind, count] : MinSubGroups(gang)) wanted += count;
  const auto could = std::count_if(groups.all.begin(), groups.all.end(),
                                   [](const SubGroup& group) { return group.can_be_whole(); });
  std::string text;
  if (could < wanted) text = fmt::format("; {} of {} sub-groups could start", could, wanted);
  std::size_t named = 0;
  for (const SubGroup& group : groups.all) {
    if (group.can_be_whole()) continue;
    if (++named > kMostPartsNamed) break;
    text += fmt::format("{} sub-group {} has {} of {} pods", text.empty() ? ";" : ",",
                        Shortened(group.name, kLongestValue), group.placed + group.waiting.size(),
                        group.minimum);
  }
  return text;
}

std::string MoreOfRoles(const std::map<std::string_view, std::size_t>& roles) {
  std::string text;
  std::size_t named = 0;
  for (const auto& [role, wanted] : roles) {
    if (++named > kMostPartsNamed) break;
    text += fmt::format(", {} more of role {}", wanted, Shortened(role, kLongestValue));
  }
  if (named > kMostPartsNamed) {
    text += fmt::format(", and of {} other roles", roles.size() - kMostPartsNamed);
  }
  return text;
}

// How many more have to get a place at once, at the least.
std::size_t LeastMissing(const cluster::State& state, const cluster::Gang& gang) {
  const auto minimum = static_cast<std::size_t>(gang.minimum);
  const std::size_t done = gang.placed + gang.finished;
  std::size_t needed = minimum > done ? minimum - done : 0;
  std::size_t of_roles = 0;
  for (const auto& [role, missing] : MissingInRoles(state, gang)) of_roles += missing;
  needed = std::max(needed, of_roles);
  if (HasSubGroups(gang)) {
    needed = std::max(needed, LeastForSubGroups(gang, SubGroupsOf(state, gang)));
  }
  return needed;
}

}  // namespace

std::string WhatIsMissing(const cluster::State& state, GangId id, const WaitingGang& waiting) {
  const cluster::Gang& gang = state.gangs().Get(id);
  if (gang.awaits_object()) {
    return fmt::format("waiting for pod group {}: the {} does not exist", GangName(state, id),
                       cluster::ObjectOf(gang.source));
  }
  const std::size_t done = gang.placed + gang.finished;
  const std::string missing =
      fmt::format("waiting for pod group {}: it has {}, needs at least {}", GangName(state, id),
                  FormatCount(done + waiting.ready.size(), "pod", "pods"),
                  std::max<std::size_t>(done + LeastMissing(state, gang),
                                        static_cast<std::size_t>(gang.minimum)));
  return missing + MoreOfRoles(MissingInRoles(state, gang, waiting.ready)) +
         MissingInSubGroups(state, gang, waiting) + waiting.also;
}

std::string WhoHasAPlace(const cluster::State& state, GangId id) {
  const cluster::Gang& gang = state.gangs().Get(id);
  const auto minimum = static_cast<std::size_t>(gang.minimum);
  // Enough in all may be too few of a role, or for whole sub-groups.
  const std::string places = gang.placed < minimum
                                 ? fmt::format("{} of {} pods have a place", gang.placed, minimum)
                                 : fmt::format("{} have a place, and are not enough",
                                               FormatCount(gang.placed, "pod", "pods"));
  return places + MoreOfRoles(MissingInRoles(state, gang)) + MissingInSubGroups(state, gang, {});
}

std::size_t GangBook::NeededBy(const cluster::State& state, GangId id) const {
  const cluster::Gang& gang = state.gangs().Get(id);
  if (gang.roles.empty() && !HasSubGroups(gang)) return LeastMissing(state, gang);
  if (needed_.size() <= id.index) needed_.resize(id.index + 1);
  auto& [version, needed] = needed_[id.index];
  if (std::exchange(version, gang.version) != gang.version) needed = LeastMissing(state, gang);
  return needed;
}

bool GangBook::FillParts(const cluster::State& state, GangId id, const WaitingGang& waiting) {
  const cluster::Gang& gang = state.gangs().Get(id);
  if (gang.roles.empty() && !HasSubGroups(gang)) return true;
  if (!waiting.enough || waiting.enough->first != gang.version) {
    const bool enough = MissingInRoles(state, gang, waiting.ready).empty() &&
                        FillSubGroups(state, gang, waiting.ready);
    waiting.enough.emplace(gang.version, enough);
  }
  return waiting.enough->second;
}

bool GangBook::AreEnough(const cluster::State& state, GangId id, const WaitingGang& waiting) const {
  const cluster::Gang& gang = state.gangs().Get(id);
  const std::size_t known = gang.placed + gang.finished + waiting.ready.size();
  // The first is nearly always the answer, and costs nothing.
  return known >= static_cast<std::size_t>(gang.minimum) &&
         waiting.ready.size() >= NeededBy(state, id) && FillParts(state, id, waiting);
}

namespace {

std::size_t ToComeInRoles(const cluster::State& state, const cluster::Gang& gang,
                          const std::vector<PodId>& ready) {
  auto missing = MissingInRoles(state, gang);
  for (const PodId pod : ready) {
    const auto role = missing.find(RoleOf(state, pod));
    if (role != missing.end() && role->second > 0) --role->second;
  }
  std::size_t all = 0;
  for (const auto& [role, wanted] : missing) all += wanted;
  return all;
}

// Those that make whole what has begun, and those of sub-groups that have to begin.
std::size_t ToComeInSubGroups(const cluster::State& state, const cluster::Gang& gang,
                              const std::vector<PodId>& ready) {
  if (!HasSubGroups(gang)) return 0;
  SubGroups groups = SubGroupsOf(state, gang, ready);
  std::size_t all = 0;
  for (SubGroup& group : groups.all) {
    group.placed += group.waiting.size();
    if (group.placed == 0) continue;
    all += group.missing();
    group.placed += group.missing();
  }
  return all + LeastForSubGroups(gang, groups);
}

}  // namespace

std::size_t GangBook::StillToCome(const cluster::State& state, GangId id,
                                  const WaitingGang& waiting) const {
  if (AreEnough(state, id, waiting)) return 0;
  const cluster::Gang& gang = state.gangs().Get(id);
  const std::size_t needed = NeededBy(state, id), ready = waiting.ready.size();
  return std::max({needed > ready ? needed - ready : 0, ToComeInRoles(state, gang, waiting.ready),
                   ToComeInSubGroups(state, gang, waiting.ready)});
}

WaitingGang& GangBook::Open(GangId gang, Time now) {
  const auto [it, fresh] = gangs_.try_emplace(gang);
  if (fresh) it->second.since = now;
  return it->second;
}

WaitingGang* GangBook::Find(GangId gang) {
  const auto it = gangs_.find(gang);
  return it == gangs_.end() ? nullptr : &it->second;
}

const WaitingGang* GangBook::Find(GangId gang) const {
  const auto it = gangs_.find(gang);
  return it == gangs_.end() ? nullptr : &it->second;
}

void GangBook::Close(GangId gang) {
  if (Find(gang) == nullptr) return;
  SetMissingReport(gang, std::nullopt);
  SetIncompleteReport(gang, std::nullopt);
  SetTellReport(gang, std::nullopt);
  SetRetry(gang, std::nullopt);
  gangs_.erase(gang);
}

void GangBook::SetAlso(WaitingGang& gang, std::string also) {
  if (gang.also == also) return;
  gang.also = std::move(also);
  gang.said_missing = 0;
}

void GangBook::NoteEvictions(WaitingGang& gang, Time now) {
  gang.evicted_times = gang.evicted_at ? gang.evicted_times + 1 : 1;
  gang.evicted_at = now;
}

void GangBook::SetReady(WaitingGang& gang, PodId pod, bool ready) {
  const auto it = std::find(gang.ready.begin(), gang.ready.end(), pod);
  if ((it != gang.ready.end()) == ready) return;
  gang.enough.reset();
  if (ready) {
    gang.ready.push_back(pod);
  } else {
    gang.ready.erase(it);
    if (gang.stands == pod) gang.stands = {};
    gang.blocked.Forget(pod);
  }
}

void GangBook::SetMissingReport(GangId id, std::optional<Time> when) {
  Reschedule(id, gangs_.at(id).missing_report, when);
}

void GangBook::SetIncompleteReport(GangId id, std::optional<Time> when) {
  Reschedule(id, gangs_.at(id).incomplete_report, when);
}

void GangBook::BeginGrace(GangId id, Time whole_grace_end) {
  WaitingGang& gang = gangs_.at(id);
  gang.completing.clear();
  // What was put off is due however often something was said before.
  const std::optional<Time> put_off = std::exchange(gang.grace_end, std::nullopt);
  if (gang.incomplete_report || (gang.said_incomplete && !put_off)) return;
  SetIncompleteReport(id, put_off.value_or(whole_grace_end));
}

void GangBook::ExtendGrace(GangId id, Duration by) {
  WaitingGang* const gang = Find(id);
  if (gang == nullptr) return;
  if (gang->grace_end) gang->grace_end = *gang->grace_end + by;
  if (gang->incomplete_report) SetIncompleteReport(id, *gang->incomplete_report + by);
}

void GangBook::SuspendGrace(GangId id, const std::vector<PodId>& members,
                            const std::function<bool(PodId)>& is_on_its_way) {
  WaitingGang& gang = gangs_.at(id);
  const bool was_incomplete = gang.incomplete_report || gang.said_incomplete || gang.found_alone ||
                              gang.grace_end || gang.were_enough > 0;
  if (!was_incomplete && gang.completing.empty()) return;
  if (gang.incomplete_report) {
    gang.grace_end = gang.incomplete_report;
    SetIncompleteReport(id, std::nullopt);
  }
  // Who joins a gang that is whole already is not what it waited for.
  const std::vector<PodId>& among = gang.completing.empty() ? members : gang.completing;
  std::vector<PodId> completing;
  std::copy_if(among.begin(), among.end(), std::back_inserter(completing), is_on_its_way);
  gang.completing = std::move(completing);
  if (gang.completing.empty()) EndGrace(gang);
}

void GangBook::NoteBound(GangId id, PodId pod) {
  WaitingGang* const gang = id.valid() ? Find(id) : nullptr;
  if (gang == nullptr || std::erase(gang->completing, pod) == 0) return;
  if (gang->completing.empty()) EndGrace(*gang);
}

bool GangBook::KeepsPlaces(WaitingGang& gang, Duration grace, Time now) {
  if (!gang.keeps_until) gang.keeps_until = now + grace;
  return now < *gang.keeps_until;
}

bool GangBook::HasTroubles(const WaitingGang& gang) {
  return gang.failures > 0 || gang.refusals > 0 || gang.evicted_at || gang.keeps_until;
}

void GangBook::ForgetTroubles(WaitingGang& gang) {
  gang.failures = gang.refusals = 0;
  gang.evicted_at.reset();
  gang.keeps_until.reset();
}

void GangBook::EndGrace(WaitingGang& gang) {
  gang.grace_end.reset();
  gang.found_alone = gang.said_incomplete = false;
  gang.were_enough = 0;
}

void GangBook::SetTellReport(GangId id, std::optional<Time> when) {
  Reschedule(id, gangs_.at(id).tell_report, when);
}

void GangBook::SetRetry(GangId id, std::optional<Time> when) {
  Reschedule(id, gangs_.at(id).retry_at, when);
}

void GangBook::Reschedule(GangId id, std::optional<Time>& slot, std::optional<Time> when) {
  const WaitingGang& gang = gangs_.at(id);
  for (const auto& report :
       {gang.missing_report, gang.incomplete_report, gang.tell_report, gang.retry_at}) {
    if (report) reports_.erase({*report, id});
  }
  slot = when;
  for (const auto& report :
       {gang.missing_report, gang.incomplete_report, gang.tell_report, gang.retry_at}) {
    if (report) reports_.emplace(*report, id);
  }
}

std::optional<GangBook::Due> GangBook::PopReport(Time now) {
  if (NextReport() > now) return std::nullopt;
  Due due{reports_.begin()->second};
  const WaitingGang& gang = gangs_.at(due.gang);
  due.missing = gang.missing_report && *gang.missing_report <= now;
  due.incomplete = gang.incomplete_report && *gang.incomplete_report <= now;
  due.tell = gang.tell_report && *gang.tell_report <= now;
  due.retry = gang.retry_at && *gang.retry_at <= now;
  if (due.missing) SetMissingReport(due.gang, std::nullopt);
  if (due.retry) SetRetry(due.gang, std::nullopt);
  if (due.incomplete) SetIncompleteReport(due.gang, std::nullopt);
  if (due.tell) SetTellReport(due.gang, std::nullopt);
  return due;
}

}  // namespace knx::engine
