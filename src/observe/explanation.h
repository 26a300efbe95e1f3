// Why a pod or a gang waits, and what would help: asked of the core as it stands, as data and in
// words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace knx::observe {

struct Explanation {
  std::string what;     // "pod group default/train", "pod default/big"
  std::string node;     // of a pod that has one; then there is nothing else to say
  std::string message;  // why it waits, in one sentence, as conditions say it
  std::optional<engine::GangInquiry> gang;
  // Of a pod that is in no gang: what speaks against so many nodes, the most frequent first.
  struct Refusal {
    std::string plugin, reason;
    std::size_t nodes = 0;
  };
  std::vector<Refusal> refusals;
  std::vector<std::string> help;  // what each by itself would help, the smallest change first
};

// `name`: of a gang or, if there is none, of a pod: "train" or "default/train". nullopt: there is
// neither.
std::optional<Explanation> Explain(engine::Engine& engine, std::string_view name);

// Lines for a person.
std::string ToText(const Explanation& explanation);

}  // namespace knx::observe
