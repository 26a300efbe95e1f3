// What an engine is made with.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "engine/observer.h"
#include "engine/parallel_for.h"
#include "engine/queue.h"
#include "framework/config.h"

namespace knx::engine {

struct EngineOptions {
  Queue::Options queue;
  // What classes of pods may remember about nodes; the least recently used forgets first. A class
  // takes about 13 bytes a node, so the second number is how many classes fit, times that.
  std::size_t cache_bytes = std::size_t{32} << 20;
  std::size_t cache_bytes_per_node = 1300;
  // Runs everything in the calling thread if it is not set.
  ParallelFor parallel_for;
  // In the order in which they are asked (framework::AskingOrder).
  std::vector<framework::Extender> extenders;
  // A paused cycle, or a binding nobody reported on, is given up after this.
  Duration max_wait = Duration::Minutes(15);
  // Is told what happens inside; nullptr: nobody. Outlives the engine.
  Observer* observer = nullptr;
};

// As a configuration file says.
EngineOptions OptionsFor(const framework::SchedulerConfiguration& config);

}  // namespace knx::engine
