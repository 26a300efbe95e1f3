// Prefers nodes that have the pod's images already, the larger and the more widely spread the
// better.
#pragma once

#include <string>
#include <string_view>

#include "framework/plugin.h"

namespace knx::plugins {

class ImageLocality final : public framework::Plugin, public framework::ScorePlugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] framework::PreScoreResult PreScore(const framework::PodView& pod) const override;
  [[nodiscard]] bool has_pre_score() const override { return false; }
};

// The name under which nodes report an image: with the tag that is meant if none is said.
std::string NormalizedImageName(std::string_view name);

}  // namespace knx::plugins
