// Which plugins a profile has at which extension point: what a configuration says, and what that
// comes to together with kube-scheduler's default set.
//
// The rules are kube-scheduler's (docs/configuration.md tells them at length). Here is only the
// arithmetic of them: names have been checked before, and what must not remain, such as a profile
// without a bind plugin, is refused after.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "framework/plugin_names.h"

namespace knx::framework {

struct EnabledPlugin {
  const KnownPlugin* plugin = nullptr;
  std::int32_t weight = 0;  // 0: not stated, which means 1
  SourcePlace place;        // without a line: from the default set
};

struct PluginSet {
  std::vector<EnabledPlugin> enabled;  // none of them twice
  std::vector<const KnownPlugin*> disabled;
  bool all_disabled = false;  // "*"

  [[nodiscard]] bool Enables(const KnownPlugin* plugin) const;
  [[nodiscard]] bool Disables(const KnownPlugin* plugin) const;
};

// What the field `plugins` of a profile says.
struct Plugins {
  PluginSet multi_point;
  std::array<PluginSet, kPointCount> points;

  [[nodiscard]] PluginSet& at(Point point) { return points[static_cast<std::size_t>(point)]; }
  [[nodiscard]] const PluginSet& at(Point point) const {
    return points[static_cast<std::size_t>(point)];
  }
};

struct ResolvedPlugin {
  const KnownPlugin* plugin = nullptr;
  std::int64_t weight = 0;  // at score and placementScore, where it is at least 1; 0 elsewhere
  friend bool operator==(const ResolvedPlugin&, const ResolvedPlugin&) = default;
};

// What it comes to: the plugins of every point, in the order in which they are asked.
struct ResolvedPlugins {
  std::array<std::vector<ResolvedPlugin>, kPointCount> points;

  [[nodiscard]] std::vector<ResolvedPlugin>& at(Point point) {
    return points[static_cast<std::size_t>(point)];
  }
  [[nodiscard]] const std::vector<ResolvedPlugin>& at(Point point) const {
    return points[static_cast<std::size_t>(point)];
  }
  [[nodiscard]] bool Contains(Point point, const KnownPlugin* plugin) const;
  // Whether it is at any point at all.
  [[nodiscard]] bool Contains(const KnownPlugin* plugin) const;
  friend bool operator==(const ResolvedPlugins&, const ResolvedPlugins&) = default;
};

// The default set with what multiPoint changes about it.
std::vector<EnabledPlugin> MergeMultiPoint(const PluginSet& multi_point);

ResolvedPlugins Resolve(const Plugins& plugins);

}  // namespace knx::framework
