// Pods that make the other pods of their gang themselves, once they run: a Spark driver, the head
// of a Ray cluster. A gang that waited for all of its pods before it started one of them would wait
// for ever.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "k8s/objects.h"

namespace knx::engine {

// "cpu=4,memory=8Gi"; nullopt: it says nothing of the kind.
[[nodiscard]] std::optional<k8s::ResourceList> ReadExecutorResources(std::string_view text);

// What a driver is a run of, by which the next run is known: what made it, else what its labels
// call it, else its gang ("default/train").
[[nodiscard]] std::string JobOf(const k8s::ObjectMeta& driver, std::string_view gang);

// Who drives which gang, and what its executors will ask for as far as anybody says. Of several
// that say they do, the first does; the next takes over when it is gone.
class Drivers {
 public:
  struct Driver {
    cluster::PodId pod;
    cluster::ResourceVector executor;  // empty: nobody says
    std::string places;                // the key of the reservation that is made for them
    std::string job;                   // that it is a run of
    bool spared = false;               // from eviction, as far as was noticed
  };
  using Group = std::pair<std::string, std::string>;  // namespace and name

  [[nodiscard]] bool empty() const { return by_gang_.empty(); }
  [[nodiscard]] std::vector<cluster::GangId> Gangs() const;
  // Those of the group that have a driver.
  [[nodiscard]] std::vector<cluster::GangId> GangsOf(const Group& group) const;
  // nullptr: it has none.
  [[nodiscard]] const Driver* Of(cluster::GangId gang) const;
  // Says that it drives a gang, whether it is the first to do so or not.
  [[nodiscard]] bool Contains(cluster::PodId pod) const { return gang_by_pod_.contains(pod); }
  void Add(cluster::GangId gang, Group group, Driver driver);
  struct Gone {
    cluster::GangId gang;
    std::optional<Driver> driver;  // nullopt: another drives the gang
  };
  // nullopt: it was none.
  std::optional<Gone> Remove(cluster::PodId pod);
  // Gives what was so before.
  bool SetSpared(cluster::GangId gang, bool spared);

  // What the executors of a run of the job asked for: those of the next are likely to be like them.
  void Remember(const std::string& job, cluster::ResourceVector executor);
  [[nodiscard]] cluster::ResourceVector Recall(const std::string& job) const;

 private:
  static constexpr std::size_t kMostRemembered = 10'000;  // the oldest are forgotten

  struct Driven {
    Group group;
    std::vector<Driver> drivers;  // in the order in which they came; at least one
  };

  std::map<cluster::GangId, Driven> by_gang_;
  std::map<cluster::PodId, cluster::GangId> gang_by_pod_;
  std::map<Group, std::set<cluster::GangId>> by_group_;
  std::map<std::string, cluster::ResourceVector> past_;  // by job
  std::deque<std::string> past_jobs_;                    // in the order in which they came
};

}  // namespace knx::engine
