// Published traces of jobs that waited for a machine. Their files are somebody else's and are never
// part of this repository: the folder they lie in is an argument.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::bench {

// Wants `size` processors or GPUs at once, for so long.
struct Job {
  Duration submitted;  // since the trace began
  Duration run;
  std::int32_t size = 0;
};

// In the order in which they were submitted.
using Jobs = std::vector<Job>;

// The Standard Workload Format; read as the published table was: jobs without a run time are left
// out, and the run time is taken for what the user asked for if nothing is said about that.
Result<Jobs> ReadSwf(const std::string& path);

// Lines of comma separated values, with names in the first of them. `only`: of a column, where not
// all lines count.
struct Columns {
  std::string submitted, size, run;
  std::int64_t per_second = 1;          // of the times of submission
  std::int64_t run_per_second = 1;      // of the run times
  std::string column = {}, value = {};  // only lines that say so
};
Result<Jobs> ReadCsv(const std::string& path, const Columns& columns);

}  // namespace knx::bench
