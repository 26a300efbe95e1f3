// Drives the core on a real cluster, from one thread: tells it what the watches say, lets it
// decide, and carries out what it wants done. The counterpart of sim/ in real time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "client/binding_writer.h"
#include "client/discovery.h"
#include "client/event_recorder.h"
#include "client/pod_group_writer.h"
#include "client/pod_writer.h"
#include "client/reflector.h"
#include "client/reservation_writer.h"
#include "client/volume_writer.h"
#include "engine/engine.h"
#include "framework/profile.h"
#include "live/extender_calls.h"
#include "live/narrator.h"
#include "live/shadow.h"
#include "live/state_check.h"
#include "live/steady_clock.h"
#include "net/event_loop.h"
#include "observe/log.h"
#include "observe/scheduler_metrics.h"

namespace knx::live {

class Scheduler {
 public:
  struct Options {
    engine::EngineOptions engine;
    std::string host;  // events are reported by "<scheduler name>-<host>"
    observe::Log& log;
    observe::SchedulerMetrics& metrics;
    ExtenderCalls* extenders = nullptr;  // of engine.extenders; none needed if there are none
    // Decide nothing, compare what another scheduler decides, and report it here.
    observe::ShadowReport* shadow = nullptr;
  };
  Scheduler(net::EventLoop& loop, client::ApiClient& api, std::vector<framework::Profile> profiles,
            Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Begins to watch.
  void Start();
  // Decides and writes from now on, once everything that is there is known. What was watched before
  // is looked at anew: it may lack the last things that another leader did.
  void Lead();
  // Everything that is there was told at least once.
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] const engine::Engine& engine() const { return engine_; }
  // What was sent and not answered yet, and bindings of which nobody knows what became of them.
  [[nodiscard]] std::size_t outstanding() const {
    return api_.urgent_calls() + api_.put_off() + bindings_.uncertain() +
           (options_.extenders == nullptr ? 0 : options_.extenders->outstanding());
  }
  // Says in the log what waits, and whether what we know is what the API server says.
  void CheckState();
  // Decides nothing more; what was sent is still answered.
  void Drain() { draining_ = true; }

 private:
  void OnUpserted(k8s::Object object);
  void OnGone(const k8s::Object& object);
  void OnRefused(const k8s::RefusedObject& object, bool news);
  void OnSynced();
  void Tell(const engine::Event& event);
  void PlanSlice();
  void Slice();
  void AfterCall();
  void ArmWake();
  void WatchLag();

  void CarryOut(engine::ActionId id, const engine::BindPod& bind);
  void CarryOut(engine::ActionId id, const engine::PatchPodStatus& patch);
  void CarryOut(engine::ActionId id, const engine::ClearNomination& clear);
  void CarryOut(engine::ActionId id, const engine::PlanEvictions& plan);
  void CarryOut(engine::ActionId id, const engine::EvictPod& evict);
  void CarryOut(engine::ActionId id, const engine::RecordEvent& event);
  void Record(client::PodEvent record);
  void CarryOut(engine::ActionId id, const engine::AskOutside& ask);
  void CarryOut(engine::ActionId id, const engine::AskExtender& ask);
  void CarryOut(engine::ActionId id, const engine::BindByExtender& bind);
  void CarryOut(engine::ActionId id, const engine::PatchReservation& patch);
  void CarryOut(engine::ActionId id, const engine::PatchPodGroup& patch);
  void WriteVolumes(engine::ActionId id, std::vector<framework::VolumeWrite> writes,
                    std::size_t next);
  void Finished(engine::ActionId id, const Status& outcome);
  [[nodiscard]] engine::EngineOptions ObservedOptions();

  net::EventLoop& loop_;
  client::ApiClient& api_;
  client::PodWriter pods_;
  client::BindingWriter bindings_;
  client::EventRecorder events_;
  client::VolumeWriter volumes_;
  client::ReservationWriter reservations_;
  client::PodGroupWriter groups_;
  Options options_;
  SteadyClock clock_;
  Narrator narrator_;
  engine::Engine engine_;
  std::optional<Shadow> shadow_;
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;
  client::Discovery discovery_;
  std::unique_ptr<StateCheck> check_;
  bool leading_ = false, synced_ = false, slice_planned_ = false, draining_ = false;
  bool up_to_date_ = false;  // synced since we began to lead
  net::EventLoop::TimerId wake_, lag_;
  Time armed_ = kNever;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::live
