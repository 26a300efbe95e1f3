#include "scenario/pod_selection.h"

#include <fmt/format.h>

#include "k8s/owner.h"
#include "k8s/selector.h"

namespace knx::scenario {
namespace {

// By the name of what made it, or of the ReplicaSet in between.
bool OwnedBy(const k8s::Pod& pod, const std::string& owner) {
  const k8s::OwnerReference* controller = k8s::ControllerOf(pod.meta);
  return controller != nullptr &&
         (controller->name == owner || k8s::MakerOf(pod.meta)->name == owner);
}

}  // namespace

// The pattern's texts between the stars must be found in turn; taking each as early as possible is
// enough, so this never goes back further than to the last star.
bool MatchesPattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool PodSelection::Matches(const k8s::Pod& pod) const {
  if (!namespace_.empty() && pod.meta.namespace_ != namespace_) return false;
  if (!name.empty() && !MatchesPattern(pod.meta.name, name)) return false;
  for (const auto& [key, value] : labels) {
    const std::string* found = k8s::FindValue(pod.meta.labels, key);
    if (found == nullptr || *found != value) return false;
  }
  return owner.empty() || OwnedBy(pod, owner);
}

std::string PodSelection::ToString() const {
  std::string out = name.find('*') == std::string::npos && !name.empty() ? "pod" : "pods";
  if (!name.empty()) out += " " + name;
  if (!owner.empty()) out += " of " + owner;
  if (!namespace_.empty()) out += " in " + namespace_;
  const char* joint = " with ";
  for (const auto& [key, value] : labels) {
    out += fmt::format("{}{}={}", joint, key, value);
    joint = ", ";
  }
  return name.empty() && owner.empty() && namespace_.empty() && labels.empty() ? "all pods" : out;
}

}  // namespace knx::scenario
