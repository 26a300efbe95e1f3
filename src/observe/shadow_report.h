// How the decisions of another scheduler compare with what we would have decided, for people who
// want to know before they let us decide.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "engine/inquiry.h"

namespace knx::observe {

class ShadowReport {
 public:
  // The other scheduler placed a pod. `ours`: what we say about the pod just before.
  void Placed(std::string_view pod, std::string_view node, const engine::Inquiry& ours);
  // It refused a pod, in these words.
  void Refused(std::string_view pod, std::string_view message, const engine::Inquiry& ours);

  struct Counts {
    // Placed by the other one: where we would have placed it; on another node that is as good by
    // our scores (kube-scheduler chooses among those by chance); on one with a lower score; on one
    // that does not fit, or is not known.
    std::int64_t same = 0, as_good = 0, lower = 0, unfit = 0;
    std::int64_t most_lower = 0;  // the largest difference of scores
    // Refused by the other one: by us too, in the same words or in others; placed by us.
    std::int64_t same_words = 0, other_words = 0, we_place = 0;

    [[nodiscard]] std::int64_t placed() const { return same + as_good + lower + unfit; }
    [[nodiscard]] std::int64_t refused() const { return same_words + other_words + we_place; }
    // Decisions that are really different.
    [[nodiscard]] std::int64_t different() const { return lower + unfit + other_words + we_place; }
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // A few lines, with the newest differences.
  [[nodiscard]] std::string ToText() const;
  // One line, for a log.
  [[nodiscard]] std::string Summary() const;

 private:
  void Keep(std::string difference);

  Counts counts_;
  std::deque<std::string> differences_;
};

}  // namespace knx::observe
