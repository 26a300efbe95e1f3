// What a scenario lets go wrong with the scheduler's requests to the API server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "scenario/pod_selection.h"

namespace knx::scenario {

enum class Call : std::uint8_t { kBind, kStatus, kVolume, kEvict };

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

}  // namespace knx::scenario
