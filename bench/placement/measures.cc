#include "measures.h"

#include <algorithm>
#include <set>

namespace knx::bench {

double MeanBoundedSlowdown(const Jobs& jobs, const Outcome& outcome) {
  constexpr double kShortest = 10;
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double took = (outcome.started[i] - jobs[i].submitted + jobs[i].run).seconds();
    sum += std::max(1.0, took / std::max(jobs[i].run.seconds(), kShortest));
  }
  return sum / static_cast<double>(jobs.size());
}

double Utilisation(const Jobs& jobs, const Machine& machine, const Outcome& outcome) {
  double used = 0;
  for (const Job& job : jobs) used += job.run.seconds() * job.size;
  return used / (static_cast<double>(machine.total()) *
                 (outcome.ended - jobs.front().submitted).seconds());
}

double MeanCompletion(const Jobs& jobs, const Outcome& outcome) {
  double sum = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    sum += (outcome.started[i] - jobs[i].submitted + jobs[i].run).seconds();
  }
  return sum / static_cast<double>(jobs.size());
}

double CompletionBound(const Jobs& jobs, const Machine& machine) {
  double now = 0, completions = 0, runs = 0;
  std::size_t next = 0;
  std::multiset<std::pair<double, double>> left;  // work, and when it was submitted
  while (next < jobs.size() || !left.empty()) {
    if (left.empty()) now = std::max(now, jobs[next].submitted.seconds());
    for (; next < jobs.size() && jobs[next].submitted.seconds() <= now; ++next) {
      const double run = jobs[next].run.seconds();
      runs += run;
      left.emplace(run * jobs[next].size / static_cast<double>(machine.total()),
                   jobs[next].submitted.seconds());
    }
    const auto [work, submitted] = *left.begin();
    left.erase(left.begin());
    const double until = next < jobs.size() ? jobs[next].submitted.seconds() : now + work;
    if (now + work <= until) {
      now += work;
      completions += now - submitted;
    } else {
      left.emplace(work - (until - now), submitted);
      now = until;
    }
  }
  return std::max(completions, runs) / static_cast<double>(jobs.size());
}

double MeanWait(const Jobs& jobs, const Outcome& outcome, std::int32_t above, std::int32_t most) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].size <= above || jobs[i].size > most) continue;
    sum += (outcome.started[i] - jobs[i].submitted).seconds();
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace knx::bench
