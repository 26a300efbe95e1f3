// Which kinds the API server has, and in which versions. Asked at the begin, and again and again
// from then on, since kinds come and go while we run; as long as nothing changes the answer is that
// it is the same (304), which costs next to nothing. Kinds that are not there are never asked for.
//
// Everybody who is known to the server may ask this.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "client/reflector.h"
#include "net/backoff.h"
#include "net/event_loop.h"

namespace knx::client {

class Discovery {
 public:
  Discovery(net::EventLoop& loop, ApiClient& api, Duration again = Duration::Seconds(30));
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Moves a reflector of an optional collection to where its kind is, now and whenever that
  // changes. It must outlive us.
  void Guide(Collection collection, Reflector& reflector);

 private:
  // "/apis/GROUP/VERSION/RESOURCE" of all that can be watched.
  using Paths = std::set<std::string>;

  void Ask();
  void OnAnswer(const Result<Response>& response);
  Result<Paths> Read(const Response& response) const;
  void Move(const Collection& collection, Reflector& reflector) const;
  [[nodiscard]] std::string PathOf(const Collection& collection) const;

  net::EventLoop& loop_;
  ApiClient& api_;
  Duration again_;
  net::Backoff unanswered_;  // a server refuses streams of a connection that begins
  std::vector<std::pair<Collection, Reflector*>> guided_;
  bool answered_ = false;
  std::optional<Paths> served_;  // nullopt: the server does not say
  std::string etag_;             // of the answer that says so
  net::EventLoop::TimerId next_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
