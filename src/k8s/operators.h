// Operators, which make pods for people, and how their pods are known: by labels that they put on
// them, or by the kind of the owner. The one table of them, for everybody who asks: what a pod is
// for (cluster/workload_profile.h), which pods start together (cluster/gang_declaration.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "k8s/object_meta.h"

namespace knx::k8s {

enum class WorkloadType : std::uint8_t {
  kNone,  // nobody said
  kTraining,
  kInference,
  kBatch,
  kService,
  kInteractive,
};
// "training"; empty for kNone.
std::string_view NameOf(WorkloadType type);

struct Operator {
  std::string_view name;
  WorkloadType type = WorkloadType::kBatch;  // of its pods, if nothing else is known of them
  // Labels: pods that say the same in both belong together. Without the first they do not.
  std::string_view gang_name = {}, gang_part = {};
  // Label or annotation: how many pods those are. Empty: the operator does not say.
  std::string_view gang_size = {};
};

// What comes first counts for a pod that several had a hand in.
std::span<const Operator> Operators();
// nullptr: none had, as far as labels and owner tell.
const Operator* OperatorOf(const ObjectMeta& meta);
// Of those whose pods belong together: the model of one may run on the pods of another.
const Operator* GangOperatorOf(const ObjectMeta& meta);

}  // namespace knx::k8s
