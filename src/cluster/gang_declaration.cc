#include "cluster/gang_declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

#include "base/shortened.h"
#include "k8s/names.h"
#include "k8s/operators.h"
#include "k8s/selector.h"

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

// Nearly all pods have no such key; they are found out at a glance.
bool MaySpeakOfGangs(const k8s::StringMap& map) {
  return std::any_of(map.begin(), map.end(), [](const auto& entry) {
    const std::string_view key = entry.first;
    return key.starts_with("pod-group.scheduling.") || key.starts_with("kueue.x-k8s.io/") ||
           key == names::kSigsPodGroup || key == names::kVolcanoGroupName ||
           key == names::kWorkloadName || key == names::kEarlierGangName ||
           key == names::kEarlierMinAvailable;
  });
}

// One of the things that a pod says: "label a/b" says "c".
struct Said {
  std::string_view kind, key;
  std::string value;
  GangSource source = GangSource::kPod;
};
using AllSaid = std::vector<Said>;

constexpr std::string_view kNames[] = {names::kGangName, names::kSigsGangName,
                                       names::kEarlierGangName, names::kKueueGroupName};
constexpr std::string_view kMinimums[] = {names::kGangMinAvailable, names::kSigsGangMinAvailable,
                                          names::kSigsGangMinMember, names::kEarlierMinAvailable,
                                          names::kKueueGroupCount};

void AddSaid(const k8s::StringMap& map, std::string_view kind,
             std::span<const std::string_view> keys, GangSource source, AllSaid& out) {
  for (const std::string_view key : keys) {
    const std::string_view value = Find(map, key);
    if (!value.empty()) out.push_back({kind, key, std::string(value), source});
  }
}

constexpr std::string_view kLabel = "label ", kAnnotation = "annotation ";

// What comes first counts.
AllSaid NamesIn(const k8s::Pod& pod) {
  AllSaid out;
  if (const auto& group = pod.spec.pod_group; group && group->workload.empty()) {
    if (!group->group.empty()) {
      out.push_back({"", "spec.schedulingGroup", group->group, GangSource::kPodGroup});
    }
  } else if (group) {
    std::string name = fmt::format("{}/{}", group->workload, group->group);
    if (!group->replica_key.empty()) name += fmt::format("/{}", group->replica_key);
    out.push_back({"", "spec.workloadRef", std::move(name), GangSource::kWorkload});
  }
  const k8s::StringMap& labels = pod.meta.labels;
  const k8s::StringMap& annotations = pod.meta.annotations;
  const std::string_view workload = Find(labels, names::kWorkloadName);
  const std::string_view part = Find(labels, names::kWorkloadGroup);
  if (!workload.empty() && !part.empty()) {
    out.push_back({kLabel, names::kWorkloadName, fmt::format("{}/{}", workload, part),
                   GangSource::kWorkload});
  }
  const std::span sigs(&names::kSigsPodGroup, 1), volcano(&names::kVolcanoGroupName, 1);
  AddSaid(labels, kLabel, sigs, GangSource::kSigsPodGroup, out);
  AddSaid(annotations, kAnnotation, sigs, GangSource::kSigsPodGroup, out);
  AddSaid(annotations, kAnnotation, volcano, GangSource::kVolcano, out);
  AddSaid(labels, kLabel, kNames, GangSource::kPod, out);
  AddSaid(annotations, kAnnotation, kNames, GangSource::kPod, out);
  return out;
}

// The same for minimums, which only pods without an object need.
AllSaid MinimumsIn(const k8s::ObjectMeta& meta) {
  AllSaid out;
  AddSaid(meta.labels, kLabel, kMinimums, GangSource::kPod, out);
  AddSaid(meta.annotations, kAnnotation, kMinimums, GangSource::kPod, out);
  return out;
}

// The name has the operator in it: two of them may have made something of the same name.
void AddNameByOperator(const k8s::Operator& made_by, const k8s::ObjectMeta& meta, AllSaid& out) {
  const std::string_view name = Find(meta.labels, made_by.gang_name);
  if (name.empty()) return;
  std::string whole = fmt::format("{}/{}", made_by.name, name);
  if (!made_by.gang_part.empty()) {
    const std::string_view part = Find(meta.labels, made_by.gang_part);
    if (part.empty()) return;
    whole += fmt::format("/{}", part);
  }
  out.push_back({kLabel, made_by.gang_name, std::move(whole), GangSource::kOperator});
}

void AddSizeByOperator(const k8s::Operator& made_by, const k8s::ObjectMeta& meta, AllSaid& out) {
  if (made_by.gang_size.empty()) return;
  const std::span size(&made_by.gang_size, 1);
  AddSaid(meta.labels, kLabel, size, GangSource::kPod, out);
  AddSaid(meta.annotations, kAnnotation, size, GangSource::kPod, out);
}

// Of several that should say the same, the first that does not.
std::string ConflictIn(const AllSaid& all) {
  for (const Said& other : all) {
    const Said& first = all.front();
    if (other.value == first.value) continue;
    return fmt::format("{}{} says {}, {}{} says {}: the first counts", first.kind, first.key,
                       Shortened(first.value, kLongestValue), other.kind, other.key,
                       Shortened(other.value, kLongestValue));
  }
  return {};
}

// "pod-group.scheduling.kubenexus.io/min-available" is known to people as min-available.
std::string_view ShortKey(std::string_view key) { return key.substr(key.rfind('/') + 1); }

// What is no such number is a problem of the gang's.
void ReadMinimum(const Said& said, std::int32_t& minimum, GangDeclaration& gang) {
  std::int64_t value = 0;
  const std::string_view text = said.value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool too_large = error == std::errc::result_out_of_range || value > kMaxGangMinimum;
  const bool whole = end == text.data() + text.size();
  const std::string shown = Shortened(text, kLongestValue);
  if (!whole || (error != std::errc() && !too_large)) {
    gang.problem = fmt::format("failed to parse {} value {:?}: a whole number is wanted",
                               ShortKey(said.key), shown);
  } else if (too_large && !said.value.starts_with('-')) {
    gang.problem =
        fmt::format("{} must be at most {}, got {}", ShortKey(said.key), kMaxGangMinimum, shown);
  } else if (value < 1) {
    gang.problem = fmt::format("{} must be at least 1, got {}", ShortKey(said.key), shown);
  } else {
    minimum = static_cast<std::int32_t>(value);
  }
}

// What a pod says by one key; a label counts before an annotation.
std::optional<Said> SaidBy(const k8s::ObjectMeta& meta, std::string_view key) {
  for (const auto& [map, kind] :
       {std::pair(&meta.labels, kLabel), std::pair(&meta.annotations, kAnnotation)}) {
    const std::string_view value = Find(*map, key);
    if (!value.empty()) return Said{kind, key, std::string(value), GangSource::kPod};
  }
  return std::nullopt;
}

// Where it is said by the pod, all of it is: name and minimum of the role.
void ReadRole(const k8s::ObjectMeta& meta, GangDeclaration& gang) {
  const bool by_volcano = gang.source == GangSource::kVolcano;
  const auto role = SaidBy(meta, by_volcano ? names::kVolcanoTask : names::kGangRole);
  if (!role) return;
  gang.role = role->value;
  if (HasObject(gang.source)) return;
  if (const auto minimum = SaidBy(meta, names::kGangRoleMinAvailable)) {
    ReadMinimum(*minimum, gang.role_minimum, gang);
  }
}

// Wherever it is said how many of the gang must start.
void ReadSubGroup(const k8s::ObjectMeta& meta, GangDeclaration& gang) {
  if (const auto count = SaidBy(meta, names::kGangMinSubGroups)) {
    ReadMinimum(*count, gang.min_sub_groups, gang);
  }
  const auto name = SaidBy(meta, names::kGangSubGroup);
  if (!name) return;
  gang.sub_group = name->value;
  if (const auto minimum = SaidBy(meta, names::kGangSubGroupMinAvailable)) {
    ReadMinimum(*minimum, gang.sub_group_minimum, gang);
  }
}

// A key that looks like one of ours, and is none: "label …/min-avaliable".
std::string KeyThatNobodyReads(const k8s::ObjectMeta& meta) {
  constexpr std::string_view kRead[] = {
      names::kGangName,          names::kGangMinAvailable,         names::kGangRole,
      names::kGangSubGroup,      names::kGangSubGroupMinAvailable, names::kGangMinSubGroups,
      names::kGangTopologyKey,   names::kGangRoleMinAvailable,     names::kSigsGangName,
      names::kSigsGangMinMember, names::kSigsGangMinAvailable};
  for (const auto& [map, kind] :
       {std::pair(&meta.labels, kLabel), std::pair(&meta.annotations, kAnnotation)}) {
    for (const auto& [key, value] : *map) {
      const bool known = std::find(std::begin(kRead), std::end(kRead), key) != std::end(kRead);
      if (known || !key.starts_with("pod-group.scheduling.")) continue;
      return fmt::format("{}{}", kind, Shortened(key, kLongestName));
    }
  }
  return {};
}

bool SaysHowManyOfSubGroups(const k8s::ObjectMeta& meta) {
  return SaidBy(meta, names::kGangSubGroupMinAvailable).has_value() ||
         SaidBy(meta, names::kGangMinSubGroups).has_value();
}

// Who says how many sub-groups must start, or how many pods make one whole, need not say how many
// must start in all: as many as the sub-groups have that must, if they are of a size. At least two
// in any case, of sub-groups that start no single pod.
void RaiseBySubGroups(bool said_in_all, GangDeclaration& gang) {
  // Without a size one pod is a whole sub-group.
  const std::int64_t whole = std::max(gang.sub_group_minimum, gang.min_sub_groups > 0 ? 1 : 0);
  const std::int64_t all =
      std::min<std::int64_t>(whole * std::max(gang.min_sub_groups, 1), kMaxGangMinimum);
  const std::int64_t least = said_in_all ? std::min<std::int64_t>(whole, 2) : all;
  gang.minimum = std::max(gang.minimum, static_cast<std::int32_t>(least));
}

}  // namespace

std::string_view ObjectOf(GangSource source) {
  switch (source) {
    case GangSource::kPodGroup:
      return "PodGroup object (scheduling.k8s.io)";
    case GangSource::kWorkload:
      return "Workload object with such a group (scheduling.k8s.io)";
    case GangSource::kSigsPodGroup:
      return "PodGroup object (scheduling.x-k8s.io)";
    case GangSource::kVolcano:
      return "PodGroup object (scheduling.volcano.sh)";
    case GangSource::kPod:
    case GangSource::kOperator:
      break;
  }
  return "";
}

namespace {

std::optional<GangDeclaration> Read(const k8s::Pod& pod, OperatorGangs operators) {
  const k8s::Operator* const made_by =
      operators == OperatorGangs::kRead ? k8s::GangOperatorOf(pod.meta) : nullptr;
  const bool speaks = pod.spec.pod_group || MaySpeakOfGangs(pod.meta.labels) ||
                      MaySpeakOfGangs(pod.meta.annotations) || made_by != nullptr;
  if (!speaks) return std::nullopt;
  AllSaid all = NamesIn(pod);
  if (all.empty() && made_by != nullptr) AddNameByOperator(*made_by, pod.meta, all);
  if (all.empty()) return std::nullopt;
  AllSaid minimums = MinimumsIn(pod.meta);
  if (minimums.empty() && made_by != nullptr) AddSizeByOperator(*made_by, pod.meta, minimums);
  GangDeclaration gang{.name = all.front().value, .source = all.front().source};
  if (!minimums.empty()) ReadMinimum(minimums.front(), gang.minimum, gang);
  gang.conflict = ConflictIn(all);
  if (const auto key = SaidBy(pod.meta, names::kGangTopologyKey)) gang.topology_key = key->value;
  if (HasObject(gang.source)) {
    gang.problem.clear();  // of something that does not count
    ReadRole(pod.meta, gang);
    if (gang.problem.empty()) ReadSubGroup(pod.meta, gang);
    return gang;
  }
  if (minimums.empty() && !SaysHowManyOfSubGroups(pod.meta)) return std::nullopt;
  if (gang.problem.empty()) ReadRole(pod.meta, gang);
  if (gang.problem.empty()) ReadSubGroup(pod.meta, gang);
  const std::int32_t said = gang.minimum;
  if (gang.problem.empty()) RaiseBySubGroups(!minimums.empty(), gang);
  // Where a role needs several, nobody starts alone; how many do is for the roles to say.
  if (gang.role_minimum > 1) gang.minimum = std::max(gang.minimum, 2);
  gang.by_parts = gang.minimum != said;
  if (gang.problem.empty() && gang.minimum <= 1) return std::nullopt;
  if (gang.conflict.empty()) gang.conflict = ConflictIn(minimums);
  return gang;
}

}  // namespace

std::optional<GangDeclaration> ReadGangDeclaration(const k8s::Pod& pod, OperatorGangs operators) {
  std::optional<GangDeclaration> gang = Read(pod, operators);
  if (!gang || !gang->conflict.empty()) return gang;
  const std::string unread = KeyThatNobodyReads(pod.meta);
  if (!unread.empty()) gang->conflict = fmt::format("nobody reads {}", unread);
  return gang;
}

std::string WhyInNoGang(const k8s::Pod& pod) {
  if (!MaySpeakOfGangs(pod.meta.labels) && !MaySpeakOfGangs(pod.meta.annotations)) return {};
  const AllSaid all = NamesIn(pod), minimums = MinimumsIn(pod.meta);
  // Who says both wants no more than one to start.
  if (all.empty() == minimums.empty() || SaysHowManyOfSubGroups(pod.meta)) return {};
  const Said& said = all.empty() ? minimums.front() : all.front();
  const std::string lacks =
      all.empty() ? fmt::format("no name of a pod group ({})", names::kGangName)
                  : fmt::format("no minimum of the pod group ({})", names::kGangMinAvailable);
  const std::string unread = KeyThatNobodyReads(pod.meta);
  return fmt::format("{}{} says {}, and there is {}{}{}: the pod starts for itself", said.kind,
                     said.key, Shortened(said.value, kLongestValue), lacks,
                     unread.empty() ? "" : ", and nobody reads ", unread);
}

namespace {

// How many pods the sub-groups have that must start; and two at the least, of sub-groups that start
// no single pod.
std::int32_t LeastOf(const std::vector<k8s::SubGroupPolicy>& policies) {
  std::int64_t least = 0;
  for (const k8s::SubGroupPolicy& policy : policies) {
    const auto whole = std::clamp<std::int64_t>(policy.size, 1, kMaxGangMinimum);
    const auto count = std::clamp<std::int64_t>(policy.minimum, 0, kMaxGangMinimum);
    least = std::max(least + whole * count, std::min<std::int64_t>(whole, 2));
  }
  return static_cast<std::int32_t>(std::min<std::int64_t>(least, kMaxGangMinimum));
}

}  // namespace

std::string KindOf(const k8s::SubGroupPolicy& policy, std::size_t position) {
  return policy.name.empty() ? fmt::format("{}", position) : policy.name;
}

SubGroupPlace FindSubGroup(std::span<const k8s::SubGroupPolicy> policies,
                           const k8s::StringMap& labels) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const k8s::SubGroupPolicy& policy = policies[i];
    if (policy.selector && !k8s::Matches(*policy.selector, labels)) continue;
    std::string kind = KindOf(policy, i);
    std::string name = kind;
    bool complete = true;
    for (const std::string& key : policy.match_label_keys) {
      const std::string_view value = Find(labels, key);
      complete = complete && !value.empty();
      name += fmt::format("/{}", value);
    }
    if (complete) return {&policy, std::move(kind), std::move(name)};
  }
  return {};
}

std::optional<GangObject> ReadGangObject(const k8s::Object& object) {
  if (const auto* group = std::get_if<k8s::PodGroup>(&object)) {
    constexpr std::pair<k8s::PodGroupApi, GangSource> kSources[] = {
        {k8s::PodGroupApi::kKubernetes, GangSource::kPodGroup},
        {k8s::PodGroupApi::kSigs, GangSource::kSigsPodGroup},
        {k8s::PodGroupApi::kVolcano, GangSource::kVolcano}};
    GangObject out{.name = group->meta.name, .groups = {{group->meta.name, group->minimum}}};
    for (const auto& [api, source] : kSources) {
      if (api == group->api) out.source = source;
    }
    out.terms.disruption = group->disruption;
    // Without a time that makes sense it is as if none were said.
    if (group->schedule_timeout_seconds.value_or(0) > 0) {
      out.terms.patience = Duration::Seconds(*group->schedule_timeout_seconds);
    }
    for (const auto& [role, minimum] : group->role_minimums) {
      // Who says nothing has no role.
      if (minimum > 0 && !role.empty()) out.roles[role] = std::min(minimum, kMaxGangMinimum);
    }
    out.resources = group->min_resources;
    out.topology_key = group->topology_key;
    out.sub_groups = group->sub_group_policies;
    out.groups.front().second = std::max(group->minimum, LeastOf(out.sub_groups));
    return out;
  }
  if (const auto* workload = std::get_if<k8s::GroupWorkload>(&object)) {
    GangObject out{.source = GangSource::kWorkload, .name = workload->meta.name, .groups = {}};
    for (const k8s::GroupWorkload::Group& group : workload->groups) {
      out.groups.emplace_back(fmt::format("{}/{}", out.name, group.name), group.minimum);
    }
    return out;
  }
  return std::nullopt;
}

std::string_view GroupOf(GangSource source, std::string_view gang) {
  if (source != GangSource::kWorkload) return gang;
  const std::size_t group = gang.find('/');
  return gang.substr(0, gang.find('/', group + 1));
}

}  // namespace knx::cluster
