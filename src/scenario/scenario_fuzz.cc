// Any text at all through the reader of scenarios: an answer with a place, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "scenario/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace knx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto documents = k8s::ParseYaml(text, "fuzz.yaml");
  if (!documents.ok()) return 0;
  for (k8s::YamlNode& document : *documents) {
    (void)scenario::IsScenario(document);
    const auto read = scenario::ReadScenario(std::move(document), "fuzz.yaml");
    if (read.ok()) continue;
    KNX_CHECK(!read.error().message.empty(), "an error says what is wrong");
    KNX_CHECK(read.error().place.file == "fuzz.yaml", "an error says where");
  }
  return 0;
}
