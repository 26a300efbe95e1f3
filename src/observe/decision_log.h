// Every action of the scheduler as a line of text, and a hash of them all: two runs that decided
// alike have equal hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "engine/actions.h"

namespace knx::observe {

class DecisionLog {
 public:
  // Without `keep` only the hash.
  explicit DecisionLog(bool keep) : keep_(keep) {}

  void Add(Duration at, const engine::Action& action);
  // A line that is no action: "restart".
  void Note(Duration at, std::string_view text);

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t hash() const { return digest_.value(); }

 private:
  bool keep_;
  std::uint64_t count_ = 0;
  Digest digest_;
  std::vector<std::string> lines_;
};

// "12.345678s", always with six digits.
std::string FormatAt(Duration at);

}  // namespace knx::observe
