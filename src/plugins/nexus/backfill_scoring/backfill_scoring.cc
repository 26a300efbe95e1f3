#include "plugins/nexus/backfill_scoring/backfill_scoring.h"

#include "plugins/common/args.h"

namespace knx::plugins {

using framework::EventKind;

Result<std::unique_ptr<framework::Plugin>> BackfillScoring::Make(
    const framework::PluginArgs& args) {
  framework::BackfillArgs read;
  // A year: longer is no run time, and sums of times stay small.
  constexpr std::int64_t kMostSeconds = 31'536'000;
  constexpr std::int64_t kMostPatience = 1'000'000;
  constexpr std::int32_t kMostPromises = 1'000;
  constexpr std::int32_t kMostTried = 10'000;
  auto patience = static_cast<std::int64_t>(read.patience);
  std::int64_t assumed = read.assumed_run.ns / Duration::Seconds(1).ns;
  KNX_TRY_DONE(ReadArgs(args, "BackfillScoringArgs", [&](k8s::FieldReader& fields) {
    fields.ReadEnum<framework::BackfillMode>(
        "mode", read.mode,
        {{"easy", framework::BackfillMode::kEasy},
         {"conservative", framework::BackfillMode::kConservative}});
    fields.ReadEnum<framework::BackfillOrder>("order", read.order,
                                              {{"fcfs", framework::BackfillOrder::kFcfs},
                                               {"sjf", framework::BackfillOrder::kSjf},
                                               {"best", framework::BackfillOrder::kBest}});
    fields.Read("patience", patience, k8s::IntegerLimits{.min = 0, .max = kMostPatience});
    fields.Read("holdPromises", read.hold_promises);
    fields.Read("shareNodes", read.share_nodes);
    fields.Read("sharedNodesTried", read.shared_nodes_tried,
                k8s::IntegerLimits{.min = 0, .max = kMostTried});
    fields.Read("assumedRunSeconds", assumed, k8s::IntegerLimits{.min = 1, .max = kMostSeconds});
    fields.Read("promises", read.promises, k8s::IntegerLimits{.min = 1, .max = kMostPromises});
  }));
  read.patience = static_cast<double>(patience);
  read.assumed_run = Duration::Seconds(assumed);
  return std::unique_ptr<framework::Plugin>(std::make_unique<BackfillScoring>(read));
}

framework::EventSet BackfillScoring::events() const {
  return {EventKind::kAssignedPodDelete,
          EventKind::kUnassignedPodDelete,
          EventKind::kAssignedPodScaleDown,
          EventKind::kNodeAdd,
          EventKind::kNodeAllocatable,
          EventKind::kNodeLabel,
          EventKind::kNodeTaint};
}

}  // namespace knx::plugins
