// How work on many rows is spread, handed in from outside: the core has no threads of its own.
#pragma once

#include <cstddef>
#include <functional>

namespace knx::engine {

// Calls body(0) ... body(chunks - 1), in any order, perhaps at the same time, and returns when all
// are done. Chunks are the same for any number of threads, so that the outcome is too.
using ParallelFor =
    std::function<void(std::size_t chunks, const std::function<void(std::size_t)>& body)>;

}  // namespace knx::engine
