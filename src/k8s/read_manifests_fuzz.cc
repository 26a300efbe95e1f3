// Any text at all through the reader of manifests: an answer, never a crash, and the same twice.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "k8s/read_object.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace knx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto all = k8s::ReadManifests(text, "fuzz.yaml");
  std::vector<k8s::SkippedObject> skipped;
  const auto some = k8s::ReadManifests(text, "fuzz.yaml", {.skipped = &skipped});
  if (!all.ok()) {
    KNX_CHECK(!all.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  KNX_CHECK(some.ok() && some->size() == all->size() && skipped.empty(),
            "without unknown kinds nothing is skipped");
  for (std::size_t i = 0; i < all->size(); ++i) {
    const k8s::ObjectAt& at = (*all)[i];
    KNX_CHECK(at.place.line > 0, "an object has a place");
    KNX_CHECK(at.object == (*some)[i].object, "the same text gives the same objects");
  }
  return 0;
}
