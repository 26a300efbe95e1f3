#include "framework/profile_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace knx::framework {
namespace {

const PluginEntry* FindEntry(Registry registry, const KnownPlugin& plugin) {
  const auto found = std::find_if(registry.begin(), registry.end(),
                                  [&](const PluginEntry& e) { return e.name == plugin.name; });
  return found == registry.end() ? nullptr : &*found;
}

// Nobody knows what would make an extender change its mind, so that anything may.
class ExtenderStandIn final : public Plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return kExtenderPlugin; }
  [[nodiscard]] EventSet events() const override { return EventSet::All(); }
};

class Builder {
 public:
  Builder(const SchedulerConfiguration& config, const ProfileConfiguration& profile,
          Registry registry)
      : config_(config), profile_(profile), registry_(registry) {}

  Result<Profile> Build() {
    out_.scheduler_name = profile_.scheduler_name;
    if (auto complaint = WeightsComplaint(profile_, config_.extenders)) {
      return Fail(InvalidError(*std::move(complaint), profile_.place));
    }
    for (const KnownPlugin& plugin : KnownPlugins()) KNX_TRY_DONE(Make(plugin));
    FillFilters();
    FillScores();
    FindSwitch<ClassifierPlugin>(out_.classifier);
    FindSwitch<GangPlugin>(out_.gangs);
    FindSwitch<GangPreemptionPlugin>(out_.gang_preemption);
    FindSwitch<ReservationPlugin>(out_.reservations);
    FindSwitch<BackfillPlugin>(out_.backfill);
    Fill(Point::kPreEnqueue, out_.pre_enqueue);
    Fill(Point::kPostFilter, out_.post_filter);
    Fill(Point::kReserve, out_.reserve);
    Fill(Point::kPermit, out_.permit);
    Fill(Point::kPreBind, out_.pre_bind);
    Fill(Point::kBind, out_.bind);
    Fill(Point::kPostBind, out_.post_bind);
    if (!config_.extenders.empty()) {
      out_.extender = NextIndex();
      out_.plugins.push_back(std::make_unique<ExtenderStandIn>());
    }
    return std::move(out_);
  }

 private:
  struct Made {
    const KnownPlugin* known = nullptr;
    std::uint8_t index = 0;
  };

  Error Fail(Error error) const {
    return std::move(error).Within(fmt::format("profile {:?}", profile_.scheduler_name));
  }

  Status Make(const KnownPlugin& plugin) {
    const PluginEntry* entry = FindEntry(registry_, plugin);
    if (entry == nullptr) return Ok();
    PluginArgs args{.node = nullptr,
                    .file = config_.file,
                    .path = {},
                    .ignored_resources = IgnoredResources(config_.extenders)};
    SourcePlace place = profile_.place;
    bool configured = false;
    for (const PluginArguments& given : profile_.plugin_config) {
      if (given.plugin != &plugin) continue;
      configured = true;
      args.path = given.path;
      place = given.place;
      if (given.args) args.node = &*given.args;
    }
    const bool used = profile_.resolved.Contains(&plugin);
    if (!used && !configured) return Ok();
    auto made = entry->make(args);
    if (!made.ok()) {
      Error error = std::move(made).error();
      if (error.place.line == 0) error.place = std::move(place);
      return Fail(std::move(error).Within(fmt::format("plugin {}", plugin.name)));
    }
    KNX_CHECK(*made != nullptr, "a registry entry made no plugin");
    if (!used) return Ok();
    made_.push_back({&plugin, NextIndex()});
    out_.plugins.push_back(*std::move(made));
    return Ok();
  }

  [[nodiscard]] std::uint8_t NextIndex() const {
    KNX_CHECK(out_.plugins.size() <= std::numeric_limits<std::uint8_t>::max(),
              "more plugins than an index can tell apart");
    return static_cast<std::uint8_t>(out_.plugins.size());
  }

  const Made* Find(const KnownPlugin* plugin) const {
    const auto found = std::find_if(made_.begin(), made_.end(),
                                    [plugin](const Made& m) { return m.known == plugin; });
    return found == made_.end() ? nullptr : &*found;
  }

  // Calls visit(plugin as T, index, entry) for those of a point that are built and implement T, in
  // order.
  template <class T, class Visit>
  void ForEach(Point point, Visit visit) const {
    for (const ResolvedPlugin& entry : profile_.resolved.at(point)) {
      const Made* made = Find(entry.plugin);
      if (made == nullptr) continue;
      const auto* plugin = dynamic_cast<const T*>(out_.plugins[made->index].get());
      if (plugin != nullptr) visit(plugin, made->index, entry);
    }
  }

  template <class T>
  void Fill(Point point, std::vector<Profile::Entry<T>>& out) const {
    ForEach<T>(point, [&](const T* plugin, std::uint8_t index, const ResolvedPlugin&) {
      out.push_back({plugin, index});
    });
  }

  // At whichever of its points it is named: something is on for the profile, or it is not.
  template <class T, class Entry>
  void FindSwitch(std::optional<Entry>& out) {
    for (std::size_t i = 0; i < out_.plugins.size(); ++i) {
      const auto* plugin = dynamic_cast<const T*>(out_.plugins[i].get());
      if (plugin != nullptr) out = Entry{plugin, static_cast<std::uint8_t>(i)};
    }
  }

  void FillFilters() {
    const ResolvedPlugins& resolved = profile_.resolved;
    ForEach<FilterPlugin>(Point::kFilter, [&](const FilterPlugin* plugin, std::uint8_t index,
                                              const ResolvedPlugin& entry) {
      const bool pre_filter = resolved.Contains(Point::kPreFilter, entry.plugin);
      out_.filters.push_back({plugin, index, pre_filter, true});
    });
    ForEach<FilterPlugin>(Point::kPreFilter, [&](const FilterPlugin* plugin, std::uint8_t index,
                                                 const ResolvedPlugin& entry) {
      if (resolved.Contains(Point::kFilter, entry.plugin)) return;
      out_.filters.push_back({plugin, index, true, false});
    });
    Rank<FilterPlugin>(Point::kPreFilter, out_.filters);
  }

  // Where the plugins stand at a point of its own order.
  template <class T, class Entry>
  void Rank(Point point, std::vector<Entry>& entries) const {
    std::uint16_t rank = 0;
    ForEach<T>(point, [&](const T* plugin, std::uint8_t, const ResolvedPlugin&) {
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [plugin](const Entry& e) { return e.plugin == plugin; });
      entry->rank = rank++;
    });
  }

  void FillScores() {
    ForEach<ScorePlugin>(Point::kScore, [&](const ScorePlugin* plugin, std::uint8_t index,
                                            const ResolvedPlugin& entry) {
      out_.scores.push_back({plugin, index, entry.weight, true});
    });
    ForEach<ScorePlugin>(Point::kPreScore, [&](const ScorePlugin* plugin, std::uint8_t index,
                                               const ResolvedPlugin& entry) {
      if (profile_.resolved.Contains(Point::kScore, entry.plugin)) return;
      out_.scores.push_back({plugin, index, 1, false});
    });
    Rank<ScorePlugin>(Point::kPreScore, out_.scores);
  }

  const SchedulerConfiguration& config_;
  const ProfileConfiguration& profile_;
  Registry registry_;
  Profile out_;
  std::vector<Made> made_;
};

// ---- what has no effect ----

std::string At(SourcePlace place, std::string message) {
  return InvalidError(std::move(message), std::move(place)).ToString();
}

// Where the file names the plugin first; without a line if it does not.
SourcePlace PlaceOf(const ProfileConfiguration& profile, const KnownPlugin& plugin) {
  SourcePlace first;
  const auto look_at = [&](const PluginSet& set) {
    for (const EnabledPlugin& entry : set.enabled) {
      const bool earlier = first.line == 0 || entry.place.line < first.line;
      if (entry.plugin == &plugin && earlier) first = entry.place;
    }
  };
  look_at(profile.plugins.multi_point);
  for (const PluginSet& set : profile.plugins.points) look_at(set);
  return first;
}

using Names = std::vector<std::string_view>;

// One line for those that the file names; gives the others that are not built.
Names WarnOfNamedPlugins(const ProfileConfiguration& profile, Registry registry,
                         std::vector<std::string>& out) {
  Names unnamed;
  std::vector<std::pair<SourcePlace, std::string_view>> named;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    if (FindEntry(registry, plugin) != nullptr || !profile.resolved.Contains(&plugin)) continue;
    SourcePlace place = PlaceOf(profile, plugin);
    if (place.line == 0) {
      unnamed.push_back(plugin.name);
    } else {
      named.emplace_back(std::move(place), plugin.name);
    }
  }
  if (named.empty()) return unnamed;
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return a.first.line < b.first.line; });
  Names names;
  for (const auto& [place, name] : named) names.push_back(name);
  out.push_back(At(std::move(named.front().first),
                   fmt::format("profile {:?}: known but not built yet, so without effect: {}",
                               profile.scheduler_name, fmt::join(names, ", "))));
  return unnamed;
}

// It makes room for gangs that are placed as wholes, which nothing does without the other.
void WarnOfGangPreemption(const ProfileConfiguration& profile, std::vector<std::string>& out) {
  const KnownPlugin& preemption = *FindPlugin("GangPreemption");
  const bool alone = profile.resolved.Contains(&preemption) &&
                     !profile.resolved.Contains(FindPlugin("Coscheduling"));
  if (!alone) return;
  out.push_back(At(PlaceOf(profile, preemption),
                   fmt::format("profile {:?}: GangPreemption has no effect without Coscheduling, "
                               "because members of gangs are pods like any other then",
                               profile.scheduler_name)));
}

// Nobody would read them, as where a plugin is named in another profile, or not at all.
void WarnOfArguments(const ProfileConfiguration& profile, std::vector<std::string>& out) {
  for (const PluginArguments& entry : profile.plugin_config) {
    if (profile.resolved.Contains(entry.plugin)) continue;
    out.push_back(At(entry.place,
                     fmt::format("profile {:?}: these arguments have no effect, because {} is not "
                                 "enabled in it",
                                 profile.scheduler_name, entry.plugin->name)));
  }
}

// One line for all profiles that lack the same. `missing`: of each profile.
void WarnOfDefaultPlugins(const SchedulerConfiguration& config, const std::vector<Names>& missing,
                          std::vector<std::string>& out) {
  for (auto names = missing.begin(); names != missing.end(); ++names) {
    if (names->empty() || std::find(missing.begin(), names, *names) != names) continue;
    std::vector<std::string> profiles;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] != *names) continue;
      profiles.push_back(fmt::format("{:?}", config.profiles[i].scheduler_name));
    }
    SourcePlace place{config.file, 0, 0};
    std::string who;
    if (profiles.size() < missing.size()) {
      if (!config.file.empty()) place = config.profiles[names - missing.begin()].place;
      place.file = config.file;
      who =
          fmt::format("profile{} {}: ", profiles.size() == 1 ? "" : "s", fmt::join(profiles, ", "));
    }
    out.push_back(At(std::move(place),
                     fmt::format("{}of the default set these plugins are not built yet, so they "
                                 "have no effect: {}",
                                 who, fmt::join(*names, ", "))));
  }
}

}  // namespace

Result<std::vector<Profile>> BuildProfiles(const SchedulerConfiguration& config,
                                           Registry registry) {
  std::vector<Profile> out;
  for (const ProfileConfiguration& profile : config.profiles) {
    KNX_TRY(Profile built, Builder(config, profile, registry).Build());
    out.push_back(std::move(built));
  }
  return out;
}

std::vector<std::string> Warnings(const SchedulerConfiguration& config, Registry registry) {
  std::vector<std::string> out = config.warnings;
  std::vector<Names> missing;
  for (const ProfileConfiguration& profile : config.profiles) {
    missing.push_back(WarnOfNamedPlugins(profile, registry, out));
    WarnOfGangPreemption(profile, out);
    WarnOfArguments(profile, out);
  }
  WarnOfDefaultPlugins(config, missing, out);
  return out;
}

}  // namespace knx::framework
