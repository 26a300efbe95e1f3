// Making the core, and looking at it.
#include "engine/core.h"

#include <fmt/format.h>

#include "engine/importance.h"

namespace knx::engine {

using cluster::PodId;

Core::Core(EngineOptions options, std::vector<framework::Profile> profiles)
    : options_(std::move(options)),
      profiles_(std::move(profiles)),
      judge_(state_, profiles_, gangs_),
      queue_(options_.queue, judge_, options_.observer),
      placer_(state_, options_),
      gang_extenders_(
          state_, options_, [this](PodId member) { return NodesInQuestion(member); },
          [this](AskExtender ask) { return Emit(std::move(ask)); }),
      driven_({state_, gangs_, reservations_, drivers_,
               [this](cluster::GangId id) { return NeededBy(id); }}),
      lent_(state_, reservations_, [this](PodId id) { return ReservationsFor(id); }) {
  // The configuration sees to it that those of all profiles are the same.
  for (const framework::Profile& profile : profiles_) {
    if (profile.classifier) state_.SetProfileRules(&profile.classifier->plugin->profile_rules());
    if (!profile.gangs) state_.PlaceByItself(profile.scheduler_name);
    if (profile.gangs && profile.gangs->plugin->gang_args().operator_gangs) {
      state_.SetOperatorGangs(cluster::OperatorGangs::kRead);
    }
  }
  for (std::size_t i = 0; i < profiles_.size() && !reserving_; ++i) {
    if (profiles_[i].reservations) reserving_ = i;
  }
  if (reserving_) {
    placer_.SetSpared([this](PodId id) { return driven_.IsForming(id); });
    placer_.SetExpectedBack(
        [this](PodId id, PodId other) { return driven_.IsExpectedBack(id, other); });
  }
  placer_.SetGivesWay([this](PodId comer, PodId evicted) {
    const auto& plugin = ProfileOf(comer).gang_preemption;
    const Duration cooldown = plugin->plugin->gang_preemption_args().cooldown;
    return GivesWay(state_.pod(evicted), cooldown, decided_at_);
  });
  SwitchOnBackfill();
}

PodStanding Core::Standing(std::string_view uid) const {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid()) return PodStanding::kUnknown;
  if (const auto flight = flights_.find(id); flight != flights_.end()) {
    return flight->second.step == FlightStep::kBind ? PodStanding::kBinding : PodStanding::kPaused;
  }
  if (rounds_.Contains(id)) return PodStanding::kPaused;
  if (state_.pod(id).node.valid()) return PodStanding::kBound;
  return IsOurs(id) ? PodStanding::kWaiting : PodStanding::kNotOurs;
}

bool Core::IsWanted(ActionId binding) const {
  const auto awaited = awaited_.find(binding);
  if (awaited == awaited_.end()) return false;
  const PodId id = awaited->second;
  return state_.pod(id).assumed && !IsCrowdedOut(id, flights_.at(id));
}

std::string Core::WhyWaiting(std::string_view uid) const {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid()) return {};
  if (queue_.Get(id).place == QueuePlace::kGated) {
    // A gate that is open by now is asked again soon; until then the last attempt says why.
    if (std::string reason = judge_.GateReason(id); !reason.empty()) return reason;
  }
  const auto condition = conditions_.find(id);
  if (condition != conditions_.end()) return condition->second.message;
  const cluster::GangId gang = GangOf(id);
  return gang.valid() ? fmt::format("pod group {} waits for its turn", GangName(state_, gang)) : "";
}

std::optional<Inquiry> Core::Inquire(std::string_view uid) {
  const PodId id = state_.pods().Find(uid);
  if (!id.valid() || state_.pod(id).node.valid() || !IsOurs(id)) return std::nullopt;
  return placer_.Inquire(ProfileOf(id), id);
}

std::optional<std::string> Core::Verify() const {
  if (auto difference = state_.Verify()) return difference;
  if (auto difference = queue_.Verify()) return difference;
  if (backfill_ != nullptr) {
    if (auto difference = backfill_->times().Verify()) return difference;
  }
  std::size_t on_their_way = 0;
  for (std::uint32_t i = 0; i < state_.pods().id_limit(); ++i) {
    const PodId id{i};
    if (!state_.pods().Contains(id)) continue;
    const cluster::Pod& pod = state_.pod(id);
    const auto flight = flights_.find(id);
    if (flight != flights_.end()) {
      ++on_their_way;
      if (!pod.node.valid()) return fmt::format("pod {}: on its way to no node", pod.name);
      if (flight->second.action == 0 || !awaited_.contains(flight->second.action)) {
        return fmt::format("pod {}: on its way, but waits for nothing", pod.name);
      }
    } else if (!pod.node.valid() && !pod.terminating && IsOurs(id) && !queue_.Contains(id)) {
      return fmt::format("pod {}: neither bound nor queued nor on its way", pod.name);
    } else if (pod.node.valid() && queue_.Contains(id)) {
      return fmt::format("pod {}: has a node and is queued", pod.name);
    }
    if (pod.making_room && !evictions_.PlanFor(id)) {
      return fmt::format("pod {}: waits for evictions that are over", pod.name);
    }
  }
  for (const PodId id : queue_.List(QueuePlace::kInFlight)) {
    if (!flights_.contains(id) && !rounds_.Contains(id)) {
      return fmt::format("pod {}: being decided about, but waits for nothing", state_.pod(id).name);
    }
  }
  if (auto difference = rounds_.Verify([](PodId) { return false; })) return difference;
  const auto has_its_turn = [this](cluster::GangId gang) {
    const WaitingGang* const waiting = gangs_.Find(gang);
    return waiting != nullptr && waiting->stands.valid();
  };
  if (auto difference = gang_extenders_.Verify(has_its_turn)) return difference;
  if (auto difference = VerifyGangs()) return difference;
  if (auto difference = VerifyReservations()) return difference;
  if (on_their_way != flights_.size()) return "a pod that is gone is still on its way";
  if (awaited_.size() != flights_.size()) return "an answer is awaited that no pod waits for";
  return std::nullopt;
}

std::optional<std::string> Core::VerifyCaches() {
  for (const ClassCaches::Key& key : placer_.CachedClasses()) {
    const cluster::ClassId id = key.first;
    if (state_.classes().Get(id).pods == 0) continue;
    for (const framework::Profile& profile : profiles_) {
      if (profile.scheduler_name != state_.classes().Get(id).spec.scheduler_name) continue;
      if (auto difference = placer_.VerifyClass(profile, key)) return difference;
    }
  }
  return std::nullopt;
}

Engine::Bytes Core::bytes() const {
  Engine::Bytes bytes;
  bytes.state = state_.bytes();
  bytes.queue = queue_.bytes();
  bytes.caches = placer_.bytes();
  return bytes;
}

}  // namespace knx::engine
