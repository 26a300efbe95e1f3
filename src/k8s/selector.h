// Does a set of labels match a selector? Does a node match? Does a pod tolerate a taint? As
// Kubernetes answers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "k8s/objects.h"

namespace knx::k8s {

// The value of `key` in a sorted map; nullptr if it is not there.
const std::string* FindValue(const StringMap& map, std::string_view key);

// A malformed selector matches nothing.
bool Matches(const LabelSelector& selector, const StringMap& labels);

// Compares with Gt or Lt, and with something that is no integer.
bool LacksInteger(const Requirement& requirement);

// Why a selector can never be evaluated (In without values, Gt with a word, ...); nullopt if it is
// well formed.
std::optional<std::string> InvalidReason(const LabelSelector& selector);
// `field`: the requirement is one of matchFields, of which only metadata.name with In or NotIn and
// one value is allowed.
std::optional<std::string> InvalidReason(const Requirement& requirement, bool field);

// A malformed term matches nothing.
bool Matches(const NodeSelectorTerm& term, const StringMap& labels, std::string_view node_name);
bool Matches(const NodeSelector& selector, const StringMap& labels, std::string_view node_name);

// Lt and Gt tolerate nothing: Kubernetes has them behind a gate that is off.
bool Tolerates(const Toleration& toleration, const Taint& taint);
bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint);

}  // namespace knx::k8s
