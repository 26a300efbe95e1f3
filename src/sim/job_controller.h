// Jobs: so many pods at a time until so many have succeeded, indexed or not. A failed pod is
// replaced after a back-off; after too many failures, or past its deadline, the Job gives up. A Job
// that comes with a status goes on from there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenario/timing.h"
#include "sim/agenda.h"
#include "sim/api_server.h"
#include "sim/store.h"

namespace knx::sim {

class JobController : public StoreListener {
 public:
  JobController(Agenda& agenda, Store& store, ApiServer& api, const Timing& timing);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Job>& write) override;

  [[nodiscard]] const std::map<std::string, std::string>& complaints() const { return complaints_; }
  // Jobs with pods that run and that nothing will ever end, by name.
  [[nodiscard]] std::vector<std::string> Endless() const;

 private:
  // What is known of a Job's pods. Pods may be deleted; what they achieved stays.
  struct Progress {
    std::string key;
    std::set<std::string> succeeded, failed;  // uids
    // Pods of its status that are not there any more.
    std::int64_t succeeded_before = 0, failed_before = 0;
    bool resumed = false;  // its status has been looked at
    std::set<std::int32_t> done_indexes;
    Time retry_at;
    bool over = false;

    [[nodiscard]] std::int64_t all_succeeded() const {
      return succeeded_before + static_cast<std::int64_t>(succeeded.size());
    }
    [[nodiscard]] std::int64_t all_failed() const {
      return failed_before + static_cast<std::int64_t>(failed.size());
    }
  };
  struct Census {
    std::int64_t active = 0, leaving = 0;
    std::set<std::int32_t> taken_indexes;
  };

  void Enqueue(const std::string& key);
  void Reconcile(const std::string& key);
  void Count(const k8s::Job& job, Progress& progress, Census& census);
  static void Resume(const k8s::Job& job, Progress& progress);
  void GiveUp(const k8s::Job& job, Progress& progress);
  void CreatePods(const k8s::Job& job, const Progress& progress, Census census);
  bool CreatePod(const k8s::Job& job, std::optional<std::int32_t> index);
  void DeletePods(const std::string& uid, bool finished_too);

  Agenda& agenda_;
  Store& store_;
  ApiServer& api_;
  const Timing& timing_;
  std::set<std::string> pending_;
  std::map<std::string, Progress> progress_;       // by the Job's uid
  std::map<std::string, std::string> complaints_;  // owner: why
};

}  // namespace knx::sim
