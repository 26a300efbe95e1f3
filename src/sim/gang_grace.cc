#include "sim/gang_grace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/importance.h"
#include "k8s/drivers.h"

namespace knx::sim {

using cluster::Gang;
using cluster::GangId;
using cluster::PodId;

namespace {

// Who is asked to go is asked at the moment at which the grace ends.
constexpr Duration kMoment = Duration::Seconds(1);

// Members that have a place, in all, by role and by sub-group.
struct Filled {
  std::size_t all = 0;
  std::map<std::string, std::int32_t, std::less<>> roles, sub_groups;

  void Add(const cluster::GangMembership& member) {
    ++all;
    ++roles[member.declared.role];
    ++sub_groups[member.sub_group];
  }
};

bool HasWholeSubGroups(const Gang& gang, const Filled& filled) {
  for (const auto& [kind, wanted] : gang.min_sub_groups) {
    std::int32_t whole = 0;
    for (const auto& [name, demand] : gang.sub_groups) {
      const auto found = filled.sub_groups.find(name);
      const std::int32_t there = found == filled.sub_groups.end() ? 0 : found->second;
      if (demand.kind == kind && there >= demand.minimum) ++whole;
    }
    if (whole < wanted) return false;
  }
  return true;
}

bool IsWhole(const Gang& gang, const Filled& filled) {
  if (filled.all + gang.finished < static_cast<std::size_t>(gang.minimum)) return false;
  // Who has done its work had been there for its role and its sub-group.
  if (gang.finished > 0) return true;
  const bool roles = std::all_of(gang.roles.begin(), gang.roles.end(), [&](const auto& entry) {
    const auto found = filled.roles.find(entry.first);
    return entry.second <= (found == filled.roles.end() ? 0 : found->second);
  });
  return roles && HasWholeSubGroups(gang, filled);
}

// Whether so many places are kept for those of a gang who have yet to come.
bool KeepsPlaces(const engine::Engine& engine, GangId id, std::size_t missing) {
  const cluster::State& state = engine.state();
  const Gang& gang = state.gangs().Get(id);
  const auto& all = engine.reservations().all();
  return std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    const engine::Reservation& kept = entry.second;
    const bool by_name = !kept.made_for.valid() && !kept.group.empty() &&
                         kept.group == cluster::GroupOf(gang.source, gang.name) &&
                         kept.object.meta.namespace_ == state.words().Text(gang.namespace_);
    return (kept.made_for == id || by_name) && kept.stage() == engine::ReservationStage::kHeld &&
           kept.places.size() >= missing;
  });
}

}  // namespace

void GangGrace::OnStart() {
  gangs_.clear();
  asked_.clear();
  for_grace_.clear();
  listed_ = false;
  fresh_ = true;
}

void GangGrace::OnEviction(const std::string& uid, bool incomplete) {
  asked_.insert(uid);
  if (incomplete) for_grace_.insert(uid);
}

GangGrace::Count GangGrace::CountGang(const engine::Engine& engine, const ToldView& told,
                                      const Rules& rules, GangId id) const {
  const cluster::State& state = engine.state();
  const Gang& gang = state.gangs().Get(id);
  Count count;
  Filled placed, bound;
  std::int32_t said = 0, said_by_others = 0;
  for (const PodId member : gang.members) {
    const cluster::Pod& pod = state.pod(member);
    const ToldView::Told* const known = told.FindPod(pod.uid);
    if (known == nullptr) continue;
    const auto found = rules.find(known->pod->spec.scheduler_name);
    const bool ours = found != rules.end() && found->second.gangs;
    if (ours) {
      count.ours = true;
      count.grace = std::max(count.grace, found->second.grace);
      count.straggler_wait = std::max(count.straggler_wait, found->second.straggler_wait);
    }
    count.asked = count.asked || for_grace_.contains(pod.uid);
    const bool asked = asked_.contains(pod.uid) && pod.evicted;
    if (asked || known->pod->meta.deleted.has_value()) continue;
    const engine::PodStanding standing = engine.Standing(pod.uid);
    const bool held_back = standing == engine::PodStanding::kPaused;
    const cluster::GangDeclaration& declared = pod.gang->declared;
    if (told.NodeOf(pod.uid).empty() && !held_back) {
      const bool gated = !known->pod->spec.scheduling_gates.empty();
      if (!ours || gated || !declared.problem.empty()) continue;
      count.others = true;
      count.ask_more |= declared.role_minimum > 0 || declared.min_sub_groups > 0;
      said_by_others = std::max(said_by_others, declared.minimum);
      count.last_made = std::max(count.last_made, pod.created);
      continue;
    }
    // Who is placed by itself counts when it is bound.
    if (pod.assumed && pod.by_itself) continue;
    count.foreign = count.foreign || !ours;
    placed.Add(*pod.gang);
    said = std::max(said, declared.minimum);
    count.started = std::min(count.started, engine::StartOf(pod));
    const bool flies = held_back || standing == engine::PodStanding::kBinding;
    count.flying = count.flying || flies;
    if (k8s::IsDriver(known->pod->meta.labels)) count.driver = known->pod;
    if (!flies || !known->pod->spec.node_name.empty()) bound.Add(*pod.gang);
    if (flies) continue;
    if (ours && found->second.evicts_incomplete) count.who_stays = KeyOf(*known->pod);
  }
  if (gang.terms.patience) count.grace = *gang.terms.patience;
  count.own_grace = gang.terms.patience.has_value();
  count.ask_more |= said_by_others > said;
  count.all_placed = placed.all == gang.members.size();
  count.placed = placed.all;
  count.filled = placed.all + gang.finished;
  count.whole = IsWhole(gang, placed);
  count.whole_bound = IsWhole(gang, bound);
  const auto minimum = static_cast<std::size_t>(gang.minimum);
  const std::size_t missing = minimum - std::min(minimum, count.filled);
  count.kept = count.driver != nullptr && KeepsPlaces(engine, id, missing);
  count.singles = !gang.together();
  count.applies = count.ours && gang.together() && !gang.awaits_object() && placed.all > 0;
  return count;
}

void GangGrace::Begin(const Count& count, Known& known, bool first_look, Time now) {
  known.grace = count.grace;
  known.since = now;
  if (!first_look) return;
  if (count.ask_more) {
    known.were_enough = count.filled;
    known.since.reset();
  }
  if (count.started == kNever) return;
  known.found_alone = count.all_placed && count.started + count.grace <= now;
  if (known.found_alone) known.since.reset();
  known.not_before = now + count.straggler_wait;
  // Places for the executors of a driver may be kept again for a moment, and be over.
  if (!known.since || count.driver != nullptr) return;
  // It has begun before the scheduler came, with the last that came to join them.
  known.since = std::max(count.started, count.last_made);
}

void GangGrace::Note(const Count& count, const cluster::GangDemand& demand, Known& known,
                     bool first_look, Time now) {
  const bool was_kept = std::exchange(known.kept, count.applies && count.kept && !count.whole);
  const bool was_whole = std::exchange(known.whole, count.whole);
  known.foreign = count.foreign || (known.foreign && count.applies && !count.whole_bound);
  if (!count.applies || count.whole_bound || known.kept || known.foreign) {
    const bool nobody_misses = count.applies || !count.ours || count.singles;
    known.enough = nobody_misses ? count.filled : 0;
    if (known.kept) {
      known.kept_for = demand;
      known.driver = count.driver;
    }
    known.were_enough = 0;
    known.found_alone = false;
    known.since.reset();
    return;
  }
  if (count.whole) {
    known.enough = count.filled;
    return;
  }
  // What ends a grace that is over by now is heard of now.
  const Duration counted = std::exchange(known.counted_grace, count.grace);
  if (was_whole || counted != count.grace) known.not_before = std::max(known.not_before, now);
  if (count.asked) known.since = now;
  if (known.found_alone && count.others) {
    known.found_alone = false;
    Begin(count, known, false, now);
  }
  if (known.were_enough > count.filled) {
    known.were_enough = 0;
    Begin(count, known, false, now);
  }
  // Who is on its way when the grace ends is asked after another.
  const bool ends = known.since && now >= *known.since + GraceOf(count, known);
  if (ends && count.flying) known.since = now;
  if (known.since || known.found_alone || known.were_enough > 0) return;
  // Places that come to an end are no more that is asked for; a driver that becomes another is.
  const bool lost_places = was_kept && known.kept_for == demand && known.driver == count.driver;
  if (known.enough > 0 && count.filled >= known.enough && !lost_places) {
    known.were_enough = count.filled;
  } else {
    Begin(count, known, first_look, now);
  }
}

Duration GangGrace::GraceOf(const Count& count, const Known& known) {
  return count.own_grace ? count.grace : std::max(count.grace, known.grace);
}

std::optional<std::string> GangGrace::Check(const engine::Engine& engine, const ToldView& told,
                                            const Rules& rules, Time now) {
  const bool evicts = std::any_of(rules.begin(), rules.end(),
                                  [](const auto& rule) { return rule.second.evicts_incomplete; });
  if (!evicts || !listed_) return std::nullopt;
  const cluster::GangTable& gangs = engine.state().gangs();
  for (std::uint32_t i = 0; i < gangs.id_limit(); ++i) {
    const GangId id{i};
    if (!gangs.Contains(id)) {
      gangs_.erase(id);
      continue;
    }
    const Gang& gang = gangs.Get(id);
    Known& known = gangs_[id];
    // Of most nothing has changed, and they wait or are whole.
    if (known.version == gang.version && known.at_rest) continue;
    if (known.key != gang.key()) known = {.key = gang.key()};
    const Count count = CountGang(engine, told, rules, id);
    Note(count, gang.demand(), known, fresh_, now);
    known.version = gang.version;
    known.at_rest = count.placed == 0 || (count.applies && count.whole_bound);
    if (!known.since || count.whole || count.who_stays.empty()) continue;
    const Duration grace = GraceOf(count, known);
    if (now <= std::max(*known.since + grace, known.not_before) + kMoment) continue;
    return fmt::format(
        "{} of pod group {}/{} have had a place for {} and are not enough, its grace is {}: {} is "
        "not asked to go",
        count.filled, engine.state().words().Text(gang.namespace_), gang.name,
        FormatDuration(now - *known.since), FormatDuration(grace), count.who_stays);
  }
  for_grace_.clear();
  fresh_ = false;
  return std::nullopt;
}

}  // namespace knx::sim
