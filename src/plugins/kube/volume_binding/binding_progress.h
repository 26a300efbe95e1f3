// What has to be written for a plan, and what has become of it: judged by what the API server has
// told since, never by what was only assumed.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/state.h"
#include "framework/plugin.h"

namespace knx::plugins {

// Its writes; none if everything is written already. Without a timeout.
framework::Question QuestionOf(const cluster::Volumes& volumes, const cluster::VolumePlan& plan);

struct BindingProgress {
  enum class Kind : std::uint8_t { kUnderWay, kDone, kFailed };
  Kind kind = Kind::kUnderWay;
  std::string why;  // it failed
};

// After everything was written.
BindingProgress ProgressOf(const cluster::State& state, cluster::NodeRow node,
                           const cluster::VolumePlan& plan);

}  // namespace knx::plugins
