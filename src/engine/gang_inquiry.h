// Why a gang waits, and what would help it, as plain data for who explains it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/gang_planner.h"

namespace knx::engine {

struct GangInquiry {
  std::string name;     // "default/train"
  std::string message;  // as its members say it, or would if they were asked now
  std::size_t minimum = 0;
  std::size_t placed = 0;   // members that have a place, or have done their work
  std::size_t ready = 0;    // that wait and could be placed
  std::size_t needed = 0;   // that would have to be placed at once
  std::size_t fitting = 0;  // that find a place when each is given the best one
  bool complete = false;    // enough members are there; without, nothing below is known
  GangAnswer answer = GangAnswer::kNotFound;

  // Of a gang that is impossible by a count.
  std::string proof;  // "at most 9 fit by nvidia.com/gpu"; empty: it is no count
  std::vector<std::string> scarce;
  std::size_t most = 0;
  struct Domain {
    std::string value;
    std::size_t most = 0;
  };
  std::string together;         // the label that its members want to have in common
  std::vector<Domain> domains;  // of that label, and how many members each has room for

  // What would help; each of them alone is enough.
  std::string like;               // more nodes like this one
  std::size_t nodes = 0;          // so many of them; 0: no number would help
  std::vector<std::string> pods;  // "default/a": the end of these; none: was not found
};

}  // namespace knx::engine
