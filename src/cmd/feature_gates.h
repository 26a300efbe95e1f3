// kube-scheduler's feature gates, as far as somebody may name them on the command line. Those that
// change something here are few; the others are known so that a command line written for
// kube-scheduler works, and so that a misspelt one is found.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace knx::cmd {

class FeatureGates {
 public:
  // "A=true,B=false", names with or without "kube:" in front. What was said before stays unless it
  // is said anew.
  Status Add(std::string_view text);
  // What was said about a gate that has an effect here, or its default.
  [[nodiscard]] bool Enabled(std::string_view name) const;
  // A line for every gate that was given another value than its default and has no effect here.
  [[nodiscard]] std::vector<std::string> Warnings() const;

 private:
  std::map<std::string, bool, std::less<>> said_;
};

}  // namespace knx::cmd
