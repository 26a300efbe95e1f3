// Requests to one server that speaks HTTP/1.1, over a few connections that are opened when they are
// needed and kept as long as the server keeps them. Requests wait while all are busy.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/event_loop.h"
#include "net/http1_connection.h"
#include "net/http_message.h"

namespace knx::net {

class Http1Client {
 public:
  struct Options {
    Endpoint endpoint;
    std::string authority;        // what the header Host says
    std::size_t connections = 8;  // at most
    Http1Connection::Limits limits = {};
  };
  Http1Client(EventLoop& loop, Options options);
  ~Http1Client();
  Http1Client(const Http1Client&) = delete;
  Http1Client& operator=(const Http1Client&) = delete;

  struct Outcome {
    Result<Http1Response> response;
    bool timed_out = false;
  };
  using Done = std::function<void(Outcome outcome)>;
  // Called once, not from within. The request's time-out counts from when it has a connection to
  // itself, connecting included. `repeatable`: does no harm if the server gets it twice. Then it is
  // sent once more if a connection that was kept turns out to have been closed. Its `wanted` is
  // asked when bytes can leave, however long it waited for that.
  void Send(Request request, bool repeatable, Done done);
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

 private:
  struct Job {
    std::uint64_t number = 0;
    Request request;
    bool repeatable = false;
    Done done;
    EventLoop::TimerId timeout;
  };
  struct Link {
    std::unique_ptr<Http1Connection> connection;
    std::optional<Job> job;  // none: idle
    bool used = false;       // has answered before
  };
  using Links = std::list<Link>;

  void Pump();
  void Begin(Links::iterator link, Job job);
  Links::iterator Open();
  void OnAnswered(Links::iterator link, Http1Response response, bool keeps);
  void OnClosed(Links::iterator link, const Error& error);
  void OnTimeout(std::uint64_t number);
  // The connection goes, but not from within one of its callbacks.
  void Retire(Links::iterator link);
  void Finish(const Job& job, Outcome outcome);

  EventLoop& loop_;
  Options options_;
  Links links_;
  std::deque<Job> waiting_;
  std::vector<std::unique_ptr<Http1Connection>> retired_;
  std::uint64_t last_ = 0;
  std::size_t outstanding_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::net
