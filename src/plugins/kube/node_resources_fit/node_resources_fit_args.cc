#include <fmt/format.h>

#include "k8s/selector.h"
#include "plugins/common/args.h"
#include "plugins/kube/node_resources_fit/node_resources_fit.h"

namespace knx::plugins {
namespace {

using Strategy = NodeResourcesFitArgs::Strategy;

constexpr std::int32_t kMaxShapeScore = 10;
constexpr std::int32_t kMaxUtilization = 100;

// Names of resources have the form of label keys.
void ReadNames(k8s::FieldReader& fields, std::string_view key, bool group,
               std::vector<std::string>& out) {
  fields.ForEach(key, [&](k8s::FieldReader& item) {
    std::string name;
    if (!item.Value(name)) return;
    k8s::Requirement as_key;
    as_key.key = name;
    as_key.op = k8s::SelectorOperator::kExists;
    if (group && name.find('/') != std::string::npos) {
      item.FailHere(fmt::format("\"{}\" is no resource group: must not contain '/'", name));
    } else if (const auto reason = k8s::InvalidReason(as_key, false)) {
      item.FailHere(*reason);
    }
    out.push_back(std::move(name));
  });
}

void ReadShape(k8s::FieldReader& ratio, std::vector<NodeResourcesFitArgs::ShapePoint>& out) {
  ratio.ForEach("shape", [&](k8s::FieldReader& item) {
    NodeResourcesFitArgs::ShapePoint point;
    item.Read("utilization", point.utilization, {.min = 0, .max = kMaxUtilization});
    item.Read("score", point.score, {.min = 0, .max = kMaxShapeScore});
    if (!out.empty() && out.back().utilization >= point.utilization) {
      item.Fail("utilization", fmt::format("{} must be above that of the point before, {}",
                                           point.utilization, out.back().utilization));
    }
    out.push_back(point);
  });
  if (ratio.ok() && out.empty()) ratio.Fail("shape", "needs at least one point");
}

void ReadStrategy(k8s::FieldReader& fields, NodeResourcesFitArgs& out) {
  std::string type;
  fields.Require("type", type);
  fields.ReadEnum("type", out.strategy,
                  {{"LeastAllocated", Strategy::kLeastAllocated},
                   {"MostAllocated", Strategy::kMostAllocated},
                   {"RequestedToCapacityRatio", Strategy::kRequestedToCapacityRatio}});
  ReadScoredResources(fields, kMaxResourceWeight, out.resources);
  const bool given = fields.Map("requestedToCapacityRatio",
                                [&](k8s::FieldReader& ratio) { ReadShape(ratio, out.shape); });
  if (!fields.ok() || given == (out.strategy == Strategy::kRequestedToCapacityRatio)) return;
  fields.Fail("requestedToCapacityRatio",
              given ? "must be left out unless type is RequestedToCapacityRatio"
                    : "missing, but required when type is RequestedToCapacityRatio");
}

}  // namespace

Result<NodeResourcesFitArgs> ReadNodeResourcesFitArgs(const framework::PluginArgs& args) {
  NodeResourcesFitArgs out;
  KNX_TRY_DONE(ReadArgs(args, "NodeResourcesFitArgs", [&](k8s::FieldReader& fields) {
    ReadNames(fields, "ignoredResources", false, out.ignored_resources);
    ReadNames(fields, "ignoredResourceGroups", true, out.ignored_resource_groups);
    fields.Map("scoringStrategy", [&](k8s::FieldReader& strategy) { ReadStrategy(strategy, out); });
  }));
  if (!args.ignored_resources.empty()) out.ignored_resources = args.ignored_resources;
  return out;
}

ScoreByUse ScoresOfShape(const std::vector<NodeResourcesFitArgs::ShapePoint>& shape) {
  constexpr std::int64_t scale = framework::kMaxScore / kMaxShapeScore;
  ScoreByUse out{};
  for (std::int64_t use = 0; use <= kMaxUtilization; ++use) {
    std::int64_t score = scale * shape.back().score;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (use > shape[i].utilization) continue;
      score = scale * shape[i].score;
      if (i > 0) {
        const std::int64_t before = scale * shape[i - 1].score;
        // Rounded towards the point before.
        score = before + (score - before) * (use - shape[i - 1].utilization) /
                             (shape[i].utilization - shape[i - 1].utilization);
      }
      break;
    }
    out[static_cast<std::size_t>(use)] = score;
  }
  return out;
}

}  // namespace knx::plugins
