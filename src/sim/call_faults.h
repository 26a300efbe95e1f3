// What goes wrong with the scheduler's requests to the API server, on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/pod_selection.h"
#include "sim/random.h"

namespace knx::sim {

enum class Call : std::uint8_t { kBind, kStatus, kEvict };

struct CallFault {
  enum class Kind : std::uint8_t {
    kRefuse,      // not done, and answered with the error
    kTimeout,     // not done, and answered with the error after the delay
    kAnswerLost,  // done, but answered with the error after the delay
    kNoAnswer,    // done, and never answered
    kVanish,      // not done, and never answered
    kSlow,        // done after the delay
  };
  Call call = Call::kBind;
  Kind kind = Kind::kRefuse;
  PodSelection pods;
  std::string error;  // empty: what is usual for the kind
  Duration delay;
  std::optional<std::int64_t> count;  // so often; unset: always
  std::optional<Duration> lasts;      // so long; unset: for ever
  double percent = 100;               // of the requests that it could strike
};

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
