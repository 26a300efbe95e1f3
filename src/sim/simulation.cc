#include "sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "framework/profile_builder.h"
#include "plugins/registry.h"
#include "sim/cluster.h"
#include "sim/event_warnings.h"
#include "sim/outcome_report.h"
#include "sim/read_input.h"
#include "sim/scenario_runner.h"
#include "sim/thread_pool.h"
#include "sim/unheeded.h"

namespace knx::sim {
namespace {

constexpr Duration kLongestManifestRun = Duration::Minutes(60);
constexpr std::uint64_t kUsualSeed = 1;

// Both names that pods are likely to carry.
constexpr std::string_view kUsualConfig = R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: kubenexus-scheduler
)";

Result<framework::SchedulerConfiguration> ReadConfig(const SimulationRequest& request,
                                                     const Input& input) {
  if (request.config.has_value()) {
    return framework::ReadConfiguration(request.config->text, request.config->name);
  }
  if (input.scenario.has_value() && !input.scenario->config.empty()) {
    // Lines in front, so that errors name the lines of the scenario.
    const auto lines = static_cast<std::size_t>(std::max(input.scenario->config_line, 0));
    return framework::ReadConfiguration(std::string(lines, '\n') + input.scenario->config,
                                        input.scenario->file);
  }
  if (input.scenario.has_value() && !input.scenario->config_file.empty()) {
    const std::string& path = input.scenario->config_file;
    if (!request.read_file) {
      return InvalidError(fmt::format("config_file: {} cannot be read from here", path),
                          {input.scenario->file, 0, 0});
    }
    KNX_TRY(const std::string text, request.read_file(path));
    return framework::ReadConfiguration(text, path);
  }
  return framework::ReadConfiguration(kUsualConfig, "");
}

// What others refer to comes before what refers to it.
int CreationRank(const k8s::Object& object) {
  if (std::holds_alternative<k8s::PriorityClass>(object)) return 0;
  if (std::holds_alternative<k8s::Namespace>(object)) return 1;
  if (std::holds_alternative<k8s::StorageClass>(object)) return 1;
  if (std::holds_alternative<k8s::Node>(object)) return 2;
  return 3;
}

// A manifest may come from a cluster, and be of a pod that was being deleted there, or of a class
// that every cluster has.
Status CreateFromManifest(ApiServer& api, k8s::Object object) {
  const auto* priority_class = std::get_if<k8s::PriorityClass>(&object);
  if (priority_class != nullptr && priority_class->meta.name.starts_with("system-")) {
    return api.Apply(std::move(object), Actor::kUser);
  }
  const auto* pod = std::get_if<k8s::Pod>(&object);
  const bool leaves = pod != nullptr && pod->meta.deleted.has_value();
  const std::string namespace_ = MetaOf(object).namespace_;
  KNX_TRY(const std::string name, api.Create(std::move(object), Actor::kUser));
  return leaves ? api.DeletePod(PodKey(namespace_, name), Actor::kUser) : Ok();
}

Status CreateAll(Cluster& cluster, std::vector<k8s::ObjectAt> objects) {
  std::stable_sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) {
    return CreationRank(a.object) < CreationRank(b.object);
  });
  for (k8s::ObjectAt& object : objects) {
    auto created = CreateFromManifest(cluster.api(), std::move(object.object));
    if (!created.ok()) {
      Error error = std::move(created).error();
      error.place = std::move(object.place);
      return error;
    }
  }
  return Ok();
}

class Simulation {
 public:
  Simulation(const SimulationRequest& request, Input input)
      : request_(request), input_(std::move(input)), pool_(request.threads) {}

  Result<SimulationResult> Run() {
    KNX_TRY(config_, ReadConfig(request_, input_));
    KNX_TRY(const auto profiles, framework::BuildProfiles(config_, plugins::AllPlugins()));
    Cluster cluster(OptionsForCluster());
    cluster.scheduler().invariants().SetRules(RulesOf(config_, profiles));
    if (input_.scenario.has_value() && input_.scenario->oldest_list > Duration{}) {
      cluster.scheduler().pods().KeepHistory(input_.scenario->oldest_list);
      cluster.scheduler().nodes().KeepHistory(input_.scenario->oldest_list);
    }
    SimulationResult result;
    result.seed = seed();
    for (const auto& profile : config_.profiles) result.profiles.push_back(profile.scheduler_name);
    const auto go_on = [&] { return !request_.progress || request_.progress(cluster.Progress()); };
    KNX_TRY_DONE(input_.scenario.has_value() ? RunScenario(cluster, go_on, result)
                                             : RunManifests(cluster, go_on, result));
    cluster.CheckEnd();
    if (request_.progress) (void)request_.progress(cluster.Progress());
    Report(cluster, result);
    KNX_TRY_DONE(Explain(cluster, result));
    for (const auto& said : {input_.warnings, framework::Warnings(config_, plugins::AllPlugins()),
                             cluster.Complaints()}) {
      result.warnings.insert(result.warnings.end(), said.begin(), said.end());
    }
    for (std::vector<std::string> said :
         {unheeded_.Texts(), WarningsIn(cluster.scheduler().events())}) {
      std::move(said.begin(), said.end(), std::back_inserter(result.warnings));
    }
    const bool reserves = std::any_of(profiles.begin(), profiles.end(), [](const auto& profile) {
      return profile.reservations.has_value();
    });
    if (!reserves && !cluster.store().All<k8s::ResourceReservation>().empty()) {
      result.warnings.push_back(UnheededReservations());
    }
    if (!config_.extenders.empty()) {
      result.warnings.push_back(
          fmt::format("{}: extenders: not asked in a simulation", config_.file));
    }
    return result;
  }

 private:
  [[nodiscard]] std::uint64_t seed() const {
    if (request_.seed.has_value()) return *request_.seed;
    return input_.scenario.has_value() ? input_.scenario->seed.value_or(kUsualSeed) : kUsualSeed;
  }

  Status Explain(Cluster& cluster, SimulationResult& result) const {
    if (!request_.explain.has_value()) return Ok();
    engine::Engine* const engine = cluster.scheduler().engine();
    if (engine == nullptr) return InvalidError("no scheduler runs that could explain anything");
    result.explanation = observe::Explain(*engine, *request_.explain);
    if (result.explanation.has_value()) return Ok();
    // The scheduler has forgotten pods that have done their work, and hears of others a moment
    // late.
    std::string_view name = *request_.explain;
    if (name.starts_with("pod/")) name.remove_prefix(std::string_view("pod/").size());
    for (const PodOutcome& pod : result.pods) {
      const std::string key = PodKey(pod.namespace_, pod.name);
      if (pod.name != name && key != name) continue;
      const bool ended = pod.phase == "Succeeded" || pod.phase == "Failed";
      return InvalidError(ended ? fmt::format("{}: pod {} does not wait, it has {}",
                                              *request_.explain, key,
                                              pod.phase == "Failed" ? "failed" : "succeeded")
                                : fmt::format("{}: the scheduler has not yet heard of pod {} when "
                                              "the run ends; --until makes it longer",
                                              *request_.explain, key));
    }
    return InvalidError(fmt::format("{}: there is no pod group and no pod of that name; {}",
                                    *request_.explain,
                                    observe::WhatThereIs(engine->state(), *request_.explain)));
  }

  ClusterOptions OptionsForCluster() {
    ClusterOptions options;
    options.seed = seed();
    if (input_.scenario.has_value()) options.timing = input_.scenario->timing;
    options.checking = request_.checking;
    options.keep_log = request_.keep_log;
    options.scheduler.engine = engine::OptionsFor(config_);
    options.scheduler.engine.extenders.clear();
    options.scheduler.engine.parallel_for = pool_.parallel_for();
    options.scheduler.engine.observer = &unheeded_;
    options.scheduler.record = request_.record;
    options.scheduler.make_profiles = [this] {
      auto profiles = framework::BuildProfiles(config_, plugins::AllPlugins());
      KNX_CHECK(profiles.ok(), "profiles could be built once and not again");
      return *std::move(profiles);
    };
    return options;
  }

  Status RunScenario(Cluster& cluster, const std::function<bool()>& go_on,
                     SimulationResult& result) {
    ScenarioRunner runner(cluster, *input_.scenario, go_on);
    result.scenario = input_.scenario->name;
    result.why = input_.scenario->why;
    result.variant = input_.scenario->variant;
    result.variants = input_.scenario->variants;
    KNX_TRY_DONE(runner.Run(request_.until));
    result.expectations = runner.expectations();
    result.stopped = runner.stopped();
    result.steps_undone = std::ssize(runner.undone());
    result.warnings = runner.Unfinished();
    if (!runner.undone().empty()) {
      const SourcePlace& first = runner.undone().front().place;
      result.warnings.push_back(fmt::format(
          "{}:{}: the run ended before this step{}", first.file, first.line,
          result.steps_undone == 1 ? ""
                                   : fmt::format(" and the {} after it", result.steps_undone - 1)));
    }
    return Ok();
  }

  Status RunManifests(Cluster& cluster, const std::function<bool()>& go_on,
                      SimulationResult& result) {
    const Status not_empty = CheckNotEmpty(input_.objects, request_.files);
    KNX_TRY_DONE(CreateAll(cluster, std::move(input_.objects)));
    cluster.input_remarks().LookAtNodes();
    KNX_TRY_DONE(not_empty);
    cluster.scheduler().Start({});
    const Duration limit = request_.until.value_or(kLongestManifestRun);
    while (!(request_.until ? false : cluster.Settled()) && cluster.Step(limit)) {
      if (go_on()) continue;
      result.stopped = true;
      break;
    }
    result.cut = !request_.until && !result.stopped && !cluster.Settled();
    return Ok();
  }

  const SimulationRequest& request_;
  Input input_;
  ThreadPool pool_;
  framework::SchedulerConfiguration config_;
  Unheeded unheeded_;
};

}  // namespace

bool SimulationResult::ok() const {
  return !violation.has_value() && std::all_of(expectations.begin(), expectations.end(),
                                               [this](const ExpectationResult& expectation) {
                                                 return expectation.met ||
                                                        (stopped && !expectation.reached);
                                               });
}

std::string FormatHash(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Result<SimulationResult> Simulate(const SimulationRequest& request) {
  if (request.threads < 1 || request.threads > kMaxThreads) {
    return InvalidError(fmt::format("threads: {} is out of range, allowed is 1 to {}",
                                    request.threads, kMaxThreads));
  }
  if (request.until.has_value() && (*request.until < Duration{} || *request.until > kMaxSpan)) {
    return InvalidError(fmt::format("until: {} is out of range, allowed is 0s to {}",
                                    FormatDuration(*request.until), FormatDuration(kMaxSpan)));
  }
  KNX_TRY(Input input, ReadInput(request.files, request.variant));
  return Simulation(request, std::move(input)).Run();
}

}  // namespace knx::sim
