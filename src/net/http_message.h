// Requests and responses of HTTP, as values and callbacks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::net {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

// The value of a header, empty if there is none.
std::string_view FindHeader(const Headers& headers, std::string_view name);

// What is said of a request that is not wanted any more when its turn comes.
inline constexpr std::string_view kNotWanted = "not sent: somebody else was faster";

struct Request {
  std::string method = "GET";
  std::string path = {};  // with the query
  Headers headers = {};   // names in lower case; what HTTP/2 itself needs is added
  std::string body = {};
  // From being sent until the response is complete, and as long again for room to be sent. Zero: no
  // limit for the response, as for a watch.
  Duration timeout = {};
  // Where requests have to wait, those that are not urgent wait for the others.
  bool urgent = true;
  // Asked right before it is sent; false: it is not, because somebody else was faster, and the sink
  // is told. Empty: it is always.
  std::function<bool()> wanted = {};
  // What is added to the path right before it is sent, because it holds only from then. Empty:
  // nothing.
  std::function<std::string()> path_end = {};
};

// Gets a response, in pieces as they arrive. OnDone is called once, last, and always.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void OnHead(int status, const Headers& headers) = 0;
  virtual void OnData(std::string_view bytes) = 0;
  // An error of the connection or of HTTP itself; a status of 500 is none. `unsent`: the server has
  // certainly not acted upon the request.
  virtual void OnDone(const Status& outcome, bool unsent) = 0;
};

}  // namespace knx::net
