// Asks the core, as it stands, why somebody waits and what would help: tries things on the state
// and takes them back. Decides and changes nothing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state.h"
#include "engine/gang_inquiry.h"
#include "engine/wait_inquiry.h"

namespace knx::engine {

class Core;

class Inquirer {
 public:
  explicit Inquirer(Core& core);

  // Of a waiting pod of ours, whether it is in a gang or not; nullopt: it is not one.
  std::optional<PodInquiry> OfPod(std::string_view uid);
  // Of the gang of a waiting pod of ours; nullopt: the pod is in none, or nobody of it could start.
  std::optional<GangInquiry> OfGang(std::string_view uid);

 private:
  using Fits = std::function<bool()>;

  // What is known of a plan without places.
  void Explain(cluster::GangId id, GangPlanner& planner, const GangPlan& plan,
               GangInquiry& inquiry);
  // The domain in which most fit is where help is looked for.
  void ExplainDomains(cluster::GangId id, const GangPlan& plan, const GangCount& count,
                      GangInquiry& inquiry);
  void ListUnplaced(std::span<const cluster::PodId> members, GangPlanner& planner,
                    GangInquiry& inquiry);
  struct Wanted {
    std::span<const cluster::PodId> members;
    std::size_t needed = 1;
  };
  void FindHelp(const Wanted& wanted, const GangCount& count,
                std::span<const cluster::ResourceId> scarce, GangPlanner& planner, Wait& wait);
  void ListTooLarge(const GangCount& count, Wait& wait) const;
  // Reservations for others without one of which it would fit.
  void FindReserved(const Fits& fits, Wait& wait);
  // What the queue, the book of promises and that of evictions say. `gang` may be invalid.
  void DescribeWait(cluster::PodId id, cluster::GangId gang, Wait& wait);
  void DescribePromises(cluster::PodId id, cluster::GangId gang, Wait& wait);
  [[nodiscard]] std::string NameOf(cluster::PodId pod) const;

  Core& core_;
  cluster::State& state_;
};

}  // namespace knx::engine
