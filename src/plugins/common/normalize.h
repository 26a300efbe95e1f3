// From counts to scores between 0 and 100, as most of kube-scheduler's plugins do it.
#pragma once

#include <cstdint>

#include "framework/plugin.h"

namespace knx::plugins {

// The greatest gets 100, the others in proportion. All get 0 if none has anything.
inline std::int64_t MoreIsBetter(std::int64_t raw, framework::ScoreBounds bounds) {
  if (raw <= 0 || bounds.max <= 0) return 0;
  return framework::kMaxScore * raw / bounds.max;
}

// The greatest gets 0, none at all gets 100.
inline std::int64_t LessIsBetter(std::int64_t raw, framework::ScoreBounds bounds) {
  return framework::kMaxScore - MoreIsBetter(raw, bounds);
}

}  // namespace knx::plugins
