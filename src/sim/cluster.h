// The embedded cluster: API server, controllers, kubelets and a scheduler in virtual time. Whoever
// has one creates objects, makes things happen, and lets time pass step by step; after every step
// the invariants are checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/budgets.h"
#include "sim/ephemeral_volumes.h"
#include "sim/input_remarks.h"
#include "sim/job_controller.h"
#include "sim/kubelets.h"
#include "sim/node_lifecycle.h"
#include "sim/scheduler_driver.h"
#include "sim/simulation.h"
#include "sim/store.h"
#include "sim/volume_controller.h"
#include "sim/workload_controller.h"

namespace knx::sim {

// When every run begins: 2026-01-01T00:00:00Z.
inline constexpr Time kBegin{1'767'225'600'000'000'000};

// Pods ever created, placed and so on.
class Tally : public StoreListener {
 public:
  explicit Tally(Store& store) { store.Listen(*this); }
  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;

  std::int64_t created = 0, placed = 0, succeeded = 0, failed = 0, deleted = 0;
  std::int64_t waiting = 0, running = 0;  // now
};

struct ClusterOptions {
  std::uint64_t seed = 1;
  Timing timing;
  Checking checking = Checking::kAsInTests;
  bool keep_log = true;
  SchedulerSetup scheduler;
};

class Cluster {
 public:
  explicit Cluster(ClusterOptions options);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  Agenda& agenda() { return agenda_; }
  Store& store() { return store_; }
  ApiServer& api() { return api_; }
  NodeLifecycle& node_lifecycle() { return node_lifecycle_; }
  SchedulerDriver& scheduler() { return scheduler_; }
  [[nodiscard]] const SchedulerDriver& scheduler() const { return scheduler_; }
  [[nodiscard]] const Store& store() const { return store_; }
  [[nodiscard]] const ApiServer& api() const { return api_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  InputRemarks& input_remarks() { return input_remarks_; }
  Random& random() { return random_; }

  [[nodiscard]] Duration now() const { return agenda_.now() - kBegin; }
  // Something else is due at this very instant.
  [[nodiscard]] bool MoreNow() const { return agenda_.Next() <= agenda_.now(); }
  // Does what is due next, if that is not after `limit`. False: nothing was; time is `limit` now.
  // Also false once an invariant is violated.
  bool Step(Duration limit);
  [[nodiscard]] const std::optional<Violation>& violation() const {
    return scheduler_.invariants_view().violation();
  }
  // Nothing would change any more, however long one waits.
  [[nodiscard]] bool Settled() const;
  // To be called where Settled() was true: what must hold then.
  void CheckSettled();
  // To be called when nothing will be done any more: what must hold at the end of a run.
  void CheckEnd();
  // What is odd about the input, objects that could not be made, and what cannot come to its end,
  // in words.
  [[nodiscard]] std::vector<std::string> Complaints() const;
  [[nodiscard]] SimulationProgress Progress() const;

 private:
  Timing timing_;
  Agenda agenda_;
  Random random_;
  Store store_;
  Tally tally_;
  InputRemarks input_remarks_;
  ApiServer api_;
  BudgetController budgets_;
  WorkloadController workloads_;
  JobController jobs_;
  VolumeController volumes_;
  EphemeralVolumes ephemeral_volumes_;
  Kubelets kubelets_;
  NodeLifecycle node_lifecycle_;
  SchedulerDriver scheduler_;
};

}  // namespace knx::sim
