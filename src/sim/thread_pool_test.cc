#include "sim/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace knx::sim {
namespace {

TEST(ThreadPool, DoesEveryChunkOnce) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (const std::size_t chunks : {0, 1, 3, 100}) {
      std::vector<std::atomic<int>> done(chunks);
      pool.Run(chunks, [&](std::size_t i) { ++done[i]; });
      for (const auto& count : done) EXPECT_EQ(count, 1);
    }
    EXPECT_EQ(static_cast<bool>(pool.parallel_for()), threads > 1);
  }
}

}  // namespace
}  // namespace knx::sim
