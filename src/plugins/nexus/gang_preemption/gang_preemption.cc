#include "plugins/nexus/gang_preemption/gang_preemption.h"

#include "plugins/common/args.h"

namespace knx::plugins {

Result<std::unique_ptr<framework::Plugin>> GangPreemption::Make(const framework::PluginArgs& args) {
  framework::GangPreemptionArgs read;
  constexpr std::int64_t kMostCooldown = 86'400;
  std::int64_t cooldown = read.cooldown.ns / Duration::Seconds(1).ns;
  KNX_TRY_DONE(ReadArgs(args, "GangPreemptionArgs", [&](k8s::FieldReader& fields) {
    fields.Read("cooldownSeconds", cooldown, k8s::IntegerLimits{.min = 0, .max = kMostCooldown});
  }));
  read.cooldown = Duration::Seconds(cooldown);
  return std::unique_ptr<framework::Plugin>(std::make_unique<GangPreemption>(read));
}

}  // namespace knx::plugins
