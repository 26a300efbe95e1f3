#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "k8s/quantity.h"

namespace knx::k8s {
namespace {

// Well-formed amounts without a sign, sizes mixed so that every way of reading is taken.
rc::Gen<std::string> AnyMagnitude() {
  const auto digits = rc::gen::container<std::string>(rc::gen::inRange('0', ':'));
  return rc::gen::apply(
      [](const std::string& whole, const std::string& fraction, const std::string& suffix) {
        return fmt::format("0{}.{}{}", whole, fraction, suffix);
      },
      digits, digits,
      rc::gen::element<std::string>("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi",
                                    "Gi", "Ti", "Pi", "Ei", "e-12", "e7", "E40"));
}

Quantity AnyQuantity() {
  const std::string sign = *rc::gen::element<std::string>("", "-", "+");
  return *Quantity::Parse(sign + *AnyMagnitude());
}

RC_GTEST_PROP(QuantityProperty, WhatIsWrittenIsReadBackAsTheSame, ()) {
  const Quantity quantity = AnyQuantity();
  const Result<Quantity> again = Quantity::Parse(quantity.ToString());
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == quantity);
  RC_ASSERT(again->ToString() == quantity.ToString());
}

RC_GTEST_PROP(QuantityProperty, NoTextStopsTheReader, (const std::string& text)) {
  const Result<Quantity> got = Quantity::Parse(text);
  RC_ASSERT(got.ok() || got.error().message.starts_with("invalid quantity"));
}

RC_GTEST_PROP(QuantityProperty, ValueIsTheNearestWholeNumberAwayFromZero, ()) {
  const Quantity quantity = AnyQuantity();
  const std::int64_t value = quantity.Value();
  RC_PRE(value < std::numeric_limits<std::int64_t>::max());
  RC_PRE(value > std::numeric_limits<std::int64_t>::min());
  const Quantity zero;
  const Quantity rounded = Quantity::FromUnits(value);
  if (quantity >= zero) {
    RC_ASSERT(rounded >= quantity);
    RC_ASSERT(value == 0 || Quantity::FromUnits(value - 1) < quantity);
  } else {
    RC_ASSERT(rounded <= quantity);
    RC_ASSERT(value == 0 || Quantity::FromUnits(value + 1) > quantity);
  }
}

RC_GTEST_PROP(QuantityProperty, OrderSurvivesRounding, ()) {
  const Quantity a = AnyQuantity();
  const Quantity b = AnyQuantity();
  const Quantity& less = a < b ? a : b;
  const Quantity& more = a < b ? b : a;
  RC_ASSERT(less.Value() <= more.Value());
  RC_ASSERT(less.MilliValue() <= more.MilliValue());
}

RC_GTEST_PROP(QuantityProperty, ASignTurnsEverythingAround, ()) {
  const std::string text = *AnyMagnitude();
  RC_ASSERT(*Quantity::Parse(text) + *Quantity::Parse("-" + text) == Quantity());
}

RC_GTEST_PROP(QuantityProperty, SumsDoNotDependOnOrder, ()) {
  const Quantity a = AnyQuantity();
  const Quantity b = AnyQuantity();
  RC_ASSERT(a + b == b + a);
  RC_ASSERT(a + Quantity() == a);
}

}  // namespace
}  // namespace knx::k8s
