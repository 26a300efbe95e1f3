// How something waits, and what would help it, as plain data for who explains it: of a pod, and
// what a pod and a gang have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/inquiry.h"
#include "engine/queue.h"

namespace knx::engine {

struct Wait {
  // Of the pod in the queue, or of the one that stands for the gang there.
  QueuePlace place = QueuePlace::kNone;
  Time backoff_until;
  std::uint32_t attempts = 0;  // of the pod, or of the gang whoever stood for it

  // Its own start, if one is promised; kUnknownEnd: the places, and no time.
  std::optional<Time> promised;
  // It fits, and is held back for the sake of this one, which is promised a start.
  struct HeldFor {
    std::string who;         // "pod group default/train"
    Time start;              // likewise
    std::size_t others = 0;  // that it would delay as well, or instead
    bool may_pass = true;    // false: it says itself that it passes nobody
  };
  std::optional<HeldFor> held_for;
  // Room is being made for it: who was asked to go.
  std::vector<std::string> going;

  // What would help; each of them alone is enough.
  std::string like;               // more nodes like this one
  std::size_t nodes = 0;          // so many of them; 0: no number would help
  std::vector<std::string> pods;  // "default/a": the end of these; none: was not found
  std::size_t leaving = 0;        // so many of them are being deleted already
  // What no node has so much of, even if it were empty: nothing else helps without that.
  struct TooLarge {
    std::string resource;
    std::int64_t asked = 0, most = 0;  // as the state counts it; the most that a node has
  };
  std::vector<TooLarge> too_large;
  // The end of one of these, by which room is kept for others.
  struct Reserved {
    std::string name, whom;  // "default/report", "app report"
    Time ends;
  };
  std::vector<Reserved> reserved;
};

struct PodInquiry : Wait {
  Inquiry asked;  // what the plugins say
  // A node that has all it asks for, and what speaks against it all the same.
  struct Obstacle {
    std::string node;
    struct Refusal {
      std::string plugin;
      std::vector<std::string> reasons;
    };
    std::vector<Refusal> by;  // one plugin, or two
  };
  std::vector<Obstacle> obstacles;  // by name of the node
  // With so much less it would fit on that node, which needs the least change of all.
  struct Less {
    std::string node;
    struct Amount {
      std::string resource;
      std::int64_t asked = 0, left = 0;  // as the state counts it
    };
    std::vector<Amount> amounts;
  };
  std::optional<Less> less;
};

}  // namespace knx::engine
