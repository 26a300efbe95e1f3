#include "sim/thread_pool.h"

namespace knx::sim {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(std::size_t chunks, const std::function<void(std::size_t)>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  next_ = 0;
  chunks_ = unfinished_ = chunks;
  work_.notify_all();
  TakeChunks(lock);
  done_.wait(lock, [this] { return unfinished_ == 0; });
  body_ = nullptr;
}

void ThreadPool::TakeChunks(std::unique_lock<std::mutex>& lock) {
  while (next_ < chunks_) {
    const std::size_t chunk = next_++;
    const auto& body = *body_;
    lock.unlock();
    body(chunk);
    lock.lock();
    if (--unfinished_ == 0) done_.notify_one();
  }
}

void ThreadPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || next_ < chunks_; });
    if (stopping_) return;
    TakeChunks(lock);
  }
}

engine::ParallelFor ThreadPool::parallel_for() {
  if (threads_.empty()) return {};
  return [this](std::size_t chunks, const std::function<void(std::size_t)>& body) {
    Run(chunks, body);
  };
}

}  // namespace knx::sim
