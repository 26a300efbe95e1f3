// How Kubernetes writes the enumerations of objects.h: once, for who reads and for who writes.
#pragma once

#include <string_view>
#include <utility>

#include "k8s/objects.h"

namespace knx::k8s {

constexpr std::string_view NameOf(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      return "Unknown";
  }
  return "";
}

constexpr std::string_view NameOf(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNone:
      return "";
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kUnknown:
      return "unknown";
  }
  return "";
}

constexpr std::string_view NameOf(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return "In";
    case SelectorOperator::kNotIn:
      return "NotIn";
    case SelectorOperator::kExists:
      return "Exists";
    case SelectorOperator::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOperator::kGt:
      return "Gt";
    case SelectorOperator::kLt:
      return "Lt";
    case SelectorOperator::kUnknown:
      return "unknown";
  }
  return "";
}

constexpr std::string_view NameOf(TolerationOperator op) {
  switch (op) {
    case TolerationOperator::kEqual:
      return "Equal";
    case TolerationOperator::kExists:
      return "Exists";
    case TolerationOperator::kLt:
      return "Lt";
    case TolerationOperator::kGt:
      return "Gt";
    case TolerationOperator::kUnknown:
      return "unknown";
  }
  return "";
}

// A word and what it stands for, as readers want them.
template <class E>
constexpr std::pair<std::string_view, E> Named(E value) {
  return {NameOf(value), value};
}

}  // namespace knx::k8s
