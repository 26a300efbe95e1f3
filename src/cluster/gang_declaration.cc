#include "cluster/gang_declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <system_error>

#include "k8s/names.h"

namespace knx::cluster {
namespace {

namespace names = k8s::names;

// The value of a key; empty if it is not there, which means the same.
std::string_view Find(const k8s::StringMap& map, std::string_view key) {
  const auto it =
      std::lower_bound(map.begin(), map.end(), key,
                       [](const auto& entry, std::string_view k) { return entry.first < k; });
  return it != map.end() && it->first == key ? std::string_view(it->second) : std::string_view();
}

// Labels first: who writes both means the label.
std::string_view Declared(const k8s::ObjectMeta& meta, std::string_view key) {
  const std::string_view label = Find(meta.labels, key);
  return label.empty() ? Find(meta.annotations, key) : label;
}

// Nearly all pods have no such key; they are found out at a glance.
bool MaySpeakOfGangs(const k8s::StringMap& map) {
  return std::any_of(map.begin(), map.end(), [](const auto& entry) {
    const std::string_view key = entry.first;
    return key.starts_with("pod-group.scheduling.") || key.starts_with("kueue.x-k8s.io/");
  });
}

struct Said {
  std::string_view key, value;
};

// Of several spellings the first that is there.
Said FirstOf(const k8s::ObjectMeta& meta, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string_view value = Declared(meta, key); !value.empty()) return {key, value};
  }
  return {};
}

constexpr std::string_view kNames[] = {names::kGangName, names::kSigsGangName,
                                       names::kKueueGroupName};
constexpr std::string_view kMinimums[] = {names::kGangMinAvailable, names::kSigsGangMinAvailable,
                                          names::kSigsGangMinMember, names::kKueueGroupCount};

// "pod-group.scheduling.kubenexus.io/min-available" is known to people as min-available.
std::string_view ShortKey(std::string_view key) { return key.substr(key.rfind('/') + 1); }

void ReadMinimum(const Said& said, GangDeclaration& gang) {
  std::int64_t value = 0;
  const std::string_view text = said.value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_large = error == std::errc::result_out_of_range || value > kMaxGangMinimum;
  const bool whole = end == text.data() + text.size();
  if (!whole || (error != std::errc() && !too_large)) {
    gang.problem = fmt::format("failed to parse {} value {:?}: a whole number is wanted",
                               ShortKey(said.key), said.value);
  } else if (too_large && !said.value.starts_with('-')) {
    gang.problem = fmt::format("{} must be at most {}, got {}", ShortKey(said.key), kMaxGangMinimum,
                               said.value);
  } else if (value < 1) {
    gang.problem = fmt::format("{} must be at least 1, got {}", ShortKey(said.key), said.value);
  } else {
    gang.minimum = static_cast<std::int32_t>(value);
  }
}

}  // namespace

std::optional<GangDeclaration> ReadGangDeclaration(const k8s::ObjectMeta& meta) {
  if (!MaySpeakOfGangs(meta.labels) && !MaySpeakOfGangs(meta.annotations)) return std::nullopt;
  const Said name = FirstOf(meta, kNames);
  if (name.value.empty()) return std::nullopt;
  const Said minimum = FirstOf(meta, kMinimums);
  if (minimum.value.empty()) return std::nullopt;
  GangDeclaration gang{.name = std::string(name.value)};
  ReadMinimum(minimum, gang);
  if (gang.problem.empty() && gang.minimum == 1) return std::nullopt;
  return gang;
}

}  // namespace knx::cluster
