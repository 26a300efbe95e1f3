// Why a gang waits, or members that it could do without, and what would help it: plain data for who
// explains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/gang_planner.h"
#include "engine/wait_inquiry.h"

namespace knx::engine {

// What is asked: whether it could start now, or also why not, and what would help.
enum class GangQuestion : std::uint8_t { kWhether, kWhy };

struct GangInquiry : Wait {
  std::string name;         // "default/train"
  std::string message;      // as its members say it, or would if they were asked now
  std::size_t minimum = 0;  // 0: nobody knows, for want of the object that would say it
  std::size_t placed = 0;   // members that have a place, or have done their work
  std::size_t ready = 0;    // that wait and could be placed
  std::size_t needed = 0;   // that would have to be placed at once
  std::size_t fitting = 0;  // that find a place at once
  // So many would start if no more were needed, fewer than are; 0: nobody, or it is not their
  // number that decides.
  std::size_t startable = 0;
  // So many, more than those, if less important pods went for them; 0: that makes no difference.
  std::size_t startable_by_eviction = 0;
  bool complete = false;  // enough members are there; without, nothing below is known
  // Its driver has yet to make so many others, and starts before them. 0: it starts as a whole.
  std::size_t to_come = 0;
  bool with_places =
      false;  // of those to come, which are needed, too, and may be among the fitting
  // Its driver waits until this is held, and then starts before the others: too few members may be
  // there, and what would help is known all the same.
  struct Awaited {
    std::string name, why;  // "default/spark"; why it is not held
  };
  std::optional<Awaited> awaited;
  GangAnswer answer = GangAnswer::kNotFound;

  // Members that are left without a place when each is given the best one, by the reason.
  struct Unplaced {
    std::string example;  // "default/worker-3"
    std::size_t members = 0;
    std::string why;
  };
  std::vector<Unplaced> unplaced;

  // Of a gang that is impossible by a count.
  std::string proof;          // "at most 9 fit by nvidia.com/gpu"; empty: it is no count
  bool lacks_in_all = false;  // they may fit, and its object wants more to be left (minResources)
  std::vector<std::string> scarce;
  std::size_t most = 0;
  struct Domain {
    std::string value;
    std::size_t most = 0;
  };
  std::string together;         // the label that its members want to have in common
  bool fits_apart = false;      // no node has that label, and without it they would start
  std::vector<Domain> domains;  // of that label, and how many members each has room for
};

}  // namespace knx::engine
