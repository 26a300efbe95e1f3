// Amounts as Kubernetes writes them: "100m", "2Gi", "1.5", "3e6".
// Exact: what the API server accepts is held to a billionth and rounded only when it is asked for.
// As there, what is finer rounds away from zero, and an amount with a binary suffix ends at 2^63-1;
// other amounts end at 1.7e29.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::k8s {

class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity FromUnits(std::int64_t units) {
    return Quantity(static_cast<Nano>(units) * kNanoPerUnit);
  }
  static constexpr Quantity FromMilli(std::int64_t milli) {
    return Quantity(static_cast<Nano>(milli) * 1'000'000);
  }
  // The grammar, limits and rounding of Kubernetes' own parser, spaces refused; the error says what
  // is allowed.
  static Result<Quantity> Parse(std::string_view text);

  // Rounded away from zero, as Kubernetes does, and held within 64 bits. Kubernetes itself wraps
  // around or answers 0 where the result does not fit, so that a pod may ask for 1e20 bytes and be
  // given none; we do not follow it there.
  [[nodiscard]] std::int64_t Value() const;
  [[nodiscard]] std::int64_t MilliValue() const;
  // Equal for equal amounts and for nothing else.
  [[nodiscard]] constexpr __int128 bits() const { return nano_; }
  [[nodiscard]] bool IsZero() const { return nano_ == 0; }
  // A canonical form: equal amounts give equal texts.
  [[nodiscard]] std::string ToString() const;

  friend constexpr auto operator<=>(Quantity a, Quantity b) { return a.nano_ <=> b.nano_; }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.nano_ == b.nano_; }
  // Ends at the limits rather than beyond them.
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    if (b.nano_ > 0) return Quantity(a.nano_ > kMax - b.nano_ ? kMax : a.nano_ + b.nano_);
    return Quantity(a.nano_ < -kMax - b.nano_ ? -kMax : a.nano_ + b.nano_);
  }

 private:
  using Nano = __int128;
  static constexpr Nano kNanoPerUnit = 1'000'000'000;
  static constexpr Nano kMax = static_cast<Nano>(~static_cast<unsigned __int128>(0) >> 1);
  constexpr explicit Quantity(Nano nano) : nano_(nano) {}

  Nano nano_ = 0;
};

}  // namespace knx::k8s
