// Indexes that cannot be mixed up. An Id is a position in some table; what table is said by its
// tag.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace knx {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t index = kNone;

  [[nodiscard]] constexpr bool valid() const { return index != kNone; }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
  template <class H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index);
  }
};

}  // namespace knx
