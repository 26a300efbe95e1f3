// A client and a server that it talks to, on one loop.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "net/testing/heard.h"
#include "net/testing/http2_server.h"
#include "net/testing/run_until.h"

namespace knx::net::testing {

class ClientAndServer : public ::testing::Test {
 protected:
  using Asked = Http2Server::Asked;

  void Serve(Http2Server::Options options, std::function<void(const Asked&)> handler) {
    server_ = std::make_unique<Http2Server>(loop_, std::move(options), std::move(handler));
  }
  [[nodiscard]] Endpoint Where() const { return {.host = "127.0.0.1", .port = server_->port()}; }
  void Connect(std::size_t connections = 1, Http2Connection::Timing timing = {},
               Duration longest_wait = Duration::Seconds(30)) {
    client_ =
        std::make_unique<HttpClient>(loop_, HttpClient::Options{.endpoint = Where(),
                                                                .connections = connections,
                                                                .timing = timing,
                                                                .longest_wait = longest_wait});
  }
  std::shared_ptr<Heard> Send(Request request) {
    auto heard = std::make_shared<Heard>();
    last_id_ = client_->Send(std::move(request), std::make_unique<HeardSink>(heard));
    return heard;
  }
  std::shared_ptr<Heard> Get(std::string path) { return Send({.path = std::move(path)}); }
  bool Done(const std::vector<std::shared_ptr<Heard>>& all) {
    return RunUntil(loop_, [&all] {
      return std::all_of(all.begin(), all.end(), [](const auto& one) { return one->dones > 0; });
    });
  }

  EventLoop loop_;
  std::unique_ptr<Http2Server> server_;
  std::unique_ptr<HttpClient> client_;
  HttpClient::RequestId last_id_ = 0;
};

}  // namespace knx::net::testing
