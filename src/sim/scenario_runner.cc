#include "sim/scenario_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/judgement.h"

namespace knx::sim {
namespace {

// Of an expectation that nobody has judged yet.
ExpectationResult ResultFor(const scenario::Expectation& expectation, const SourcePlace& place) {
  ExpectationResult out;
  out.place = place;
  out.expected = expectation.ToString();
  const auto add = [&out](std::string_view word, const std::optional<Duration>& span) {
    if (span.has_value()) out.expected += fmt::format(", {} {}", word, FormatDuration(*span));
  };
  add("within", expectation.within);
  add("not before", expectation.not_before);
  add("for", expectation.stays);
  return out;
}

}  // namespace

ScenarioRunner::ScenarioRunner(Cluster& cluster, const scenario::Scenario& scenario,
                               std::function<bool()> go_on)
    : cluster_(cluster), scenario_(scenario), go_on_(std::move(go_on)) {}

Status ScenarioRunner::Run(std::optional<Duration> until) {
  end_ = until.value_or(kMaxSpan);
  for (const scenario::Template& node : scenario_.nodes) {
    for (std::int64_t i = 0; i < node.count; ++i) KNX_TRY_DONE(CreateOne(node, node.first + i));
  }
  for (const scenario::Template& object : scenario_.objects) {
    KNX_TRY_DONE(CreateOne(object, object.first));
  }
  cluster_.input_remarks().LookAtNodes();
  cluster_.scheduler().Start({});
  std::size_t next = 0;
  while (next < scenario_.steps.size() && Going()) {
    const scenario::Step& step = scenario_.steps[next];
    if (step.at.has_value() && !RunUntil(*step.at)) break;
    ++next;
    if (auto done = Do(step); !done.ok()) {
      Error error = std::move(done).error();
      if (error.place.line == 0) error.place = step.place;
      return std::move(error).Within(step.path);
    }
    if (late_error_.has_value()) return *late_error_;
  }
  if (until.has_value() && Going()) RunUntil(*until);
  if (late_error_.has_value()) return *late_error_;
  if (!cluster_.violation().has_value()) LeaveUndone(std::span(scenario_.steps).subspan(next));
  return Ok();
}

void ScenarioRunner::LeaveUndone(std::span<const scenario::Step> steps) {
  undone_ = steps;
  for (const scenario::Step& step : steps) {
    const auto* expectation = std::get_if<scenario::Expectation>(&step.what);
    if (expectation == nullptr) continue;
    ExpectationResult& result = results_.emplace_back(ResultFor(*expectation, step.place));
    result.reached = false;
    result.found =
        fmt::format("not reached: the run {} at {}", stopped_ ? "was interrupted" : "ended",
                    observe::FormatAt(cluster_.now()));
  }
}

Status ScenarioRunner::Do(const scenario::Step& step) {
  step_ = &step;
  return std::visit([this](const auto& what) { return Do(what); }, step.what);
}

// ---- time ----

bool ScenarioRunner::StepOnce(Duration limit) {
  if (!cluster_.Step(std::min(limit, end_))) return false;
  if (!go_on_ || go_on_()) return !late_error_.has_value();
  stopped_ = true;
  return false;
}

bool ScenarioRunner::RunUntil(Duration when) {
  while (StepOnce(when)) {
  }
  NoteIfCut(when);
  return Going();
}

bool ScenarioRunner::Settle(Duration limit) {
  while (!cluster_.Settled()) {
    if (StepOnce(limit)) continue;
    NoteIfCut(limit);
    return false;
  }
  cluster_.CheckSettled();
  return true;
}

Status ScenarioRunner::Do(const scenario::PassTime& pass) {
  switch (pass.kind) {
    case scenario::PassTime::Kind::kFor:
      RunUntil(std::min(cluster_.now() + pass.span, kMaxSpan));
      return Ok();
    case scenario::PassTime::Kind::kUntil:
      if (pass.span < cluster_.now()) {
        return InvalidError(
            fmt::format("run_until: it is {} already", observe::FormatAt(cluster_.now())));
      }
      RunUntil(pass.span);
      return Ok();
    case scenario::PassTime::Kind::kSettle:
      Settle(std::min(cluster_.now() + pass.span, kMaxSpan));
      return Ok();
  }
  return Ok();
}

// ---- expectations ----

bool ScenarioRunner::RunUntilMet(Duration deadline, const std::function<bool()>& met) {
  if (met()) return true;
  std::uint64_t version = cluster_.store().version();
  std::uint64_t lines = cluster_.scheduler().log().count();
  while (StepOnce(deadline)) {
    const std::uint64_t version_now = cluster_.store().version();
    const std::uint64_t lines_now = cluster_.scheduler().log().count();
    // What is true for no time at all is not looked for: much may happen at one instant.
    const bool more_now = cluster_.MoreNow();
    if (more_now || (version_now == version && lines_now == lines)) continue;
    version = version_now;
    lines = lines_now;
    if (met()) return true;
  }
  const bool at_last = met();
  if (!at_last) NoteIfCut(deadline);
  return at_last;
}

std::optional<std::string> ScenarioRunner::Judge(const scenario::Expectation& expectation) {
  const Duration begin = cluster_.now();
  const auto unmet = [&] { return Unmet(expectation, cluster_); };
  if (expectation.not_before.has_value()) {
    const Duration earliest = begin + *expectation.not_before;
    const bool early = RunUntilMet(earliest, [&] { return !unmet().has_value(); });
    if (early && cluster_.now() < earliest) {
      return fmt::format("that already after {}", observe::FormatAt(cluster_.now() - begin));
    }
  }
  if (expectation.within.has_value()) {
    RunUntilMet(begin + *expectation.within, [&] { return !unmet().has_value(); });
  }
  if (auto found = unmet()) return found;
  if (!expectation.stays.has_value()) return std::nullopt;
  const Duration met_at = cluster_.now();
  if (RunUntilMet(met_at + *expectation.stays, [&] { return unmet().has_value(); })) {
    return fmt::format("after {} no more: {}", observe::FormatAt(cluster_.now() - met_at),
                       *unmet());
  }
  if (!cut_ && !stopped_) return std::nullopt;
  return fmt::format("true for {} so far", observe::FormatAt(cluster_.now() - met_at));
}

Status ScenarioRunner::Do(const scenario::Expectation& expectation) {
  ExpectationResult result = ResultFor(expectation, step_->place);
  const std::optional<std::string> found = Judge(expectation);
  const std::string now = observe::FormatAt(cluster_.now());
  if (!found.has_value()) {
    result.met = true;
  } else if (stopped_) {
    result.reached = false;
    result.found = fmt::format("not decided when the run was interrupted at {}: {}", now, *found);
  } else if (cut_) {
    result.found =
        fmt::format("{} (at {}, where the run ended before the time was up)", *found, now);
  } else {
    result.found = fmt::format("{} (at {})", *found, now);
  }
  results_.push_back(std::move(result));
  return Ok();
}

// ---- creating ----

Status ScenarioRunner::CreateOne(const scenario::Template& what, std::int64_t number) {
  KNX_TRY(std::vector<k8s::Object> objects, scenario::MakeObjects(what, number, scenario_.file));
  for (k8s::Object& object : objects) {
    auto created = cluster_.api().Create(std::move(object), Actor::kUser);
    if (!created.ok()) {
      Error error = std::move(created).error();
      error.place = {scenario_.file, what.node->line, what.node->column};
      return error;
    }
  }
  return Ok();
}

std::vector<std::int64_t> ScenarioRunner::NumbersOf(const scenario::Create& create) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(create.what.count));
  std::iota(numbers.begin(), numbers.end(), create.what.first);
  if (create.order == scenario::Order::kBackwards) std::reverse(numbers.begin(), numbers.end());
  if (create.order == scenario::Order::kShuffled) {
    // The library's shuffle differs from one to the next.
    for (std::size_t i = numbers.size(); i > 1; --i) {
      std::swap(numbers[i - 1], numbers[cluster_.random().Below(i)]);
    }
  }
  return numbers;
}

Status ScenarioRunner::Do(const scenario::Create& create) {
  std::vector<std::int64_t> numbers = NumbersOf(create);
  if (create.every.has_value()) {
    series_.push_back({&create, step_->place, std::move(numbers)});
    CreateLater(series_.size() - 1);
    return Ok();
  }
  for (const std::int64_t number : numbers) KNX_TRY_DONE(CreateOne(create.what, number));
  cluster_.input_remarks().LookAtNodes();
  return Ok();
}

void ScenarioRunner::CreateLater(std::size_t index) {
  const scenario::Create& create = *series_[index].create;
  Series& series = series_[index];
  if (series.made >= series.numbers.size() || late_error_.has_value()) return;
  if (auto created = CreateOne(create.what, series.numbers[series.made]); !created.ok()) {
    late_error_ = std::move(created).error().Within(create.what.path);
    return;
  }
  ++series.made;
  Duration gap = *create.every;
  if (create.random_gaps) {
    const auto twice = static_cast<std::uint64_t>(gap.ns) * 2 + 1;
    gap = Duration::Nanoseconds(static_cast<std::int64_t>(cluster_.random().Below(twice)));
  }
  cluster_.agenda().After(gap, [this, index] { CreateLater(index); });
}

std::vector<std::string> ScenarioRunner::Unfinished() const {
  std::vector<std::string> out;
  if (cluster_.violation().has_value()) return out;
  for (const Series& series : series_) {
    if (series.made >= series.numbers.size()) continue;
    out.push_back(fmt::format("{}:{}: the run ended when {} of the {} of this step were created",
                              series.place.file, series.place.line, series.made,
                              series.create->what.count));
  }
  return out;
}

// ---- faults ----

Status ScenarioRunner::Do(const CallFault& fault) {
  cluster_.scheduler().faults().Add(fault, cluster_.agenda().now());
  return Ok();
}

Status ScenarioRunner::Do(const scenario::WatchFault& fault) {
  if (fault.kind == scenario::WatchFault::Kind::kRandom) {
    InjectRandom(fault, cluster_.agenda().now() + fault.lasts);
  } else {
    Inject(fault);
  }
  return Ok();
}

void ScenarioRunner::Inject(const scenario::WatchFault& fault) {
  const auto inject = [&fault](auto& watch) {
    switch (fault.kind) {
      case scenario::WatchFault::Kind::kLate:
        return watch.BeLate(fault.by, fault.lasts);
      case scenario::WatchFault::Kind::kLose:
        return watch.Disconnect(fault.lasts, fault.stale);
      case scenario::WatchFault::Kind::kDuplicate:
        return watch.Duplicate(fault.count);
      case scenario::WatchFault::Kind::kRandom:
        return;
    }
  };
  if (fault.pods) inject(cluster_.scheduler().pods());
  if (fault.nodes) inject(cluster_.scheduler().nodes());
}

void ScenarioRunner::InjectRandom(const scenario::WatchFault& fault, Time end) {
  if (cluster_.agenda().now() >= end) return;
  Random& random = cluster_.random();
  const auto up_to = [&random](Duration most) {
    const auto limit = static_cast<std::uint64_t>(most.ns) + 1;
    return Duration::Nanoseconds(static_cast<std::int64_t>(random.Below(limit)));
  };
  scenario::WatchFault next = fault;
  next.kind = static_cast<scenario::WatchFault::Kind>(random.Below(3));
  next.by = up_to(Duration::Seconds(5));
  next.lasts = up_to(Duration::Seconds(10));
  next.stale = up_to(scenario::kOldestRandomList);
  next.count = 1 + static_cast<std::int64_t>(random.Below(5));
  Inject(next);
  cluster_.agenda().After(up_to(fault.every * 2),
                          [this, &fault, end] { InjectRandom(fault, end); });
}

Status ScenarioRunner::Do(const scenario::RestartScheduler& restart) {
  const SchedulerDriver::StartOptions options{.age = restart.stale,
                                              .pods_first = restart.pods_first};
  if (restart.down_for == Duration{}) {
    cluster_.scheduler().Start(options);
    return Ok();
  }
  cluster_.scheduler().Stop();
  cluster_.agenda().After(restart.down_for,
                          [this, options] { cluster_.scheduler().Start(options); });
  return Ok();
}

}  // namespace knx::sim
