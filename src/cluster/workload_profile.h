// Who a pod is for and what it does: its tenant and tier, and what kind of work it is. Found out
// once, when the pod is seen, by one table of rules, and kept in the state for everybody to read.
//
// A rule looks at one thing that a pod or its namespace says, and settles one field; of those that
// fit, the first in the table counts. What a pod says and what its namespace says are looked at
// apart and put together when somebody asks, so that a namespace may change without its pods being
// looked at again. Without rules nothing is found out, and nothing is spent on it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "k8s/objects.h"
#include "k8s/operators.h"

namespace knx::cluster {

enum class Tier : std::uint8_t { kNone, kBronze, kSilver, kGold };
// "gold"; empty for kNone.
std::string_view NameOf(Tier tier);

enum class Preemptible : std::uint8_t { kUnsaid, kNo, kYes };

struct WorkloadProfile {
  Symbol tenant;  // invalid: nobody asks
  Tier tier = Tier::kNone;
  k8s::WorkloadType type = k8s::WorkloadType::kNone;
  Preemptible preemptible = Preemptible::kUnsaid;
  bool gang = false;
  friend bool operator==(const WorkloadProfile&, const WorkloadProfile&) = default;
};

enum class ProfileField : std::uint8_t { kTenant, kTier, kType, kPreemptible };

struct ProfileRule {
  enum class From : std::uint8_t {
    kLabel,           // the value of the pod's label `key`
    kAnnotation,      // the same of an annotation
    kNamespaceLabel,  // the same of a label of its namespace
    kPriorityClass,   // the name of its class
    kImage,           // the image of any of its containers
    kOperator,        // the name of the operator that made it
    kPod,             // nothing: fits by what follows alone
  };
  From from = From::kLabel;
  std::string key = {};
  // The value is one of these, or has one of those in it, whatever the case. Neither: it is there.
  std::vector<std::string> values = {}, contains = {};
  std::int64_t gpus_at_least = 0;  // that the pod asks for
  bool gang = false;               // it belongs to one
  ProfileField sets = ProfileField::kType;
  // Empty: to the value itself, or to what the operator is for.
  std::string to = {};
  friend bool operator==(const ProfileRule&, const ProfileRule&) = default;
};

// What a field can be set to, for people; empty: any text.
std::string_view AllowedValues(ProfileField field);
bool IsAllowed(ProfileField field, std::string_view text);

// The documented ones.
std::vector<ProfileRule> DefaultProfileRules();

// What a pod or a namespace says: for each field the first rule that fits.
struct ProfileFindings {
  static constexpr std::uint8_t kNoRule = 255;
  std::array<std::uint8_t, 4> rules = {kNoRule, kNoRule, kNoRule, kNoRule};
  Symbol tenant;
  Tier tier = Tier::kNone;
  k8s::WorkloadType type = k8s::WorkloadType::kNone;
  Preemptible preemptible = Preemptible::kUnsaid;
  friend bool operator==(const ProfileFindings&, const ProfileFindings&) = default;
};

class ProfileRules {
 public:
  static constexpr std::size_t kMost = 255;  // so that a position is a byte

  struct Defaults {
    Tier tier = Tier::kBronze;
    k8s::WorkloadType type = k8s::WorkloadType::kService;
    friend bool operator==(const Defaults&, const Defaults&) = default;
  };
  explicit ProfileRules(std::vector<ProfileRule> rules = DefaultProfileRules())
      : ProfileRules(std::move(rules), Defaults{}) {}
  ProfileRules(std::vector<ProfileRule> rules, Defaults defaults);

  // `gang`: it says that it belongs to one.
  [[nodiscard]] ProfileFindings LookAt(const k8s::Pod& pod, bool gang, SymbolTable& words) const;
  [[nodiscard]] ProfileFindings LookAt(const k8s::Namespace& space, SymbolTable& words) const;
  // Without any rule that fits, the tenant is the namespace.
  [[nodiscard]] WorkloadProfile Judge(const ProfileFindings& pod, const ProfileFindings& space,
                                      Symbol namespace_, bool gang) const;

  [[nodiscard]] const std::vector<ProfileRule>& rules() const { return rules_; }
  [[nodiscard]] const Defaults& defaults() const { return defaults_; }

 private:
  using Positions = std::vector<std::uint8_t>;
  using ByKey = absl::flat_hash_map<std::string, Positions>;

  std::vector<ProfileRule> rules_;
  Defaults defaults_;
  // Where the rules are, so that a pod is not held against each of them.
  ByKey labels_, annotations_, namespace_labels_;
  Positions others_;
};

}  // namespace knx::cluster
