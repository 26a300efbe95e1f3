// Pods that make the other pods of their gang themselves, once they run: a Spark driver, the head
// of a Ray cluster. A gang that waited for all of its pods before it started one of them would wait
// for ever.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/state.h"
#include "k8s/objects.h"

namespace knx::engine {

// "cpu=4,memory=8Gi"; nullopt: it says nothing of the kind.
[[nodiscard]] std::optional<k8s::ResourceList> ReadExecutorResources(std::string_view text);

// What a driver is a run of, by which the next run is known: what made it, else what its labels
// call it, else its gang ("default/train").
[[nodiscard]] std::string JobOf(const k8s::ObjectMeta& driver, std::string_view gang);

// Who drives which gang, and what its executors will ask for as far as anybody says.
class Drivers {
 public:
  struct Driver {
    cluster::PodId pod;
    cluster::ResourceVector executor;  // empty: nobody says
    std::string places;                // the key of the reservation that is made for them
    std::string job;                   // that it is a run of
  };

  [[nodiscard]] bool empty() const { return by_gang_.empty(); }
  [[nodiscard]] const std::map<cluster::GangId, Driver>& all() const { return by_gang_; }
  // nullptr: it has none.
  [[nodiscard]] const Driver* Of(cluster::GangId gang) const;
  void Set(cluster::GangId gang, Driver driver) { by_gang_[gang] = std::move(driver); }
  void Remove(cluster::GangId gang) { by_gang_.erase(gang); }

  // What the executors of a run of the job asked for: those of the next are likely to be like them.
  void Remember(const std::string& job, cluster::ResourceVector executor);
  [[nodiscard]] cluster::ResourceVector Recall(const std::string& job) const;

 private:
  static constexpr std::size_t kMostRemembered = 10'000;  // the oldest are forgotten

  std::map<cluster::GangId, Driver> by_gang_;
  std::map<std::string, cluster::ResourceVector> past_;  // by job
  std::deque<std::string> past_jobs_;                    // in the order in which they came
};

}  // namespace knx::engine
