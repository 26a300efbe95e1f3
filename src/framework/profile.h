// One scheduler name and the plugins that decide for its pods, ready to use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/plugin.h"

namespace knx::framework {

struct GangEntry {
  const GangPlugin* plugin;
  std::uint8_t index;  // into the plugins of the profile
};

struct GangPreemptionEntry {
  const GangPreemptionPlugin* plugin;
  std::uint8_t index;
};

struct ClassifierEntry {
  const ClassifierPlugin* plugin;
  std::uint8_t index;
};

struct ReservationEntry {
  const ReservationPlugin* plugin;
  std::uint8_t index;
};

struct BackfillEntry {
  const BackfillPlugin* plugin;
  std::uint8_t index;
};

struct Profile {
  template <class T>
  struct Entry {
    const T* plugin = nullptr;
    std::uint8_t index = 0;  // into plugins
  };
  struct FilterEntry {
    const FilterPlugin* plugin = nullptr;
    std::uint8_t index = 0;
    bool pre_filter = false;  // may reject the pod as a whole, or narrow the nodes
    bool filter = false;      // may reject nodes
    std::uint16_t rank = 0;   // at preFilter, where it may stand elsewhere than at filter
  };
  struct ScoreEntry {
    const ScorePlugin* plugin = nullptr;
    std::uint8_t index = 0;
    std::int64_t weight = 1;
    bool score = true;       // false: asked whether it can score, and then not for scores
    std::uint16_t rank = 0;  // at preScore
  };

  std::string scheduler_name;
  std::vector<std::unique_ptr<Plugin>> plugins;  // every plugin of the profile, once
  // Into plugins: stands for all extenders, where somebody has to be named who rejected a pod.
  std::optional<std::uint8_t> extender;

  // Finds out what pods are for. Without it in any profile nobody does.
  std::optional<ClassifierEntry> classifier;
  // Places gangs as wholes. Without it their members are pods like any other.
  std::optional<GangEntry> gangs;
  // Makes room for gangs. Without it they wait until there is some.
  std::optional<GangPreemptionEntry> gang_preemption;
  // Keeps the room that is reserved. Without it, in every profile, reservations do nothing.
  std::optional<ReservationEntry> reservations;
  // Keeps room for who cannot start yet. Without it whoever fits starts.
  std::optional<BackfillEntry> backfill;
  std::vector<Entry<PreEnqueuePlugin>> pre_enqueue;
  // In the order of the filter point; plugins that are at preFilter only come after, in their order
  // there.
  std::vector<FilterEntry> filters;
  std::vector<Entry<PostFilterPlugin>> post_filter;
  // In the order of the score point; those that are at preScore only come after.
  std::vector<ScoreEntry> scores;
  std::vector<Entry<ReservePlugin>> reserve;
  std::vector<Entry<PermitPlugin>> permit;
  std::vector<Entry<PreBindPlugin>> pre_bind;
  std::vector<Entry<BindPlugin>> bind;
  std::vector<Entry<PostBindPlugin>> post_bind;
};

}  // namespace knx::framework
