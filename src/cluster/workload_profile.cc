#include "cluster/workload_profile.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "k8s/pod_requests.h"

namespace knx::cluster {
namespace {

using From = ProfileRule::From;

constexpr std::pair<std::string_view, Tier> kTiers[] = {
    {"gold", Tier::kGold}, {"silver", Tier::kSilver}, {"bronze", Tier::kBronze}};
constexpr std::pair<std::string_view, k8s::WorkloadType> kTypes[] = {
    {"training", k8s::WorkloadType::kTraining},
    {"inference", k8s::WorkloadType::kInference},
    {"batch", k8s::WorkloadType::kBatch},
    {"service", k8s::WorkloadType::kService},
    {"interactive", k8s::WorkloadType::kInteractive}};
constexpr std::pair<std::string_view, Preemptible> kPreemptible[] = {{"true", Preemptible::kYes},
                                                                     {"false", Preemptible::kNo}};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool SameLetter(char a, char b) { return Lower(a) == Lower(b); }

bool SameText(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameLetter);
}

bool Contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), SameLetter) != text.end();
}

template <class Value, std::size_t n>
std::optional<Value> Read(const std::pair<std::string_view, Value> (&words)[n],
                          std::string_view text) {
  for (const auto& [word, value] : words) {
    if (SameText(word, text)) return value;
  }
  return std::nullopt;
}

bool Fits(const ProfileRule& rule, std::string_view value) {
  if (value.empty()) return false;
  const auto is = [value](const std::string& wanted) { return SameText(value, wanted); };
  const auto has = [value](const std::string& part) { return Contains(value, part); };
  if (rule.values.empty() && rule.contains.empty()) return true;
  return std::any_of(rule.values.begin(), rule.values.end(), is) ||
         std::any_of(rule.contains.begin(), rule.contains.end(), has);
}

// Whatever vendor: "nvidia.com/gpu", "amd.com/gpu".
std::int64_t GpusOf(const k8s::PodSpec& spec) {
  std::int64_t gpus = 0;
  for (const auto& [name, amount] : k8s::PodRequests(spec)) {
    if (std::string_view(name).ends_with("/gpu")) gpus += amount.Value();
  }
  return gpus;
}

// What is found out about one pod or namespace.
class Look {
 public:
  Look(SymbolTable& words, const k8s::Pod* pod, bool gang)
      : words_(words), pod_(pod), gang_(gang) {}

  // Whether a rule at this position could still count.
  [[nodiscard]] bool MayCount(std::uint8_t at, const ProfileRule& rule) const {
    return at < findings.rules[static_cast<std::size_t>(rule.sets)];
  }
  void Try(std::uint8_t at, const ProfileRule& rule, std::string_view value) {
    Try(at, rule, value, value);
  }
  // `means`: what the field is set to, if the rule does not say.
  void Try(std::uint8_t at, const ProfileRule& rule, std::string_view value,
           std::string_view means) {
    if (!MayCount(at, rule) || !Fits(rule, value) || !HoldsBesides(rule)) return;
    if (Set(rule.sets, rule.to.empty() ? means : rule.to)) {
      findings.rules[static_cast<std::size_t>(rule.sets)] = at;
    }
  }

  ProfileFindings findings;

 private:
  bool HoldsBesides(const ProfileRule& rule) {
    if (rule.gang && !gang_) return false;
    if (rule.gpus_at_least == 0) return true;
    if (!gpus_) gpus_ = pod_ == nullptr ? 0 : GpusOf(pod_->spec);
    return *gpus_ >= rule.gpus_at_least;
  }
  // A text that says nothing we know is as if it were not there.
  bool Set(ProfileField field, std::string_view text) {
    switch (field) {
      case ProfileField::kTenant:
        findings.tenant = words_.Intern(text);
        return true;
      case ProfileField::kTier:
        return Take(Read(kTiers, text), findings.tier);
      case ProfileField::kType:
        return Take(Read(kTypes, text), findings.type);
      case ProfileField::kPreemptible:
        return Take(Read(kPreemptible, text), findings.preemptible);
    }
    return false;
  }
  template <class Value>
  static bool Take(std::optional<Value> read, Value& out) {
    if (read) out = *read;
    return read.has_value();
  }

  SymbolTable& words_;
  const k8s::Pod* pod_;  // nullptr: a namespace
  bool gang_;
  std::optional<std::int64_t> gpus_;  // once they were counted
};

template <class ByKey>
void TryAll(const ByKey& by_key, const std::vector<ProfileRule>& rules, const k8s::StringMap& map,
            Look& look) {
  if (by_key.empty()) return;
  for (const auto& [key, value] : map) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) continue;
    for (const std::uint8_t at : found->second) look.Try(at, rules[at], value);
  }
}

void TryOther(std::uint8_t at, const ProfileRule& rule, const k8s::Pod& pod,
              const k8s::Operator* made_by, Look& look) {
  if (!look.MayCount(at, rule)) return;
  if (rule.from == From::kPriorityClass) {
    look.Try(at, rule, pod.spec.priority_class_name);
  } else if (rule.from == From::kImage) {
    for (const k8s::Container& container : pod.spec.containers) {
      look.Try(at, rule, container.image);
    }
  } else if (rule.from == From::kPod) {
    look.Try(at, rule, "pod");
  } else if (made_by != nullptr) {
    look.Try(at, rule, made_by->name, k8s::NameOf(made_by->type));
  }
}

}  // namespace

std::string_view NameOf(Tier tier) {
  for (const auto& [name, value] : kTiers) {
    if (value == tier) return name;
  }
  return "";
}

std::string_view AllowedValues(ProfileField field) {
  switch (field) {
    case ProfileField::kTenant:
      break;
    case ProfileField::kTier:
      return "gold, silver, bronze";
    case ProfileField::kType:
      return "training, inference, batch, service, interactive";
    case ProfileField::kPreemptible:
      return "true, false";
  }
  return "";
}

bool IsAllowed(ProfileField field, std::string_view text) {
  switch (field) {
    case ProfileField::kTenant:
      return !text.empty();
    case ProfileField::kTier:
      return Read(kTiers, text).has_value();
    case ProfileField::kType:
      return Read(kTypes, text).has_value();
    case ProfileField::kPreemptible:
      return Read(kPreemptible, text).has_value();
  }
  return false;
}

ProfileRules::ProfileRules(std::vector<ProfileRule> rules, Defaults defaults)
    : rules_(std::move(rules)), defaults_(defaults) {
  KNX_CHECK(rules_.size() <= kMost, "more rules than a position can tell apart");
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto at = static_cast<std::uint8_t>(i);
    const std::string& key = rules_[i].key;
    switch (rules_[i].from) {
      case From::kLabel:
        labels_[key].push_back(at);
        break;
      case From::kAnnotation:
        annotations_[key].push_back(at);
        break;
      case From::kNamespaceLabel:
        namespace_labels_[key].push_back(at);
        break;
      default:
        others_.push_back(at);
    }
  }
}

ProfileFindings ProfileRules::LookAt(const k8s::Pod& pod, bool gang, SymbolTable& words) const {
  Look look(words, &pod, gang);
  TryAll(labels_, rules_, pod.meta.labels, look);
  TryAll(annotations_, rules_, pod.meta.annotations, look);
  if (others_.empty()) return look.findings;
  const k8s::Operator* const made_by = k8s::OperatorOf(pod.meta);
  for (const std::uint8_t at : others_) TryOther(at, rules_[at], pod, made_by, look);
  return look.findings;
}

ProfileFindings ProfileRules::LookAt(const k8s::Namespace& space, SymbolTable& words) const {
  Look look(words, nullptr, false);
  TryAll(namespace_labels_, rules_, space.meta.labels, look);
  return look.findings;
}

WorkloadProfile ProfileRules::Judge(const ProfileFindings& pod, const ProfileFindings& space,
                                    Symbol namespace_, bool gang) const {
  const auto first = [&](ProfileField field) -> const ProfileFindings* {
    const auto at = static_cast<std::size_t>(field);
    const ProfileFindings& one = space.rules[at] < pod.rules[at] ? space : pod;
    return one.rules[at] == ProfileFindings::kNoRule ? nullptr : &one;
  };
  WorkloadProfile profile{
      .tenant = namespace_, .tier = defaults_.tier, .type = defaults_.type, .gang = gang};
  if (const auto* found = first(ProfileField::kTenant)) profile.tenant = found->tenant;
  if (const auto* found = first(ProfileField::kTier)) profile.tier = found->tier;
  if (const auto* found = first(ProfileField::kType)) profile.type = found->type;
  if (const auto* found = first(ProfileField::kPreemptible)) {
    profile.preemptible = found->preemptible;
  }
  return profile;
}

}  // namespace knx::cluster
