#include "engine/engine_options.h"

namespace knx::engine {

EngineOptions OptionsFor(const framework::SchedulerConfiguration& config) {
  EngineOptions options;
  options.queue.initial_backoff = Duration::Seconds(config.pod_initial_backoff_seconds);
  options.queue.max_backoff = Duration::Seconds(config.pod_max_backoff_seconds);
  options.extenders = framework::AskingOrder(config.extenders);
  return options;
}

}  // namespace knx::engine
