#include "oracle/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

#include "base/quoted_text.h"
#include "engine/engine.h"
#include "framework/config.h"
#include "framework/profile_builder.h"
#include "k8s/names.h"
#include "plugins/registry.h"

namespace knx::oracle {
namespace {

using engine::Inquiry;
using framework::Code;

// Any time will do: nothing that is asked here depends on it.
constexpr Time kNow{};

constexpr std::string_view kDefaults =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kSuccess:
    case Code::kSkip:
      return "Success";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kPending:
      return "Pending";
    case Code::kWait:
      return "Wait";
    case Code::kError:
      break;
  }
  return "Error";
}

std::string ListOf(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(QuotedText(text));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

std::string PreFilterJson(const Inquiry& inquiry) {
  const bool rejected = !inquiry.outcome.ok();
  return fmt::format(R"({{"plugin":{},"code":"{}","reasons":{},"nodes":{}}})",
                     QuotedText(inquiry.rejected_by), CodeName(inquiry.outcome.code),
                     rejected ? ListOf({inquiry.outcome.reason}) : std::string("[]"),
                     inquiry.only_nodes ? ListOf(*inquiry.only_nodes) : std::string("null"));
}

std::string NodesJson(const Inquiry& inquiry) {
  std::vector<std::string> nodes;
  for (const Inquiry::Rejection& rejection : inquiry.rejections) {
    nodes.push_back(fmt::format(R"({}:{{"plugin":{},"code":"{}","reasons":{}}})",
                                QuotedText(rejection.node), QuotedText(rejection.plugin),
                                CodeName(rejection.code), ListOf(rejection.reasons)));
  }
  return fmt::format("{{{}}}", fmt::join(nodes, ","));
}

std::string ScoresJson(const Inquiry& inquiry) {
  std::vector<std::string> plugins;
  for (const Inquiry::PluginScores& plugin : inquiry.scores) {
    std::vector<std::string> nodes;
    for (std::size_t i = 0; i < plugin.scores.size(); ++i) {
      const Inquiry::Score& score = plugin.scores[i];
      nodes.push_back(fmt::format("{}:[{},{},{}]", QuotedText(inquiry.feasible[i]), score.raw,
                                  score.normalized, score.weighted));
    }
    plugins.push_back(fmt::format("{}:{{{}}}", QuotedText(plugin.plugin), fmt::join(nodes, ",")));
  }
  return fmt::format("{{{}}}", fmt::join(plugins, ","));
}

std::string TotalsJson(const Inquiry& inquiry) {
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < inquiry.totals.size(); ++i) {
    nodes.push_back(fmt::format("{}:{}", QuotedText(inquiry.feasible[i]), inquiry.totals[i]));
  }
  return fmt::format("{{{}}}", fmt::join(nodes, ","));
}

std::string PreemptionJson(const Inquiry& inquiry) {
  std::vector<std::string> candidates;
  for (const Inquiry::Candidate& candidate : inquiry.candidates) {
    candidates.push_back(fmt::format(R"({}:{{"victims":{},"pdbViolations":{}}})",
                                     QuotedText(candidate.node), ListOf(candidate.victims),
                                     candidate.violations));
  }
  return fmt::format(R"({{"candidates":{{{}}},"nominatedNodeName":{}}})",
                     fmt::join(candidates, ","),
                     inquiry.nomination ? QuotedText(*inquiry.nomination) : "null");
}

std::string PodJson(std::string_view name, const Inquiry& inquiry, bool preempt) {
  if (inquiry.kept_out) {
    return fmt::format(R"({{"pod":{},"preEnqueue":{{"plugin":{},"code":"{}","reasons":{}}}}})",
                       QuotedText(name), QuotedText(inquiry.kept_out->plugin),
                       CodeName(inquiry.kept_out->code), ListOf(inquiry.kept_out->reasons));
  }
  const std::string single =
      inquiry.feasible.size() == 1 ? std::string(R"("single":true,)") : std::string();
  const std::string_view reason = !inquiry.chosen.empty() ? ""
                                  : inquiry.error         ? k8s::names::kReasonSchedulerError
                                                          : k8s::names::kReasonUnschedulable;
  return fmt::format(
      R"({{"pod":{},"prefilter":{},"nodes":{},"feasible":{},{}"scores":{},"totals":{},)"
      R"("chosen":{},"reason":{},"message":{},"unschedulablePlugins":{},"preemption":{}}})",
      QuotedText(name), PreFilterJson(inquiry), NodesJson(inquiry), ListOf(inquiry.feasible),
      single, ScoresJson(inquiry), TotalsJson(inquiry), QuotedText(inquiry.chosen),
      QuotedText(reason), QuotedText(inquiry.message), ListOf(inquiry.unschedulable),
      preempt && inquiry.chosen.empty() ? PreemptionJson(inquiry) : "null");
}

engine::Event EventOf(const k8s::Object& object) {
  if (const auto* node = std::get_if<k8s::Node>(&object)) return engine::NodeUpserted{*node};
  if (const auto* pod = std::get_if<k8s::Pod>(&object)) return engine::PodUpserted{*pod};
  return engine::ObjectUpserted{object};
}

// Why the pod would never get as far as a cycle; empty if it would.
std::string Refusal(const k8s::Pod* pod, const Request& request) {
  const bool ended = pod != nullptr && (pod->status.phase == k8s::PodPhase::kSucceeded ||
                                        pod->status.phase == k8s::PodPhase::kFailed);
  if (pod == nullptr || ended) return "no such pod, or it has ended";
  if (!pod->spec.node_name.empty()) {
    return fmt::format("it is on node {} already", pod->spec.node_name);
  }
  if (pod->spec.scheduler_name != request.scheduler) {
    return fmt::format("it belongs to scheduler {}, not to {}", pod->spec.scheduler_name,
                       request.scheduler);
  }
  if (pod->meta.deleted) {
    return fmt::format("skip schedule deleting pod: {}/{}", pod->meta.namespace_, pod->meta.name);
  }
  return "";
}

}  // namespace

Result<std::string> Answer(const Request& request) {
  const std::string_view config = request.config.empty() ? kDefaults : request.config;
  KNX_TRY(const auto configuration, framework::ReadConfiguration(config, "config"));
  KNX_TRY(auto profiles, framework::BuildProfiles(configuration, plugins::AllPlugins()));
  if (!request.preempt) {
    for (framework::Profile& profile : profiles) profile.post_filter.clear();
  }
  engine::Engine engine({}, std::move(profiles));
  std::map<std::string, const k8s::Pod*> by_name;
  for (const k8s::Object& object : request.objects) {
    if (const auto* pod = std::get_if<k8s::Pod>(&object)) {
      by_name[pod->meta.namespace_ + "/" + pod->meta.name] = pod;
    }
    engine.Handle(EventOf(object), kNow);
  }
  std::vector<std::string> pods;
  for (const std::string& name : request.pods) {
    const auto found = by_name.find(name);
    const k8s::Pod* pod = found == by_name.end() ? nullptr : found->second;
    if (const std::string refusal = Refusal(pod, request); !refusal.empty()) {
      pods.push_back(
          fmt::format(R"({{"pod":{},"error":{}}})", QuotedText(name), QuotedText(refusal)));
      continue;
    }
    const std::optional<Inquiry> inquiry = engine.Inquire(pod->meta.uid);
    if (!inquiry) {
      return InvalidError(fmt::format("scheduler: no profile is named {}", request.scheduler));
    }
    pods.push_back(PodJson(name, *inquiry, request.preempt));
  }
  return fmt::format(R"({{"id":{},"pods":[{}]}})", QuotedText(request.id), fmt::join(pods, ","));
}

std::string AnswerLine(std::string_view line) {
  Request request;
  const auto read = ReadRequest(line, request);
  const auto answer = read.ok() ? Answer(request) : Result<std::string>(read.error());
  return answer.ok() ? *answer : ErrorLine(request.id, answer.error().ToString());
}

std::string ErrorLine(std::string_view id, std::string_view error) {
  return fmt::format(R"({{"id":{},"error":{}}})", QuotedText(id), QuotedText(error));
}

}  // namespace knx::oracle
