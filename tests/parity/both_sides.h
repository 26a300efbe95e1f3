// Asks kube-scheduler's code and ours the same thing.
#pragma once

#include <optional>

#include "case.h"
#include "compare.h"
#include "oracle_process.h"

namespace knx::parity {

class BothSides {
 public:
  explicit BothSides(OracleProcess oracle) : oracle_(std::move(oracle)) {}

  Result<std::optional<Difference>> Ask(const Case& asked);
  [[nodiscard]] const Shares& shares() const { return shares_; }

 private:
  OracleProcess oracle_;
  Shares shares_;
};

// The smallest case that is still different, as far as leaving out objects can make it.
Result<Case> Shrink(Case different, BothSides& sides);

// As a file for `kubenexus simulate` and tests/scenarios.
std::string ScenarioText(const Case& asked, const Difference& difference);

}  // namespace knx::parity
