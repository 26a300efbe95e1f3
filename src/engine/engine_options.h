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
  // For tests alone, and nothing that is read sets it: members of a gang that does not fit keep the
  // places that were found for some of them, and go there. Shows that the tests of gangs see it.
  bool halves_gangs = false;
};

// As a configuration file says.
EngineOptions OptionsFor(const framework::SchedulerConfiguration& config);

}  // namespace knx::engine
