// Which pods something is about: by name, namespace, labels or owner, all of which must fit.
#pragma once

#include <string>
#include <string_view>

#include "k8s/objects.h"

namespace knx::scenario {

struct PodSelection {
  std::string namespace_;  // empty: any
  std::string name;        // empty: any; a '*' stands for any text
  k8s::StringMap labels;
  std::string owner;  // the name of its controller, or of a Deployment above that

  [[nodiscard]] bool Matches(const k8s::Pod& pod) const;
  // "pods web-* with app=web"
  [[nodiscard]] std::string ToString() const;
};

// Whether `text` is what `pattern` says, in which every '*' stands for any text.
bool MatchesPattern(std::string_view text, std::string_view pattern);

}  // namespace knx::scenario
