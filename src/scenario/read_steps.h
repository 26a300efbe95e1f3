// Reads the parts of a scenario that scenario.cc is not about.
#pragma once

#include "k8s/yaml_reader.h"
#include "scenario/scenario.h"

namespace knx::scenario {

// One entry of `steps`. `oldest_list` grows to the longest `stale` in it.
void ReadStep(k8s::FieldReader& fields, std::string_view file, Step& out, Duration& oldest_list);
void ReadExpectation(k8s::FieldReader& fields, Expectation& out);
// count, first: of anything that has $i in it.
void ReadCount(k8s::FieldReader& fields, Template& out);

// Something that must be there is not. Says what is there instead, which may be it, misspelt.
void FailWithout(k8s::FieldReader& fields, std::string_view needs);

// What becomes of a resize in place, as a word.
void ReadResize(k8s::FieldReader& fields, std::string_view key, std::string& out);

// A span of time that is not negative and not endless.
bool ReadSpan(k8s::FieldReader& fields, std::string_view key, Duration& out);
bool ReadSpan(k8s::FieldReader& fields, std::string_view key, std::optional<Duration>& out);
// pod (a name), labels, owner, namespace. `need`: at least one of them must be there.
enum class Need { kNone, kSome };
void ReadPodSelection(k8s::FieldReader& fields, Need need, PodSelection& out);

}  // namespace knx::scenario
