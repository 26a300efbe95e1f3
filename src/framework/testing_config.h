// For tests: configurations written as text, and what they come to written as text again.
#pragma once

#include <string>
#include <string_view>

#include "framework/config.h"

namespace knx::framework::testing {

// What every configuration begins with: two lines.
inline constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";

// "NodeAffinity:2 NodeName", in the order of the point.
inline std::string Show(const ResolvedPlugins& resolved, Point point) {
  std::string out;
  for (const ResolvedPlugin& entry : resolved.at(point)) {
    if (!out.empty()) out += ' ';
    out += entry.plugin->name;
    if (entry.weight != 0) out += ':' + std::to_string(entry.weight);
  }
  return out;
}

// Every point that has a plugin, a line each: "bind: DefaultBinder".
inline std::string ShowAll(const ResolvedPlugins& resolved) {
  std::string out;
  for (const Point point : kAllPoints) {
    const std::string plugins = Show(resolved, point);
    if (!plugins.empty()) out += std::string(PointName(point)) + ": " + plugins + '\n';
  }
  return out;
}

}  // namespace knx::framework::testing
