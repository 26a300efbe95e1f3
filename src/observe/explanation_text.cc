// An explanation in lines for a person.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/shortened.h"
#include "engine/backfill_times.h"
#include "observe/explanation.h"
#include "observe/help_words.h"

namespace knx::observe {

using engine::GangAnswer;
using engine::GangInquiry;
using engine::QueuePlace;
using engine::Wait;

namespace {

// Of reasons, domains and members only the most telling are shown.
constexpr std::size_t kMostShown = 8;

void AddLine(std::string_view key, std::string_view value, std::string& out) {
  out += fmt::format("  {:<14} {}\n", key, value);
}

// When it is tried again, of somebody for whom there is room.
std::string TriedAgain(const Wait& wait) {
  switch (wait.place) {
    case QueuePlace::kActive:
      return "it is in the queue";
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff:
      return fmt::format("it is tried again at {}", Moment(wait.backoff_until));
    default:
      return "it is tried again soon";
  }
}

std::string Answer(const GangInquiry& gang, const GangMembers& members) {
  if (!members.minimum) return "the object that says how many must start together does not exist";
  if (gang.awaited) {
    return fmt::format("its driver waits until reservation {} is held",
                       Shortened(gang.awaited->name, kLongestName));
  }
  if (!gang.complete) return "too few members are there";
  const bool placed = gang.answer == GangAnswer::kPlaced;
  if (placed && gang.held_for) return "there is room for it, and it is not its turn";
  if (placed && gang.needed == 0) {
    return fmt::format("there is room for {} more now; {}", gang.fitting, TriedAgain(gang));
  }
  if (placed) return fmt::format("there is room for it now; {}", TriedAgain(gang));
  if (gang.needed == 0) return "it has all that it needs; there is no room for more";
  if (gang.answer == GangAnswer::kImpossible) return "impossible now";
  return "no way was found; there may be one";
}

// Of one whose driver makes the others.
void AddDriver(const GangInquiry& gang, std::string& out) {
  if (gang.awaited && !gang.awaited->why.empty()) AddLine("reservation", gang.awaited->why, out);
  if (gang.awaited || gang.to_come == 0) return;
  const std::string others = fmt::format("{} that it has yet to make", gang.to_come);
  AddLine("driver",
          gang.with_places ? fmt::format("starts once there is room for {}, too", others)
                           : fmt::format("starts before {}", others),
          out);
}

void AddDomains(const GangInquiry& gang, std::string& out) {
  const std::size_t shown = std::min(gang.domains.size(), kMostShown);
  if (shown > 0) AddLine("all in one", Shortened(gang.together, kLongestValue), out);
  for (std::size_t i = 0; i < shown; ++i) {
    AddLine(gang.domains[i].value, fmt::format("has room for {}", gang.domains[i].most), out);
  }
  if (shown == gang.domains.size()) return;
  AddLine("and others",
          fmt::format("{} of {}, with room for no more than {} each", gang.domains.size() - shown,
                      gang.domains.size(), gang.domains[shown].most),
          out);
}

// Where members differ in why they find no place.
void AddUnplaced(const GangInquiry& gang, std::string& out) {
  if (gang.unplaced.size() < 2) return;
  const std::size_t shown = std::min(gang.unplaced.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const GangInquiry::Unplaced& kind = gang.unplaced[i];
    AddLine(fmt::format("no place for {}", kind.members),
            fmt::format("{}{}: {}", kind.members == 1 ? "" : "like ", kind.example, kind.why), out);
  }
  if (shown == gang.unplaced.size()) return;
  AddLine("", fmt::format("and for {} more kinds of members", gang.unplaced.size() - shown), out);
}

// What it waits for beside room.
void AddWait(const Wait& wait, std::string& out) {
  if (wait.promised) {
    AddLine("promised",
            *wait.promised == engine::kUnknownEnd
                ? "room is kept for it until others end, of whom nobody knows when they will"
                : fmt::format("to start by {}", Moment(*wait.promised)),
            out);
  }
  if (wait.held_for) {
    const Wait::HeldFor& held = *wait.held_for;
    std::string text =
        held.start == engine::kUnknownEnd
            ? fmt::format("{}, for which room is kept until others end", held.who)
            : fmt::format("{}, which is promised to start by {}", held.who, Moment(held.start));
    if (held.others > 0) text += fmt::format(", and {} after it", held.others);
    AddLine("held back for", text, out);
    if (!held.may_pass) AddLine("", "it says itself that it passes nobody", out);
  }
  if (!wait.going.empty()) {
    AddLine("makes room",
            fmt::format("{} asked to go: {}",
                        wait.going.size() == 1 ? "1 pod was"
                                               : fmt::format("{} pods were", wait.going.size()),
                        Some(wait.going)),
            out);
  }
}

void AddPlaces(const GangMembers& members, std::string& out) {
  if (members.places.empty()) return;
  std::vector<std::string> places;
  for (const auto& [node, count] : members.places) {
    places.push_back(count == 1 ? node : fmt::format("{} ({})", node, count));
  }
  AddLine("places", Some(places), out);
}

void AddHeld(const GangMembers& members, std::string& out) {
  const std::size_t shown = std::min(members.held.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    AddLine("held back", fmt::format("{}: {}", members.held[i].first, members.held[i].second), out);
  }
  if (shown < members.held.size()) {
    AddLine("", fmt::format("and {} more", members.held.size() - shown), out);
  }
}

// Those that must start together may be more than the minimum, for the sake of sub-groups or roles.
std::string MembersLine(const GangMembers& members, const std::optional<GangInquiry>& gang) {
  const std::size_t waiting = members.waiting.size() + members.held.size();
  std::string text = fmt::format("{} have a place", members.placed);
  if (members.binding > 0) text += fmt::format(" ({} of them being bound)", members.binding);
  if (members.finished > 0) text += fmt::format(", {} have finished", members.finished);
  if (members.leaving > 0) text += fmt::format(", {} are being deleted", members.leaving);
  text += fmt::format(", {} wait", waiting);
  if (!members.as_a_whole) return text + ", each starts for itself";
  if (!members.minimum) return text + ", nobody says how many must start together";
  const bool asks = gang && gang->complete && gang->needed > 0;
  const std::size_t at_once = asks ? gang->placed + gang->needed : 0;
  return text + fmt::format(", {} must start together", std::max(*members.minimum, at_once));
}

// It has all that it needs; who else there is need not start.
bool Runs(const Explanation& explanation) {
  if (explanation.gang) return explanation.gang->complete && explanation.gang->needed == 0;
  return explanation.members && explanation.members->has_enough();
}

std::string GangText(const Explanation& explanation) {
  const GangMembers& members = *explanation.members;
  std::string out;
  if (explanation.gang) AddLine("answer", Answer(*explanation.gang, members), out);
  AddLine("members", MembersLine(members, explanation.gang), out);
  AddPlaces(members, out);
  if (Runs(explanation) && !members.waiting.empty()) {
    AddLine("waiting", Some(members.waiting), out);
  }
  AddHeld(members, out);
  if (!explanation.gang) return out;
  const GangInquiry& gang = *explanation.gang;
  AddDriver(gang, out);
  if (gang.complete && gang.needed > 0) {
    const bool wrong_ones =
        gang.answer != GangAnswer::kPlaced && gang.fitting >= gang.needed && !gang.lacks_in_all;
    AddLine(
        "fit",
        fmt::format("{} of {} that are needed{}", std::min(gang.fitting, gang.needed), gang.needed,
                    wrong_ones ? ", but not those that its roles or sub-groups need" : ""),
        out);
  }
  if (!gang.proof.empty()) AddLine("proof", gang.proof, out);
  if (gang.attempts > 0) AddLine("tried", Counted(gang.attempts, "time", "times"), out);
  AddUnplaced(gang, out);
  AddDomains(gang, out);
  AddWait(gang, out);
  return out;
}

std::string RefusalsText(const Explanation& explanation) {
  std::string out;
  const std::size_t shown = std::min(explanation.refusals.size(), kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Explanation::Refusal& refusal = explanation.refusals[i];
    out += fmt::format("  {}: {}{}\n", Counted(refusal.nodes, "node", "nodes"), refusal.reason,
                       refusal.plugin.empty() ? "" : fmt::format(" ({})", refusal.plugin));
  }
  if (shown < explanation.refusals.size()) {
    out += fmt::format("  and {} more of {} reasons, none of them of more nodes\n",
                       explanation.refusals.size() - shown, explanation.refusals.size());
  }
  return out;
}

std::string PodText(const Explanation& explanation) {
  std::string out;
  if (explanation.pod) {
    const engine::PodInquiry& pod = *explanation.pod;
    if (!pod.asked.chosen.empty()) {
      AddLine("answer",
              pod.held_for ? fmt::format("there is room for it on {}, and it is not its turn",
                                         pod.asked.chosen)
                           : fmt::format("there is room for it now on {}; {}", pod.asked.chosen,
                                         TriedAgain(pod)),
              out);
    }
    AddWait(pod, out);
  }
  return out + RefusalsText(explanation);
}

// Now, and could start: what its condition says was so before.
bool HasRoom(const Explanation& explanation) {
  const auto& gang = explanation.gang;
  const auto& pod = explanation.pod;
  return (gang && gang->answer == GangAnswer::kPlaced && !gang->held_for) ||
         (pod && !pod->asked.chosen.empty() && !pod->held_for);
}

std::string Headline(const Explanation& explanation) {
  const std::string& what = explanation.what;
  if (!explanation.node.empty()) {
    return fmt::format("{} does not wait: it {} {}{}\n", what,
                       explanation.binding ? "is being bound to" : "is on", explanation.node,
                       explanation.leaving ? ", and is being deleted" : "");
  }
  if (explanation.leaving) return fmt::format("{} is being deleted\n", what);
  if (!explanation.scheduler.empty()) {
    return fmt::format("{} is for the scheduler {}; here are {}\n", what, explanation.scheduler,
                       fmt::join(explanation.profiles, ", "));
  }
  const auto& members = explanation.members;
  const bool waits = explanation.of_gang &&
                     (members->placed == 0 || (!members->as_a_whole && !members->waiting.empty()));
  if (!explanation.of_gang || waits) return fmt::format("{} waits\n", what);
  const bool starting = members->binding == members->placed;
  return fmt::format("{} {}\n", what,
                     !Runs(explanation) && members->as_a_whole ? "is incomplete"
                     : starting                                ? "is starting"
                                                               : "runs");
}

}  // namespace

std::string ToText(const Explanation& explanation) {
  std::string out = Headline(explanation);
  if (explanation.members) out += GangText(explanation);
  out += PodText(explanation);
  if (!explanation.message.empty()) {
    out += fmt::format("\n{}{}\n", HasRoom(explanation) ? "Its condition still says: " : "",
                       explanation.message);
  }
  if (!explanation.now.empty()) out += fmt::format("\nIf it were tried now: {}\n", explanation.now);
  if (!explanation.help.empty()) {
    const bool runs = explanation.of_gang && Runs(explanation);
    out += fmt::format("\nWhat would help{}, each by itself:\n", runs ? " one more to start" : "");
    for (const std::string& help : explanation.help) out += fmt::format("  {}\n", help);
  }
  if (!explanation.others.empty()) {
    out += fmt::format("\nOf that name there {} also {}\n",
                       explanation.others.size() == 1 ? "is" : "are", Some(explanation.others));
  }
  return out;
}

}  // namespace knx::observe
