// Threads that share the chunks of a parallel loop. Which thread takes which chunk is left to
// chance; the engine's chunks are made so that this cannot be seen in a decision.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/parallel_for.h"

namespace knx::sim {

class ThreadPool {
 public:
  // The caller of Run works too: one thread less is started than is asked for.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls body(0) .. body(chunks - 1) and returns when all are done. One loop at a time.
  void Run(std::size_t chunks, const std::function<void(std::size_t)>& body);
  // For EngineOptions; empty with one thread. Valid as long as the pool.
  [[nodiscard]] engine::ParallelFor parallel_for();

 private:
  void Work();
  // Takes chunks of the present loop until there are none left. With the lock held.
  void TakeChunks(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable work_, done_;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::size_t next_ = 0, chunks_ = 0, unfinished_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace knx::sim
