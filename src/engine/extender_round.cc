#include "engine/extender_round.h"

#include <fmt/format.h>

#include <algorithm>

namespace knx::engine {

using framework::Extender;

FilteredNodes ReadFiltered(const Extender& extender, const ExtenderAnswer& answer,
                           const std::vector<std::string>& asked) {
  FilteredNodes out;
  out.failure = answer.failure;
  for (const std::string& name : answer.nodes) {
    if (!std::binary_search(asked.begin(), asked.end(), name)) {
      out.failure = fmt::format(
          "extender {:?} claims a filtered node {:?} which is not found in the input node list",
          extender.url_prefix, name);
      return out;
    }
    out.left.push_back(name);
  }
  std::sort(out.left.begin(), out.left.end());
  out.left.erase(std::unique(out.left.begin(), out.left.end()), out.left.end());
  return out;
}

void TakeRefusals(const ExtenderAnswer& answer, ExtenderVerdicts& verdicts) {
  for (const auto& [name, text] : answer.failed) verdicts.refused[name] = {false, text};
  for (const auto& [name, text] : answer.unresolvable) verdicts.refused[name] = {true, text};
}

// An extender may give any number, and the same node twice.
void TakeScores(const Extender& extender, const ExtenderAnswer& answer,
                std::map<std::string, std::int64_t>& scores) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  constexpr std::int64_t kMostScore = std::int64_t{1} << 31;
  constexpr std::int64_t kStretch = framework::kMaxScore / framework::kMaxExtenderScore;
  for (const auto& [name, score] : answer.scores) {
    const std::int64_t weighted =
        std::clamp(score, -kMostScore, kMostScore) * extender.weight * kStretch;
    std::int64_t& total = scores[name];
    total = std::clamp(total + weighted, -kMost, kMost);
  }
}

}  // namespace knx::engine
