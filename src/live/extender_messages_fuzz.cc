// What an extender answers is the word of a stranger: anything may come, and nothing may break.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/check.h"
#include "live/extender_messages.h"

namespace {

void CheckRefusal(const knx::Result<knx::engine::ExtenderAnswer>& answer) {
  KNX_CHECK(answer.ok() || !answer.error().message.empty(), "a refusal says why");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const bool names_only : {true, false}) {
    const auto filter = knx::live::ReadFilterAnswer(body, names_only);
    CheckRefusal(filter);
    if (!filter.ok()) continue;
    std::set<std::string> names;
    for (const auto& [name, text] : filter->failed) {
      KNX_CHECK(names.insert(name).second, "a node fails once");
    }
  }
  CheckRefusal(knx::live::ReadScores(body));
  CheckRefusal(knx::live::ReadVictims(body));
  const knx::Status bound = knx::live::ReadBindingAnswer(body);
  KNX_CHECK(bound.ok() || !bound.error().message.empty(), "a refusal says why");
  return 0;
}
