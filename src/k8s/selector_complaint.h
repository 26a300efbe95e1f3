// What Kubernetes says about a selector that cannot be read, word for word: it ends up in
// conditions and events, where people look for it. InvalidReason of selector.h says the same in our
// own words, for who writes a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "k8s/object_meta.h"

namespace knx::k8s {

// Empty: there is nothing to complain about.
std::string ComplaintAbout(const LabelSelector& selector);

// `path` is what the messages begin with: "[0]" for the first of a list of terms.
std::vector<std::string> ComplaintsAbout(const NodeSelectorTerm& term, std::string_view path);

// Several complaints in one text, each once.
std::string Together(const std::vector<std::string>& complaints);

}  // namespace knx::k8s
