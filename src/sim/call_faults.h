// What goes wrong with the scheduler's requests to the API server, on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "scenario/call_fault.h"
#include "sim/random.h"

namespace knx::sim {

using scenario::Call;
using scenario::CallFault;

class CallFaults {
 public:
  explicit CallFaults(std::uint64_t seed) : random_(seed) {}

  void Add(CallFault fault, Time now);
  // The fault that strikes this request, if one does. The first that was added wins.
  std::optional<CallFault> Strike(Call call, const k8s::Pod& pod, Time now);
  [[nodiscard]] std::int64_t struck() const { return struck_; }

 private:
  struct Active {
    CallFault fault;
    Time until;
    std::int64_t left = 0;
  };
  std::vector<Active> active_;
  Random random_;
  std::int64_t struck_ = 0;
};

}  // namespace knx::sim
