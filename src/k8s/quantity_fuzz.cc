// Any bytes: the reader of quantities answers, and what it accepts survives being written and read.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "k8s/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using knx::k8s::Quantity;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const knx::Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok()) {
    KNX_CHECK(!quantity.error().message.empty(), "a refusal gives its reason");
    return 0;
  }
  const knx::Result<Quantity> again = Quantity::Parse(quantity->ToString());
  KNX_CHECK(again.ok() && *again == *quantity, "what is written is read back as the same");
  KNX_CHECK(quantity->IsZero() == (quantity->Value() == 0), "rounding never makes nothing of it");
  KNX_CHECK(quantity->IsZero() == (quantity->MilliValue() == 0),
            "rounding never makes nothing of it");
  return 0;
}
