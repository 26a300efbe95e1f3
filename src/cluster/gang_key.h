// What tells a gang from all others.
#pragma once

#include <string>

#include "base/symbol.h"
#include "cluster/gang_declaration.h"

namespace knx::cluster {

struct GangKey {
  Symbol namespace_;
  GangSource source = GangSource::kPod;
  std::string name;
  friend bool operator==(const GangKey&, const GangKey&) = default;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

}  // namespace knx::cluster
