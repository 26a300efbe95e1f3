// A gang of Jobs as users may have it, drawn at random: plain, of members with roles, of
// sub-groups, in one rack, or made by its driver.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/names.h"
#include "scenario/annotations.h"
#include "sim/cluster_for_test.h"

namespace knx::sim {

enum class GangKind : std::uint8_t { kPlain, kRoles, kSubGroups, kOneRack, kDriven };
inline constexpr int kGangKinds = 5;
inline constexpr const char* kRackForTest = "example.com/rack";

struct DrawnGang {
  GangKind kind = GangKind::kPlain;
  int members = 0, minimum = 0, cpus = 0;
  std::string run_for;
  std::vector<k8s::Job> jobs;
  std::optional<k8s::Job> executors;  // made once the driver runs
  std::vector<std::string> names;     // of all of its Jobs
};

class GangDrawer {
 public:
  // `rack_cpus`: so many has a rack.
  GangDrawer(Random& random, std::string name, int rack_cpus)
      : random_(random), name_(std::move(name)), rack_cpus_(rack_cpus) {}

  // One after the other may be larger, and is soon over.
  DrawnGang DrawPlain() {
    constexpr int kMostMembers = 30, kMostMinutes = 30;
    DrawSize(kMostMembers, kMostMinutes);
    Add("", gang_.members, {});
    return std::move(gang_);
  }

  DrawnGang Draw() {
    constexpr int kMostMembers = 14, kMostMinutes = 120, kPlain = 40;
    DrawSize(kMostMembers, kMostMinutes);
    if (!random_.Chance(kPlain)) gang_.kind = static_cast<GangKind>(1 + Below(kGangKinds - 1));
    switch (gang_.kind) {
      case GangKind::kPlain:
        Add("", gang_.members, {});
        break;
      case GangKind::kRoles:
        AddRoles();
        break;
      case GangKind::kSubGroups:
        AddSubGroups();
        break;
      case GangKind::kOneRack:
        // Also where a machine of it is gone.
        gang_.members = std::min(gang_.members, rack_cpus_ / 2 / gang_.cpus);
        gang_.minimum = std::min(gang_.minimum, gang_.members);
        Add("", gang_.members, {{std::string(k8s::names::kGangTopologyKey), kRackForTest}});
        break;
      case GangKind::kDriven:
        AddDriver();
        break;
    }
    return std::move(gang_);
  }

 private:
  int Below(int most) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(most))); }

  void DrawSize(int most_members, int most_minutes) {
    gang_.members = 2 + Below(most_members);
    gang_.minimum = random_.Chance(70) ? gang_.members : 2 + gang_.members / 2;
    gang_.minimum = std::min(gang_.minimum, gang_.members);
    gang_.cpus = 1 << random_.Below(3);
    gang_.run_for = fmt::format("{}m", 2 + Below(most_minutes));
  }

  k8s::Job Make(const std::string& part, int pods, const k8s::StringMap& annotations) {
    k8s::Job job;
    job.meta.name = part.empty() ? name_ : fmt::format("{}-{}", name_, part);
    job.meta.namespace_ = "default";
    job.parallelism = pods;
    job.completions = pods;
    job.backoff_limit = 100'000;
    job.pod_template.spec = SpecForTest(std::to_string(gang_.cpus));
    job.pod_template.meta.labels = {
        {std::string(k8s::names::kGangMinAvailable), std::to_string(gang_.minimum)},
        {std::string(k8s::names::kGangName), name_}};
    job.pod_template.meta.annotations = annotations;
    job.pod_template.meta.annotations.emplace_back(scenario::kRunFor, gang_.run_for);
    gang_.names.push_back(job.meta.name);
    return job;
  }
  void Add(const std::string& part, int pods, const k8s::StringMap& annotations) {
    gang_.jobs.push_back(Make(part, pods, annotations));
  }

  void AddRoles() {
    const int servers = 1 + Below(std::max(gang_.members / 4, 1));
    const std::pair<const char*, int> roles[] = {{"ps", servers},
                                                 {"worker", gang_.members - servers}};
    for (const auto& [role, pods] : roles) {
      Add(role, pods,
          {{std::string(k8s::names::kGangRole), role},
           {std::string(k8s::names::kGangRoleMinAvailable), std::to_string(1 + Below(pods))}});
    }
  }

  void AddSubGroups() {
    const int groups = 2 + Below(3), size = 2 + Below(3), wanted = 1 + Below(groups);
    gang_.members = groups * size;
    gang_.minimum = wanted * size;
    for (int i = 0; i < groups; ++i) {
      const std::string name = fmt::format("part{}", i);
      Add(name, size,
          {{std::string(k8s::names::kGangSubGroup), name},
           {std::string(k8s::names::kGangSubGroupMinAvailable), std::to_string(size)},
           {std::string(k8s::names::kGangMinSubGroups), std::to_string(wanted)}});
    }
  }

  void AddDriver() {
    Add("driver", 1,
        {{std::string(k8s::names::kExecutorResources), fmt::format("cpu={}", gang_.cpus)}});
    k8s::StringMap& labels = gang_.jobs.back().pod_template.meta.labels;
    labels.emplace_back(k8s::names::kSparkRole, "driver");
    gang_.executors = Make("executors", gang_.members - 1, {});
  }

  Random& random_;
  std::string name_;
  int rack_cpus_;
  DrawnGang gang_;
};

}  // namespace knx::sim
