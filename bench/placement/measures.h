// What the published tables measure.
#pragma once

#include <cstdint>

#include "replay.h"
#include "traces.h"

namespace knx::bench {

// How much longer a job took than it ran, on average; of a job shorter than 10 s as if it ran 10 s,
// and never less than 1.
double MeanBoundedSlowdown(const Jobs& jobs, const Outcome& outcome);
// The share of the machine that was in use from the first job to the end.
double Utilisation(const Jobs& jobs, const Machine& machine, const Outcome& outcome);

// From submission to end, seconds.
double MeanCompletion(const Jobs& jobs, const Outcome& outcome);
// No schedule is better: the mean run time, or what a single machine as fast as all together needs
// that always works on the job with the least left, whichever is more.
double CompletionBound(const Jobs& jobs, const Machine& machine);
// Of jobs of more than `above` and at most `most`, seconds; 0 if there are none.
double MeanWait(const Jobs& jobs, const Outcome& outcome, std::int32_t above, std::int32_t most);

}  // namespace knx::bench
