// Calls to an API server: plain ones with a whole answer, and streams. Watches have a connection of
// their own, so that they are not held up by writes, nor the other way round.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/event_loop.h"
#include "net/http_client.h"

namespace knx::client {

struct Response {
  int status = 0;
  net::Headers headers;
  std::string body;

  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
};

// What the server says went wrong: its message, with an ErrorKind for the status.
Error ErrorOf(const Response& response);

class ApiClient {
 public:
  struct Options {
    net::Endpoint endpoint;
    std::string base_path;                       // in front of every path
    std::function<std::string()> authorization;  // the header's value now; may be empty, or give ""
    std::string user_agent;
    std::size_t write_connections = 4;
  };
  ApiClient(net::EventLoop& loop, Options options);
  ~ApiClient() { *alive_ = false; }
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  struct Call {
    std::string method = "GET";
    std::string path;
    std::string body;
    std::string content_type = "application/json";
    Duration timeout = Duration::Seconds(30);
    bool urgent = true;
  };
  // What the server has certainly not acted upon (the connection could not be had, or it asks to
  // come back later) is sent again a few times; what it may have acted upon is not.
  using Done = std::function<void(Result<Response> response)>;
  void Send(Call call, Done done);
  // For calls of which only matters whether the server did it.
  void Send(Call call, std::function<void(const Status& outcome)> done);

  // A GET whose answer has no end.
  using StreamId = net::HttpClient::RequestId;
  StreamId Open(std::string path, std::string accept, std::unique_ptr<net::ResponseSink> sink);
  void Close(StreamId id) { watches_.Cancel(id); }

  // Calls that were not answered yet.
  [[nodiscard]] std::size_t urgent_calls() const { return urgent_calls_; }
  [[nodiscard]] std::size_t patient_calls() const { return patient_calls_; }

 private:
  struct Attempt;

  void Send(const std::shared_ptr<Attempt>& attempt);
  void OnAnswer(const std::shared_ptr<Attempt>& attempt, Result<Response> response, bool unsent);
  [[nodiscard]] net::Headers CommonHeaders(std::string accept) const;

  net::EventLoop& loop_;
  Options options_;
  net::HttpClient watches_, writes_;
  std::size_t urgent_calls_ = 0, patient_calls_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
