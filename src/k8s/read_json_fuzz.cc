// Any text at all through both readers of JSON, which must agree.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "k8s/read_json.h"
#include "k8s/read_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace knx;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const std::optional<k8s::Object> fast = k8s::ReadJsonFast(json);
  const Result<k8s::Object> explained = k8s::ReadJsonExplained(json);
  if (fast && explained.ok()) {
    KNX_CHECK(*fast == *explained, "both ways read the same");
  } else if (fast) {
    // What the fast path does not look for, and words that a server may know: see json_fields.h.
    const std::string why = explained.error().ToString();
    const auto says = [&](std::string_view text) { return why.find(text) != why.npos; };
    const bool unknown_word =
        says("is not allowed; allowed are") && (says("operator: ") || says("effect: "));
    KNX_CHECK(unknown_word || says("is here twice") || says("nested too deeply"),
              "the fast path accepts what is right");
  }
  const Result<k8s::Object> object = k8s::ReadJsonObject(json);
  KNX_CHECK(object.ok() == (fast.has_value() || explained.ok()), "ReadJsonObject is both of them");
  return 0;
}
