// Any text: it is refused with a message, or gives a configuration that holds what config.h
// promises.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "framework/profile_builder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace knx::framework;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const knx::Result<SchedulerConfiguration> config = ReadConfiguration(text, "fuzz.yaml");
  if (!config.ok()) {
    KNX_CHECK(!config.error().message.empty(), "a refusal says why");
    return 0;
  }
  KNX_CHECK(!config->profiles.empty() && config->profiles.size() <= kMaxProfiles,
            "there is a profile, and there are not too many");
  KNX_CHECK(config->pod_max_backoff_seconds >= config->pod_initial_backoff_seconds &&
                config->pod_initial_backoff_seconds > 0,
            "back-offs grow");
  for (const ProfileConfiguration& profile : config->profiles) {
    KNX_CHECK(!profile.scheduler_name.empty(), "a profile has a name");
    KNX_CHECK(profile.resolved.at(Point::kQueueSort).size() == 1, "one plugin orders the queue");
    KNX_CHECK(!profile.resolved.at(Point::kBind).empty(), "somebody binds");
    std::int64_t sum = 0;
    for (const ResolvedPlugin& entry : profile.resolved.at(Point::kScore)) {
      KNX_CHECK(entry.weight >= 1, "what scores weighs something");
      sum += entry.weight * kMaxScore;
    }
    KNX_CHECK(sum <= kMaxTotalScore, "a total score fits in 31 bits");
  }
  KNX_CHECK(BuildProfiles(*config, {}).ok(), "without plugins nothing can be refused");
  KNX_CHECK(!Warnings(*config, {}).empty(), "without plugins nothing has an effect");
  return 0;
}
