// What somebody means who asks by a name why something waits: a gang or a pod. Names are unique
// only within a namespace and a kind, so that one may mean several, and may be spelled out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/state.h"

namespace knx::observe {

struct Subject {
  cluster::GangId gang;  // invalid: it is a pod
  cluster::PodId pod;    // of a gang: a member that waits, else any
  std::string namespace_, name;
  std::string_view kind;  // "pod", "podgroup.scheduling.k8s.io", ...
};

// All that the text may mean, the likeliest first: "train" and "pod/train" in the namespace default
// before others, gangs before pods; "team-a/train", "podgroup.scheduling.x-k8s.io/team-a/train".
// What nothing is called is looked for as the name of an operator's job.
std::vector<Subject> FindSubjects(const cluster::State& state, std::string_view text);

// "pod/default/big": means this and nothing else.
std::string SpelledOut(const Subject& subject);

// "pod group default/train", "pod default/big"
std::string InWords(const Subject& subject);

// For who asked for what is not there: what is called much the same, else what waits. A sentence.
std::string WhatThereIs(const cluster::State& state, std::string_view text);

}  // namespace knx::observe
