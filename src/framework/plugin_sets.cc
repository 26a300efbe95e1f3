#include "framework/plugin_sets.h"

#include <algorithm>

namespace knx::framework {
namespace {

using Entries = std::vector<EnabledPlugin>;

const EnabledPlugin* Find(const Entries& entries, const KnownPlugin* plugin) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [plugin](const EnabledPlugin& e) { return e.plugin == plugin; });
  return found == entries.end() ? nullptr : &*found;
}

bool HasWeight(Point point) { return point == Point::kScore || point == Point::kPlacementScore; }

std::vector<ResolvedPlugin> ResolvePoint(Point point, const PluginSet& own,
                                         const Entries& multi_point) {
  std::vector<ResolvedPlugin> out;
  const auto add = [&](const EnabledPlugin& entry) {
    const std::int64_t weight = HasWeight(point) ? std::max(entry.weight, 1) : 0;
    out.push_back({entry.plugin, weight});
  };
  // What multiPoint brings to this point.
  const auto expands = [&](const KnownPlugin* plugin) {
    return !own.all_disabled && !own.Disables(plugin) && plugin->points.Contains(point) &&
           Find(multi_point, plugin) != nullptr;
  };
  for (const EnabledPlugin& entry : own.enabled) {
    if (expands(entry.plugin)) add(entry);
  }
  for (const EnabledPlugin& entry : multi_point) {
    if (expands(entry.plugin) && !own.Enables(entry.plugin)) add(entry);
  }
  for (const EnabledPlugin& entry : own.enabled) {
    if (!expands(entry.plugin)) add(entry);
  }
  return out;
}

// There is one order of the queue, which every queue sort plugin selects. So where the point is
// left with several, they do not contradict each other: one that is named at the point stays, else
// one that is not the default. Several that are named there stay, to be refused.
void KeepOneQueueSort(const PluginSet& own, std::vector<ResolvedPlugin>& plugins) {
  if (plugins.size() < 2 || own.enabled.size() > 1) return;
  const auto wanted = [&](const ResolvedPlugin& entry) {
    return own.enabled.empty() ? entry.plugin->origin != PluginOrigin::kDefault
                               : own.Enables(entry.plugin);
  };
  const auto kept = std::find_if(plugins.begin(), plugins.end(), wanted);
  if (kept != plugins.end()) plugins = {*kept};
}

}  // namespace

bool PluginSet::Enables(const KnownPlugin* plugin) const {
  return Find(enabled, plugin) != nullptr;
}

bool PluginSet::Disables(const KnownPlugin* plugin) const {
  return std::find(disabled.begin(), disabled.end(), plugin) != disabled.end();
}

bool ResolvedPlugins::Contains(Point point, const KnownPlugin* plugin) const {
  const std::vector<ResolvedPlugin>& entries = at(point);
  return std::any_of(entries.begin(), entries.end(),
                     [plugin](const ResolvedPlugin& e) { return e.plugin == plugin; });
}

bool ResolvedPlugins::Contains(const KnownPlugin* plugin) const {
  return std::any_of(kAllPoints.begin(), kAllPoints.end(),
                     [&](Point point) { return Contains(point, plugin); });
}

std::vector<EnabledPlugin> MergeMultiPoint(const PluginSet& multi_point) {
  Entries out;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    if (plugin.origin != PluginOrigin::kDefault) continue;
    if (multi_point.all_disabled || multi_point.Disables(&plugin)) continue;
    // A default that is named again is replaced where it stands, weight and all.
    const EnabledPlugin* custom = Find(multi_point.enabled, &plugin);
    out.push_back(custom != nullptr ? *custom : EnabledPlugin{&plugin, plugin.default_weight, {}});
  }
  for (const EnabledPlugin& entry : multi_point.enabled) {
    if (Find(out, entry.plugin) == nullptr) out.push_back(entry);
  }
  return out;
}

ResolvedPlugins Resolve(const Plugins& plugins) {
  const Entries multi_point = MergeMultiPoint(plugins.multi_point);
  ResolvedPlugins out;
  for (const Point point : kAllPoints) {
    out.at(point) = ResolvePoint(point, plugins.at(point), multi_point);
  }
  KeepOneQueueSort(plugins.at(Point::kQueueSort), out.at(Point::kQueueSort));
  return out;
}

}  // namespace knx::framework
