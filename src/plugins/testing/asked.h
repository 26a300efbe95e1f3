// A plugin asked the way the engine asks it, with answers that read well in a test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/state.h"
#include "framework/plugin.h"
#include "framework/registry.h"
#include "k8s/yaml_reader.h"

namespace knx::plugins::testing {

inline framework::PodView View(const cluster::State& state, cluster::PodId id) {
  return {state, state.class_of(id), id};
}
// With how it stands to other pods.
inline framework::PodView RelatedView(cluster::State& state, cluster::PodId id) {
  return {state, state.class_of(id), id, state.RelationOf(id)};
}

struct Answer {
  framework::Code code = framework::Code::kSuccess;
  std::vector<std::string> reasons = {};

  friend bool operator==(const Answer&, const Answer&) = default;
  friend void PrintTo(const Answer& answer, std::ostream* out) {
    *out << "code " << static_cast<int>(answer.code);
    for (const std::string& reason : answer.reasons) *out << ", \"" << reason << '"';
  }
};

inline Answer Fits() { return {}; }
inline Answer NotNow(std::vector<std::string> reasons) {
  return {framework::Code::kUnschedulable, std::move(reasons)};
}
inline Answer Never(std::vector<std::string> reasons) {
  return {framework::Code::kUnresolvable, std::move(reasons)};
}

// What a filter says about some rows. A filter that was skipped accepts all.
inline std::vector<Answer> Judge(const framework::PreFilterResult& prepared,
                                 framework::NodeRows rows) {
  std::vector<Answer> answers(rows.size());
  if (prepared.filter == nullptr) return answers;
  std::vector<framework::Verdict> verdicts(rows.size());
  framework::Verdicts out(verdicts, 0);
  prepared.filter->Filter(rows, out);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    answers[i].code = verdicts[i].code;
    if (verdicts[i].code == framework::Code::kSuccess) continue;
    prepared.filter->Explain(verdicts[i], answers[i].reasons);
  }
  return answers;
}

inline Answer Judge(const framework::PreFilterResult& prepared, cluster::NodeRow row) {
  return Judge(prepared, framework::NodeRows(&row, 1)).front();
}

inline std::vector<std::int64_t> RawScores(const framework::PreScoreResult& prepared,
                                           framework::NodeRows rows) {
  std::vector<std::int64_t> raw(rows.size(), -1);
  prepared.scorer->Score(rows, raw);
  return raw;
}

// Normalised over the given rows.
inline std::vector<std::int64_t> Scores(const framework::PreScoreResult& prepared,
                                        framework::NodeRows rows) {
  std::vector<std::int64_t> scores = RawScores(prepared, rows);
  if (!prepared.scorer->normalizes() || scores.empty()) return scores;
  framework::ScoreBounds bounds{scores.front(), scores.front()};
  for (const std::int64_t raw : scores) {
    bounds.min = std::min(bounds.min, raw);
    bounds.max = std::max(bounds.max, raw);
  }
  for (std::int64_t& score : scores) score = prepared.scorer->Normalize(score, bounds);
  return scores;
}

inline std::int64_t ScoreOf(const framework::PreScoreResult& prepared, cluster::NodeRow row) {
  return Scores(prepared, framework::NodeRows(&row, 1)).front();
}

// A plugin made from arguments in YAML, or why it was not made. Without arguments: "".
inline Result<std::unique_ptr<framework::Plugin>> MakeFromYaml(
    Result<std::unique_ptr<framework::Plugin>> (*make)(const framework::PluginArgs&),
    std::string_view yaml) {
  auto documents = k8s::ParseYaml(yaml, "config.yaml");
  KNX_CHECK(documents.ok(), "a test gives arguments that are no YAML");
  framework::PluginArgs args;
  args.node = documents->empty() ? nullptr : &documents->front();
  args.file = "config.yaml";
  args.path = "args";
  return make(args);
}

}  // namespace knx::plugins::testing
