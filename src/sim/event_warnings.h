// What the scheduler warned of in events about pods, in a few lines for the account of a run: who
// reads that need not look for it in the log.
#pragma once

#include <string>
#include <vector>

#include "sim/event_book.h"

namespace knx::sim {

// A line for each thing that was said, of however many pods, and no more than a person reads. That
// a pod found no place is left out: whoever still waits is said to.
std::vector<std::string> WarningsIn(const EventBook& events);

}  // namespace knx::sim
