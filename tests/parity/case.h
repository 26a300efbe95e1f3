// One question for both sides: a cluster and the pods that want a place in it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace knx::parity {

struct Case {
  std::string name;                  // by which it can be made again: "seed 7, case 12"
  std::string config;                // empty: the defaults
  std::string scheduler;             // of the pods that are asked about; empty: the default one
  std::vector<std::string> objects;  // as JSON
  std::vector<std::string> pods;     // "namespace/name"
  bool preempt = false;
  std::set<std::string> features;  // of the generator that had a part in it

  [[nodiscard]] std::string RequestLine() const;
};

// Always the same for one seed and number.
Case MakeCase(std::uint64_t seed, std::uint64_t number);

}  // namespace knx::parity
