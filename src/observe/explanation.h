// Why a pod or a gang waits, and what would help: asked of the core as it stands, as data and in
// words. What does not wait is said to run, and where.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "observe/subject.h"

namespace knx::observe {

// How the members of a gang stand.
struct GangMembers {
  std::size_t all = 0;
  std::size_t placed = 0;              // have a place, and are not about to leave it
  std::size_t binding = 0;             // of those, so many are not yet bound to it
  std::size_t leaving = 0;             // are being deleted
  std::size_t finished = 0;            // have done their work, whether they are still there or not
  std::optional<std::size_t> minimum;  // nullopt: the object that would say it is not there
  bool as_a_whole = true;              // false: each of them starts for itself, whatever they say
  std::vector<std::pair<std::string, std::size_t>> places;  // nodes by name, and how many are there
  std::vector<std::string> waiting;                         // by name, those below left out
  // Those that wait for something else than the gang, and what that is.
  std::vector<std::pair<std::string, std::string>> held;

  [[nodiscard]] bool has_enough() const { return minimum && placed + finished >= *minimum; }
};

struct Explanation {
  std::string what;                 // "pod group default/train", "pod default/big"
  bool of_gang = false;             // it is a gang
  std::vector<std::string> others;  // that the name could mean, spelled out
  std::string node;                 // of a pod that has one
  bool binding = false;             // it is not yet bound to it
  bool leaving = false;             // it is being deleted
  // Of a pod that other schedulers are to place: the name that it wants.
  std::string scheduler;
  std::vector<std::string> profiles;  // and those that there are

  // What would be said if it were tried now; empty: the same, or nothing.
  std::string now;
  std::string message;                 // why it waits, in one sentence, as conditions say it
  std::optional<GangMembers> members;  // of the gang, or of that which the pod is in
  std::optional<engine::GangInquiry> gang;
  std::optional<engine::PodInquiry> pod;  // of a pod that is placed for itself
  // What speaks against so many nodes for that pod, the most frequent first.
  struct Refusal {
    std::string plugin, reason;
    std::size_t nodes = 0;
  };
  std::vector<Refusal> refusals;
  std::vector<std::string> help;  // what each by itself would help, the smallest change first

  // Of a gang: somebody of it.
  [[nodiscard]] bool waits() const {
    if (of_gang) return members && !(members->waiting.empty() && members->held.empty());
    return node.empty() && !leaving && scheduler.empty();
  }
};

// `name`: of a gang or a pod, as in observe/subject.h. nullopt: there is neither.
std::optional<Explanation> Explain(engine::Engine& engine, std::string_view name);

// Lines for a person.
std::string ToText(const Explanation& explanation);

}  // namespace knx::observe
