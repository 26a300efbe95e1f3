// Arithmetic that must come out as in kube-scheduler, to the last bit.
#pragma once

#include <cmath>
#include <cstdint>

namespace knx::plugins {

// The natural logarithm as Go computes it. The C library's may differ in the last bit, and then
// scores would at times differ by one. For finite numbers above zero.
inline double GoLog(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kHalfSqrt2 = 7.07106781186547524401e-01;
  // The polynomial of FreeBSD's e_log.c.
  constexpr double kL1 = 6.666666666666735130e-01, kL2 = 3.999999999940941908e-01,
                   kL3 = 2.857142874366239149e-01, kL4 = 2.222219843214978396e-01,
                   kL5 = 1.818357216161805012e-01, kL6 = 1.531383769920937332e-01,
                   kL7 = 1.479819860511658591e-01;
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < kHalfSqrt2) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double k = exponent;
  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double t1 = s2 * (kL1 + s4 * (kL3 + s4 * (kL5 + s4 * kL7)));
  const double t2 = s4 * (kL2 + s4 * (kL4 + s4 * kL6));
  const double r = t1 + t2;
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + r) + k * kLn2Low)) - f);
}

// To the nearest, halves away from zero. For numbers from zero to 2^52.
inline std::int64_t RoundHalfUp(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  return x - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
}

}  // namespace knx::plugins
