// Does a set of labels match a selector? Does a node match? Does a pod tolerate a taint? As
// Kubernetes answers.
#pragma once

#include <cstddef>
#include <cstdint>
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
// The same of a selector that InvalidReason() has nothing to say about, for who asks often.
bool MatchesWellFormed(const LabelSelector& selector, const StringMap& labels);

// A number as Gt and Lt read it: with a sign or without, of 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text);
// Compares with Gt or Lt, and with something that is no integer.
bool LacksInteger(const Requirement& requirement);
std::string_view OperatorText(const Requirement& requirement);

inline constexpr std::size_t kLabelLengthMax = 63;    // of a value, and of a key after its prefix
inline constexpr std::size_t kPrefixLengthMax = 253;  // of a DNS name
// Letters and digits at both ends, between them also '-', '_' and '.'; of any length but none.
bool IsLabelText(std::string_view text);
// Lower case; every character beside a '.' or an end is a letter or a digit. Of any length.
bool IsDnsText(std::string_view text);

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
// Every taint that keeps pods off a node; those that only advise against it do not count.
bool ToleratesToBeOn(std::span<const Taint> taints, std::span<const Toleration> tolerations);

}  // namespace knx::k8s
