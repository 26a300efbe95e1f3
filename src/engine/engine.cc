#include "engine/engine.h"

#include "engine/core.h"
#include "engine/inquirer.h"

namespace knx::engine {

Engine::Engine(EngineOptions options, std::vector<framework::Profile> profiles)
    : core_(std::make_unique<Core>(std::move(options), std::move(profiles))) {}
Engine::~Engine() = default;

void Engine::Handle(const Event& event, Time now) { core_->Handle(event, now); }
bool Engine::ScheduleOne(Time now) { return core_->ScheduleOne(now); }
cluster::PodId Engine::decided() const { return core_->decided(); }
void Engine::Advance(Time now) { core_->Advance(now); }
Time Engine::NextWake() const { return core_->NextWake(); }
Time Engine::NextChange() const { return core_->NextChange(); }
std::vector<Action> Engine::TakeActions() { return core_->TakeActions(); }
const cluster::State& Engine::state() const { return core_->state(); }
const Queue& Engine::queue() const { return core_->queue(); }
const std::vector<framework::Profile>& Engine::profiles() const { return core_->profiles(); }
std::size_t Engine::preemptions() const { return core_->preemptions(); }
const ReservationBook& Engine::reservations() const { return core_->reservations(); }
Time Engine::NextPromisedStart() const { return core_->NextPromisedStart(); }
PodStanding Engine::Standing(std::string_view uid) const { return core_->Standing(uid); }
bool Engine::IsWanted(ActionId binding) const { return core_->IsWanted(binding); }
std::optional<Inquiry> Engine::Inquire(std::string_view uid) { return core_->Inquire(uid); }
std::optional<GangInquiry> Engine::InquireGang(std::string_view uid, GangQuestion question) {
  return Inquirer(*core_).OfGang(uid, question);
}
std::optional<PodInquiry> Engine::InquirePod(std::string_view uid) {
  return Inquirer(*core_).OfPod(uid);
}
std::string Engine::WhyWaiting(std::string_view uid) const { return core_->WhyWaiting(uid); }
std::optional<std::string> Engine::Verify() const { return core_->Verify(); }
std::optional<std::string> Engine::VerifyCaches() { return core_->VerifyCaches(); }
Engine::Bytes Engine::bytes() const { return core_->bytes(); }

}  // namespace knx::engine
