// Plays a scenario on a cluster: does its steps in order and holds what is there against what is
// expected. A step that cannot be done (deleting a pod that is not there) is an error with its
// place; an expectation that is not met is a result, and the steps after it are still done.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "scenario/scenario.h"
#include "sim/cluster.h"
#include "sim/simulation.h"

namespace knx::sim {

class ScenarioRunner {
 public:
  // `go_on` is asked after every step of the cluster; false ends the run.
  ScenarioRunner(Cluster& cluster, const scenario::Scenario& scenario, std::function<bool()> go_on);

  // Up to `until`, if that is set; the rest of the steps is then left undone, and expectations
  // among them are not met.
  Status Run(std::optional<Duration> until);

  [[nodiscard]] const std::vector<ExpectationResult>& expectations() const { return results_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Steps that the end of the run came before.
  [[nodiscard]] std::span<const scenario::Step> undone() const { return undone_; }

  // Steps that create one after the other and did not come to their last, in words.
  [[nodiscard]] std::vector<std::string> Unfinished() const;

  // Lets time pass. False: the run is over.
  bool RunUntil(Duration when);
  // Until nothing would change any more, at the latest until `limit`. True: settled.
  bool Settle(Duration limit);

 private:
  // Neither did something break, nor did somebody or the end of the run cut a step short.
  [[nodiscard]] bool Going() const {
    return !stopped_ && !cut_ && !late_error_.has_value() && !cluster_.violation().has_value();
  }
  // Something was to go on until then: does the run end before?
  void NoteIfCut(Duration deadline) {
    if (Going() && deadline > end_) cut_ = true;
  }
  // The end came before these.
  void LeaveUndone(std::span<const scenario::Step> steps);
  Status Do(const scenario::Step& step);
  Status Do(const scenario::Create& create);
  Status Do(const scenario::Apply& apply);
  Status Do(const scenario::Delete& what);
  Status Do(const scenario::Scale& scale);
  Status Do(const scenario::NodeAction& action);
  Status Do(const scenario::UpdateNode& update);
  Status Do(const scenario::UpdatePod& update);
  Status Do(const scenario::BindByOther& bind);
  Status Do(const scenario::RestartScheduler& restart);
  Status Do(const scenario::WatchFault& fault);
  Status Do(const CallFault& fault);
  Status Do(const scenario::PassTime& pass);
  Status Do(const scenario::Expectation& expectation);

  void Inject(const scenario::WatchFault& fault);
  // Another fault, and the next later, until `end`.
  void InjectRandom(const scenario::WatchFault& fault, Time end);
  Status CreateOne(const scenario::Template& what, std::int64_t number);
  std::vector<std::int64_t> NumbersOf(const scenario::Create& create);
  // Something of which one comes after the other, while other steps are done.
  struct Series {
    const scenario::Create* create;
    SourcePlace place;
    std::vector<std::int64_t> numbers;  // in the order in which they are made
    std::size_t made = 0;
  };
  // Creates the rest of series_[index], each when it is due.
  void CreateLater(std::size_t index);
  // Runs until `deadline` or until `met` says so; asked whenever something changed.
  bool RunUntilMet(Duration deadline, const std::function<bool()>& met);
  // "2.5s": what was found there, or nothing if all was well.
  std::optional<std::string> Judge(const scenario::Expectation& expectation);
  bool StepOnce(Duration limit);
  [[nodiscard]] std::vector<std::string> NodesLike(const std::string& pattern) const;
  [[nodiscard]] std::vector<PodPtr> PodsLike(const scenario::PodSelection& selection) const;

  Cluster& cluster_;
  const scenario::Scenario& scenario_;
  std::function<bool()> go_on_;
  Duration end_ = kMaxSpan;
  bool stopped_ = false;
  bool cut_ = false;  // a step would have gone on beyond the end
  std::span<const scenario::Step> undone_;
  const scenario::Step* step_ = nullptr;
  std::vector<Series> series_;
  std::optional<Error> late_error_;  // of something that happened between two steps
  std::vector<ExpectationResult> results_;
};

}  // namespace knx::sim
