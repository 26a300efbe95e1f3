// How the program ends, for scripts (docs/cli.md). An interrupted run ends with 128 plus the
// signal, as shells have it.
#pragma once

namespace knx::cmd {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // an expectation was not met, or an invariant broke
// A flag or file is wrong, something cannot be read or written, or memory runs out.
inline constexpr int kExitWrong = 2;
inline constexpr int kExitSignal = 128;

}  // namespace knx::cmd
