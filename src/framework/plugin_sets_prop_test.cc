#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "framework/plugin_sets.h"

namespace knx::framework {
namespace {

const KnownPlugin* AnyPlugin() {
  return &KnownPlugins()[*rc::gen::inRange<std::size_t>(0, KnownPlugins().size())];
}

// At most a few entries, none twice; at a point only what extends it, as a reader lets through.
PluginSet AnySet(const Point* point) {
  PluginSet set;
  const int tries = *rc::gen::inRange(0, 6);
  for (int i = 0; i < tries; ++i) {
    const KnownPlugin* plugin = AnyPlugin();
    const bool allowed = point == nullptr || plugin->points.Contains(*point);
    if (!allowed || set.Enables(plugin)) continue;
    set.enabled.push_back({plugin, *rc::gen::inRange(0, 5), {}});
  }
  const int disabled = *rc::gen::inRange(0, 4);
  for (int i = 0; i < disabled; ++i) set.disabled.push_back(AnyPlugin());
  set.all_disabled = *rc::gen::inRange(0, 4) == 0;
  return set;
}

Plugins AnyPlugins() {
  Plugins plugins;
  plugins.multi_point = AnySet(nullptr);
  for (const Point& point : kAllPoints) plugins.at(point) = AnySet(&point);
  return plugins;
}

// The queue's order has a rule of its own; it is left out where the general ones are checked.
bool General(Point point) { return point != Point::kQueueSort; }

RC_GTEST_PROP(Resolve, EveryPluginStandsOnceAndOnlyWhereItCan, ()) {
  const ResolvedPlugins resolved = Resolve(AnyPlugins());
  for (const Point point : kAllPoints) {
    std::set<const KnownPlugin*> seen;
    for (const ResolvedPlugin& entry : resolved.at(point)) {
      RC_ASSERT(entry.plugin->points.Contains(point));
      RC_ASSERT(seen.insert(entry.plugin).second);
      const bool scores = point == Point::kScore || point == Point::kPlacementScore;
      RC_ASSERT((scores ? entry.weight >= 1 : entry.weight == 0));
    }
  }
}

RC_GTEST_PROP(Resolve, WhatAPointNamesIsThereAndWhatItDisablesIsNot, ()) {
  const Plugins plugins = AnyPlugins();
  const ResolvedPlugins resolved = Resolve(plugins);
  for (const Point point : kAllPoints) {
    if (!General(point)) continue;
    const PluginSet& own = plugins.at(point);
    for (const EnabledPlugin& entry : own.enabled) {
      RC_ASSERT(resolved.Contains(point, entry.plugin));
    }
    for (const KnownPlugin* plugin : own.disabled) {
      RC_ASSERT(resolved.Contains(point, plugin) == own.Enables(plugin));
    }
    if (own.all_disabled) RC_ASSERT(resolved.at(point).size() == own.enabled.size());
  }
}

RC_GTEST_PROP(Resolve, WhatMultiPointNamesIsThereUnlessItsPointSaysNo, ()) {
  const Plugins plugins = AnyPlugins();
  const ResolvedPlugins resolved = Resolve(plugins);
  for (const Point point : kAllPoints) {
    if (!General(point) || plugins.at(point).all_disabled) continue;
    for (const EnabledPlugin& entry : plugins.multi_point.enabled) {
      if (!entry.plugin->points.Contains(point)) continue;
      if (plugins.at(point).Disables(entry.plugin)) continue;
      RC_ASSERT(resolved.Contains(point, entry.plugin));
    }
  }
}

RC_GTEST_PROP(Resolve, NothingComesFromNowhere, ()) {
  const Plugins plugins = AnyPlugins();
  const ResolvedPlugins resolved = Resolve(plugins);
  const std::vector<EnabledPlugin> merged = MergeMultiPoint(plugins.multi_point);
  for (const Point point : kAllPoints) {
    for (const ResolvedPlugin& entry : resolved.at(point)) {
      const bool in_multi_point =
          std::any_of(merged.begin(), merged.end(),
                      [&](const EnabledPlugin& e) { return e.plugin == entry.plugin; });
      RC_ASSERT(in_multi_point || plugins.at(point).Enables(entry.plugin));
    }
  }
}

// Three parts: what the point and multiPoint both name, what multiPoint alone does, what the point
// alone does; the first and the last in the order of the point, the middle in that of multiPoint.
RC_GTEST_PROP(Resolve, ThePartsOfAPointComeInTheirOrder, ()) {
  const Plugins plugins = AnyPlugins();
  const ResolvedPlugins resolved = Resolve(plugins);
  const std::vector<EnabledPlugin> merged = MergeMultiPoint(plugins.multi_point);
  const auto position = [](const std::vector<EnabledPlugin>& list, const KnownPlugin* plugin) {
    return std::find_if(list.begin(), list.end(),
                        [plugin](const EnabledPlugin& e) { return e.plugin == plugin; }) -
           list.begin();
  };
  for (const Point point : kAllPoints) {
    if (!General(point)) continue;
    const PluginSet& own = plugins.at(point);
    std::pair<int, std::ptrdiff_t> last{0, -1};
    for (const ResolvedPlugin& entry : resolved.at(point)) {
      const auto in_merged = position(merged, entry.plugin);
      const bool expanded = in_merged < static_cast<std::ptrdiff_t>(merged.size()) &&
                            !own.all_disabled && !own.Disables(entry.plugin);
      const bool named = own.Enables(entry.plugin);
      const int part = !named ? 1 : expanded ? 0 : 2;
      const std::pair<int, std::ptrdiff_t> next{
          part, named ? position(own.enabled, entry.plugin) : in_merged};
      RC_ASSERT(last < next);
      last = next;
    }
  }
}

RC_GTEST_PROP(Resolve, LeavesOneQueueSortWhereThePointNamesAtMostOne, ()) {
  Plugins plugins = AnyPlugins();
  PluginSet& own = plugins.at(Point::kQueueSort);
  if (own.enabled.size() > 1) own.enabled.resize(1);
  RC_ASSERT(Resolve(plugins).at(Point::kQueueSort).size() <= 1);
}

}  // namespace
}  // namespace knx::framework
