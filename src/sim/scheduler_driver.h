// Drives the scheduler: tells it what happens, lets it decide, carries out what it wants done and
// reports back, with faults on the way if there are any. The counterpart of live/ in virtual time.
//
// Everything the scheduler asks for is answered, or, where a fault says otherwise, given up by the
// scheduler itself after its longest wait. Requests of a scheduler that was restarted still arrive;
// their answers reach nobody.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "observe/decision_log.h"
#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/call_faults.h"
#include "sim/event_book.h"
#include "sim/invariants.h"
#include "sim/saboteur.h"
#include "sim/store.h"
#include "sim/told_view.h"
#include "sim/watch.h"

namespace knx::sim {

struct SchedulerSetup {
  engine::EngineOptions engine;
  // Made anew for every start.
  std::function<std::vector<framework::Profile>()> make_profiles;
  std::function<void(std::string_view line)> record;  // may be empty
  Saboteur* saboteur = nullptr;
};

class SchedulerDriver : public StoreListener {
 public:
  SchedulerDriver(Agenda& agenda, Time begin, Store& store, ApiServer& api, const Timing& timing,
                  std::uint64_t seed, bool keep_log, Checking checking, SchedulerSetup setup);

  // A new scheduler gets lists that are `age` old, pods first if so wished, and begins to decide.
  struct StartOptions {
    Duration age;
    bool pods_first = false;
  };
  void Start(const StartOptions& options);
  void Stop();

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override { pods_.OnWrite(write); }
  void OnWrite(const Write<k8s::Node>& write) override { nodes_.OnWrite(write); }

  void OnWrite(const Write<k8s::Namespace>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::Service>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::Workload>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::PodDisruptionBudget>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::PersistentVolumeClaim>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::PersistentVolume>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::StorageClass>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::CsiNode>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::CsiDriver>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::CsiStorageCapacity>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::VolumeAttachment>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::PodGroup>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::GroupWorkload>& write) override { OnOther(write); }
  void OnWrite(const Write<k8s::ResourceReservation>& write) override { OnOther(write); }

  [[nodiscard]] Watch<k8s::Pod>& pods() { return pods_; }
  [[nodiscard]] Watch<k8s::Node>& nodes() { return nodes_; }
  [[nodiscard]] CallFaults& faults() { return faults_; }
  [[nodiscard]] Invariants& invariants() { return invariants_; }
  [[nodiscard]] const Invariants& invariants_view() const { return invariants_; }
  [[nodiscard]] const observe::DecisionLog& log() const { return log_; }
  [[nodiscard]] const EventBook& events() const { return events_; }
  [[nodiscard]] const ToldView& told() const { return told_; }
  [[nodiscard]] engine::Engine* engine() { return engine_.get(); }  // nullptr: not running

  struct Counts {
    std::int64_t binds = 0, failures = 0, bind_failures = 0, restarts = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // After every entry of the agenda.
  void AfterStep();
  // It has been told everything.
  [[nodiscard]] bool Current() const;
  // It has been told everything, waits for no answer and for no time to pass.
  [[nodiscard]] bool Settled() const;

 private:
  // Kinds without faults of their own: told as late as the others, never lost.
  template <class T>
  void OnOther(const Write<T>& write) {
    if (engine_ == nullptr) return;
    engine::Event event = write.after
                              ? engine::Event(engine::ObjectUpserted{k8s::Object(*write.after)})
                              : engine::Event(engine::ObjectDeleted{k8s::Object(*write.before)});
    agenda_.After(timing_.watch, [this, life = life_, told = std::move(event)] {
      if (life == life_) Tell(told);
    });
  }
  template <class... T>
  void ListOthers() {
    const auto list = [this]<class Kind>(const Store::Table<Kind>& table) {
      for (const auto& [key, object] : table) Tell(engine::ObjectUpserted{k8s::Object(*object)});
    };
    (list(store_.All<T>()), ...);
  }
  void Tell(engine::Event event);
  // Takes the actions and sees to it that the scheduler is asked again in time.
  void AfterCall();
  // Counts the attempt, and tells the invariants if the pod has a place and is not bound yet.
  void NoteDecision();
  void NoteHeldBack(cluster::PodId id, bool together);
  void PlanSlice();
  void Slice(std::uint64_t life);
  void ArmWake();
  void Wake(Time armed, std::uint64_t life);

  // Every change up to this version has been told.
  [[nodiscard]] std::uint64_t told_version() const {
    return std::min(pods_.told_version(), nodes_.told_version());
  }
  void CarryOut(const engine::Action& action);
  void CarryOut(engine::ActionId id, const engine::BindPod& bind);
  void CarryOut(engine::ActionId id, const engine::PatchPodStatus& patch);
  void CarryOut(engine::ActionId id, const engine::ClearNomination& clear);
  void CarryOut(engine::ActionId id, const engine::PlanEvictions& plan);
  void CarryOut(engine::ActionId id, const engine::EvictPod& evict);
  void CarryOut(engine::ActionId id, const engine::RecordEvent& event);
  void CarryOut(engine::ActionId id, const engine::AskOutside& ask);
  void CarryOut(engine::ActionId id, const engine::AskExtender& ask);
  void CarryOut(engine::ActionId id, const engine::BindByExtender& bind);
  void CarryOut(engine::ActionId id, const engine::PatchReservation& patch);
  void CarryOut(engine::ActionId id, const engine::PatchPodGroup& patch);
  // `work` is done at the API server; its outcome comes back to `done`, unless the scheduler is
  // another by then. `fault` says what goes wrong.
  void Request(const std::optional<CallFault>& fault, std::function<Status()> work,
               std::function<void(const Status&)> done);
  void Answer(engine::ActionId id, const Status& status);
  void Record(const engine::Event& event);
  void RecordCall(std::string_view call);

  Agenda& agenda_;
  Time begin_;
  Store& store_;
  ApiServer& api_;
  const Timing& timing_;
  SchedulerSetup setup_;
  Watch<k8s::Pod> pods_;
  Watch<k8s::Node> nodes_;
  CallFaults faults_;
  ToldView told_;
  Invariants invariants_;
  observe::DecisionLog log_;
  EventBook events_;
  Counts counts_;

  std::unique_ptr<engine::Engine> engine_;
  std::uint64_t life_ = 0;  // grows with every start and stop: what is meant for another is void
  std::int64_t calls_in_flight_ = 0;
  std::set<engine::ActionId> bindings_;                 // unanswered
  std::map<engine::ActionId, engine::PodRef> patches_;  // of conditions, unanswered
  std::set<engine::ActionId> evictions_;                // unanswered
  bool ever_started_ = false;
  bool slice_planned_ = false;
  bool synced_ = false;
  Time armed_ = kNever;
};

}  // namespace knx::sim
