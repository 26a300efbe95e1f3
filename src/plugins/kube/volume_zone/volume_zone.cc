#include "plugins/kube/volume_zone/volume_zone.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "k8s/selector.h"
#include "plugins/common/node_matcher.h"
#include "plugins/common/pod_volumes.h"

namespace knx::plugins {
namespace {

namespace names = k8s::names;
using cluster::Volumes;
using framework::EventKind;
using framework::Outcome;

constexpr std::array<std::string_view, 4> kTopologyLabels = {names::kZoneBeta, names::kRegionBeta,
                                                             names::kZone, names::kRegion};

// What came in the place of a word.
std::string_view PresentWord(std::string_view label) {
  if (label == names::kZoneBeta) return names::kZone;
  if (label == names::kRegionBeta) return names::kRegion;
  return label;
}

// Where a volume is, by one label: any of these values.
struct VolumePlace {
  std::string_view key;
  std::vector<std::string> values;  // sorted, unique
  friend bool operator==(const VolumePlace&, const VolumePlace&) = default;
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// "a__b" means a or b. Nothing for a text that says nothing in some place.
std::optional<std::vector<std::string>> SplitZones(std::string_view text) {
  std::vector<std::string> out;
  for (bool more = true; more;) {
    const std::size_t end = text.find(names::kZoneDelimiter);
    more = end != std::string_view::npos;
    const std::string_view zone = Trimmed(text.substr(0, end));
    if (zone.empty()) return std::nullopt;
    out.emplace_back(zone);
    if (more) text.remove_prefix(end + names::kZoneDelimiter.size());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void AddTopologies(const k8s::PersistentVolume& volume, std::vector<VolumePlace>& out) {
  for (const std::string_view key : kTopologyLabels) {
    const std::string* value = k8s::FindValue(volume.meta.labels, key);
    if (value == nullptr) continue;
    if (auto zones = SplitZones(*value)) out.push_back({key, *std::move(zones)});
  }
}

std::vector<VolumePlace> TopologiesOf(const k8s::PersistentVolume& volume) {
  std::vector<VolumePlace> out;
  AddTopologies(volume, out);
  return out;
}

// Where the volumes of the claims are, or why that cannot be said.
Outcome FindTopologies(const framework::PodView& pod, std::vector<VolumePlace>& out) {
  const Volumes& volumes = pod.state.volumes();
  for (const cluster::ClaimUse& use : pod.pod_class.claims) {
    if (use.ephemeral) continue;
    const k8s::PersistentVolumeClaim* claim = volumes.FindClaim(use.key);
    if (claim == nullptr) return Outcome::Unresolvable(ClaimNotFound(use.key));
    if (claim->volume_name.empty()) {
      const std::string_view name = cluster::ClassOf(*claim);
      if (name.empty()) {
        return Outcome::Unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
      }
      const k8s::StorageClass* storage_class = volumes.FindClass(name);
      if (storage_class == nullptr) return Outcome::Unresolvable(StorageClassNotFound(name));
      if (storage_class->binding_mode == k8s::BindingMode::kWaitForFirstConsumer) continue;
      return Outcome::Unresolvable("PersistentVolume had no name");
    }
    const k8s::PersistentVolume* volume = volumes.FindVolume(claim->volume_name);
    if (volume == nullptr) return Outcome::Unresolvable(VolumeNotFound(claim->volume_name));
    AddTopologies(*volume, out);
  }
  return Outcome::Success();
}

class ZoneFilter final : public framework::NodeFilter {
 public:
  ZoneFilter(const cluster::State& state, const std::vector<VolumePlace>& topologies)
      : state_(state), words_(state.words()) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      seen_[i] = state.volumes().generation(kKinds[i]);
    }
    for (std::size_t i = 0; i < kTopologyLabels.size(); ++i) {
      labels_[i] = words_.Find(kTopologyLabels[i]);
    }
    for (const VolumePlace& topology : topologies) {
      Condition& condition = conditions_.emplace_back();
      condition.key = words_.Find(topology.key);
      condition.present_key = words_.Find(PresentWord(topology.key));
      for (const std::string& value : topology.values) {
        condition.values.push_back(words_.Find(value));
      }
    }
  }

  void Filter(framework::NodeRows nodes, framework::Verdicts& out) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const cluster::NodeFacts& node = state_.nodes().facts(nodes[i]);
      if (IsInSomeZone(node) && !IsWhereTheVolumesAre(node)) {
        out.Reject(i, framework::Code::kUnresolvable);
      }
    }
  }
  void Explain(const framework::Verdict& /*verdict*/,
               std::vector<std::string>& reasons) const override {
    reasons.emplace_back("node(s) had no available volume zone");
  }
  [[nodiscard]] bool Current() const override {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (seen_[i] != state_.volumes().generation(kKinds[i])) return false;
    }
    return words_.Current();
  }

 private:
  static constexpr std::array<Volumes::Kind, 3> kKinds = {
      Volumes::Kind::kClaim, Volumes::Kind::kVolume, Volumes::Kind::kClass};
  struct Condition {
    Symbol key, present_key;
    std::vector<Symbol> values;
  };

  static Symbol Value(const cluster::NodeFacts& node, Symbol key) {
    return key.valid() ? LabelOf(node, key) : Symbol{};
  }
  // A cluster of one zone need not say so.
  [[nodiscard]] bool IsInSomeZone(const cluster::NodeFacts& node) const {
    return std::any_of(labels_.begin(), labels_.end(),
                       [&](Symbol key) { return Value(node, key).valid(); });
  }
  [[nodiscard]] bool IsWhereTheVolumesAre(const cluster::NodeFacts& node) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
      Symbol value = Value(node, condition.key);
      if (!value.valid()) value = Value(node, condition.present_key);
      return value.valid() && std::find(condition.values.begin(), condition.values.end(), value) !=
                                  condition.values.end();
    });
  }

  const cluster::State& state_;
  WordLookup words_;
  std::array<std::uint64_t, kKinds.size()> seen_{};
  std::array<Symbol, kTopologyLabels.size()> labels_;
  std::vector<Condition> conditions_;
};

}  // namespace

framework::EventSet VolumeZone::events() const {
  // A quirk of kube-scheduler: who waits for new nodes is also woken whenever taints of a node
  // change.
  return {EventKind::kStorageClassAdd, EventKind::kNodeAdd,     EventKind::kNodeLabel,
          EventKind::kNodeTaint,       EventKind::kClaimAdd,    EventKind::kClaimUpdate,
          EventKind::kVolumeAdd,       EventKind::kVolumeUpdate};
}

bool VolumeZone::MayHelp(const framework::ClusterEvent& event,
                         const framework::PodView& pod) const {
  switch (event.kind) {
    case EventKind::kClaimAdd:
    case EventKind::kClaimUpdate:
      return UsesClaimOf(event, pod.pod_class, false);
    case EventKind::kStorageClassAdd: {
      const auto* added = ObjectOf<k8s::StorageClass>(event);
      return added == nullptr || added->binding_mode == k8s::BindingMode::kWaitForFirstConsumer;
    }
    case EventKind::kVolumeUpdate: {
      const auto* now = ObjectOf<k8s::PersistentVolume>(event);
      const auto* before = ObjectBefore<k8s::PersistentVolume>(event);
      return now == nullptr || before == nullptr || TopologiesOf(*now) != TopologiesOf(*before);
    }
    default:
      return true;
  }
}

framework::PreFilterResult VolumeZone::PreFilter(const framework::PodView& pod) const {
  framework::PreFilterResult result;
  result.scope = framework::Scope::kFacts;
  const auto& claims = pod.pod_class.claims;
  if (std::all_of(claims.begin(), claims.end(), [](const auto& use) { return use.ephemeral; })) {
    result.outcome = Outcome::Skip();
    return result;
  }
  std::vector<VolumePlace> topologies;
  result.outcome = FindTopologies(pod, topologies);
  if (!result.outcome.ok()) {
    // What claims say changes with nothing that the engine watches.
    result.scope = framework::Scope::kCluster;
    return result;
  }
  // Also without any topology: what the filter was prepared from may change.
  result.filter = std::make_unique<ZoneFilter>(pod.state, topologies);
  return result;
}

}  // namespace knx::plugins
