// What a pod tells the fake kubelet to do with it (annotations.h), read.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "k8s/objects.h"

namespace knx::scenario {

struct PodScript {
  std::optional<Duration> run_for;  // without it, until it is deleted
  k8s::PodPhase ends_as = k8s::PodPhase::kSucceeded;
  // Why a resize in place is not done, as in the condition PodResizePending; empty: it is done.
  std::string_view resize_refusal;
};
Result<PodScript> ScriptOf(const k8s::ObjectMeta& meta);

}  // namespace knx::scenario
