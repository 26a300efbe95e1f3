#include "framework/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/config_read.h"
#include "framework/plugin.h"

namespace knx::framework {

SchedulerConfiguration DefaultConfiguration() {
  SchedulerConfiguration config;
  ProfileConfiguration& profile = config.profiles.emplace_back();
  profile.resolved = Resolve(profile.plugins);
  return config;
}

Result<SchedulerConfiguration> ReadConfiguration(std::string_view text, std::string_view file) {
  const std::string name(file);
  if (text.size() > kMaxConfigurationBytes) {
    return InvalidError(
        fmt::format("too large for a configuration: {} bytes, at most {} are allowed", text.size(),
                    kMaxConfigurationBytes),
        {name, 0, 0});
  }
  KNX_TRY(const std::vector<k8s::YamlNode> documents, k8s::ParseYaml(text, file));
  if (documents.empty()) {
    return InvalidError("empty; a configuration begins with apiVersion and kind", {name, 0, 0});
  }
  if (documents.size() > 1) {
    return InvalidError("a second document; a configuration is one",
                        {name, documents[1].line, documents[1].column});
  }
  const k8s::YamlNode& root = documents.front();
  SchedulerConfiguration config;
  config.file = name;
  KNX_TRY_DONE(k8s::ReadNode(root, {.file = file, .unknown = k8s::UnknownFields::kRefuse},
                             [&](k8s::FieldReader& fields) { ReadFields(fields, config); }));
  KNX_TRY_DONE(k8s::ReadNode(root, {.file = file},
                             [&](k8s::FieldReader& fields) { CheckFields(fields, config); }));
  return config;
}

std::optional<std::string> WeightsComplaint(const ProfileConfiguration& profile,
                                            const std::vector<Extender>& extenders) {
  // Weights have up to 63 bits, so the sum stops growing before it can overflow.
  constexpr std::int64_t kMaxSum = kMaxTotalScore / kMaxScore;
  std::int64_t sum = 0;
  const auto add = [&](std::int64_t weight) {
    sum += std::clamp<std::int64_t>(weight, 0, kMaxSum + 1 - sum);
  };
  for (const ResolvedPlugin& entry : profile.resolved.at(Point::kScore)) add(entry.weight);
  for (const Extender& extender : extenders) {
    if (!extender.prioritize_verb.empty()) add(extender.weight);
  }
  if (sum <= kMaxSum) return std::nullopt;
  return fmt::format(
      "the weights of score plugins and extenders add up to more than {}, so that "
      "the total score of a node could overflow",
      kMaxSum);
}

}  // namespace knx::framework
