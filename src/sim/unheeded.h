// What the objects of a run ask for and no profile of its configuration does: said as warnings,
// with what to do, because without them a gang looks as if it had been started as one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/observer.h"

namespace knx::sim {

class Unheeded : public engine::Observer {
 public:
  void OnIgnored(const cluster::State& state, cluster::PodId pod, engine::Ignored what) override;

  [[nodiscard]] std::vector<std::string> Texts() const;

 private:
  struct Pods {
    std::string first;
    std::size_t others = 0;
  };
  std::map<std::pair<engine::Ignored, std::string>, Pods> pods_;  // and by profile
};

// There are ResourceReservations, and no profile that holds room for them.
std::string UnheededReservations();

}  // namespace knx::sim
