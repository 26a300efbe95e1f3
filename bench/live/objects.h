// The nodes and pods of a live run, as the JSON in which they are created.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::bench {

// As in kube-scheduler's own benchmark, where it has them.
enum class LiveKind { kPlain, kSpread, kAffinity, kPreemption, kGang };

struct LiveShape {
  LiveKind kind = LiveKind::kPlain;
  int members = 1;  // of a gang
};

// "gang-8" is gangs of 8.
Result<LiveShape> LiveShapeOf(std::string_view name);

inline constexpr std::string_view kMeasured = "bench", kPresent = "bench-present";

std::string NodeNameOf(int i);
std::string PodNameOf(int i);
std::string PresentPodNameOf(int i);

std::string NamespaceJson(std::string_view name);
// What the more important pods of the preemption refer to.
std::string PriorityClassJson();
// The PodGroup by which the members of a gang start together.
std::string PodGroupJson(LiveShape shape, int i);
std::string NodeJson(LiveShape shape, int i);
// A pod that is to be placed.
std::string PodJson(LiveShape shape, int i);
// A pod that is on a node when the run begins.
std::string PresentPodJson(LiveShape shape, int i, int nodes);

std::string PodGroupsPath();
std::string NodeStatusPath(int i);
std::string PodStatusPath(int i);
std::string PresentPodPath(int i);
std::string PresentPodStatusPath(int i);
// Patches of statuses, each different from the one before.
std::string SignOfLifeJson(int count);
std::string ReadinessJson(int count, bool ready);
// What preemption writes of the pod that needs room, and of one that makes it.
std::string NominationJson(std::string_view node);
std::string DisruptionJson();

}  // namespace knx::bench
