// An API server whose answers a test writes, one after the other, and a client of it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_client.h"
#include "net/event_loop.h"
#include "net/testing/http2_server.h"
#include "net/testing/run_until.h"

namespace knx::client::testing {

class ApiServer {
 public:
  using Asked = net::testing::Http2Server::Asked;
  using Handler = std::function<void(ApiServer& server, const Asked& asked)>;

  explicit ApiServer(net::EventLoop& loop, net::testing::Http2Server::Options options = {})
      : http_(loop, std::move(options), [this](const Asked& asked) { OnAsked(asked); }) {}

  [[nodiscard]] net::Endpoint endpoint() const {
    return {.host = "127.0.0.1", .port = http_.port()};
  }
  [[nodiscard]] net::testing::Http2Server& http() { return http_; }
  // Everything that it was asked.
  [[nodiscard]] const std::vector<Asked>& asked() const { return asked_; }

  // What becomes of the next request that none of those before it is for.
  void Next(Handler handler) { next_.push_back(std::move(handler)); }
  void NextAnswer(int status, std::string body, net::Headers headers = {}) {
    Next([status, body = std::move(body), headers = std::move(headers)](ApiServer& server,
                                                                        const Asked& asked) {
      server.http_.Answer(asked, status, body, headers);
    });
  }
  // A watch that goes on: the bytes now, the rest by Push.
  void NextWatch(std::string bytes, std::string type = kProtobufWatch) {
    Next([bytes = std::move(bytes), type = std::move(type)](ApiServer& server, const Asked& asked) {
      server.watch_ = asked;
      server.http_.Begin(asked, 200, {{"content-type", type}});
      server.http_.Write(asked, bytes);
    });
  }
  void Push(std::string_view bytes) { http_.Write(watch_, bytes); }
  void EndWatch() { http_.End(watch_); }
  // For what comes when no more is planned. Without it, requests are left unanswered.
  void Otherwise(Handler handler) { otherwise_ = std::move(handler); }

  static constexpr const char* kProtobufWatch = "application/vnd.kubernetes.protobuf;stream=watch";

 private:
  void OnAsked(const Asked& asked) {
    asked_.push_back(asked);
    if (next_.empty()) {
      if (otherwise_) otherwise_(*this, asked);
      return;
    }
    const Handler handler = std::move(next_.front());
    next_.pop_front();
    handler(*this, asked);
  }

  net::testing::Http2Server http_;
  std::vector<Asked> asked_;
  std::deque<Handler> next_;
  Handler otherwise_;
  Asked watch_;
};

}  // namespace knx::client::testing
