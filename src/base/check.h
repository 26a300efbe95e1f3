// Checks of what only a bug of ours can break. Always on: a scheduler that continues on a broken
// state does more harm than one that restarts.
#pragma once

#include <string_view>

namespace knx {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view why);

}  // namespace knx

#define KNX_CHECK(condition, why)                              \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::knx::CheckFailed(__FILE__, __LINE__, #condition, why); \
  } while (false)
