// What a run printed, for people (a table), for machines (JSON) and to look at (a plot).
#pragma once

#include <string>
#include <vector>

#include "measure.h"
#include "workload.h"

namespace knx::bench {

// The median of the repetitions, with how far they lie apart.
struct Row {
  Workload workload;
  Measurement median;
  double spread_percent = 0;  // (fastest - slowest) / median, of per_second
};

Row Summarise(const Workload& workload, std::vector<Measurement> runs);

std::string TableHeader();
std::string TableLine(const Row& row);
std::string ToJson(const std::vector<Row>& rows, const std::string& machine,
                   const std::string& commit, double seconds);
// Cost per pod over the number of nodes, of the rows named plain/...
std::string CostPlot(const std::vector<Row>& rows);
// "2 cores, 24 GB, Xeon ..."
std::string DescribeMachine();

}  // namespace knx::bench
