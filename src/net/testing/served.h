// A server on a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "net/http_server.h"

namespace knx::net::testing {

class Served {
 public:
  explicit Served(RequestHandler handler, HttpServer::Options options = {}) {
    std::signal(SIGPIPE, SIG_IGN);
    options.address = "127.0.0.1";
    auto server = HttpServer::Listen(loop_, std::move(options), std::move(handler));
    EXPECT_TRUE(server.ok()) << server.error().ToString();
    server_ = *std::move(server);
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Served() {
    Do([this] { server_.reset(); });
    loop_.Stop();
    thread_.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  // By the loop's thread; waits until it is done.
  void Do(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.Post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  [[nodiscard]] std::size_t connections() {
    std::size_t count = 0;
    Do([&] { count = server_->connections(); });
    return count;
  }
  // Whether there are `count` connections within two seconds.
  [[nodiscard]] bool Reaches(std::size_t count) {
    for (int i = 0; i < 200; ++i) {
      if (connections() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  [[nodiscard]] HttpServer& server() { return *server_; }
  [[nodiscard]] EventLoop& loop() { return loop_; }
  [[nodiscard]] int port() const { return port_; }

 private:
  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace knx::net::testing
