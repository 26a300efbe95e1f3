// What a server is asked and what it answers, as values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "net/http_message.h"

namespace knx::net {

struct ServerRequest {
  std::string method;  // as it was sent; methods are in capital letters
  std::string target;  // as it was sent
  std::string path;    // of the target, with its escapes decoded
  std::string query;   // of the target, as it was sent
  Headers headers;
  std::string body;
  std::string peer;  // address and port of who asks
  // What it proves to be, in DER: its own first, then those above. Nobody has looked at them.
  std::vector<std::string> client_certificates;
};

struct ServerResponse {
  int status = 200;
  Headers headers = {};  // what HTTP itself needs is added
  std::string body = {};
};

// Answers a request. May be called at any time, by the loop's thread; only the first call counts,
// and where the client has gone meanwhile it does nothing.
using Responder = std::function<void(ServerResponse response)>;

// Told of every request. May answer at once, or later. Must not destroy the server.
using RequestHandler = std::function<void(ServerRequest request, Responder respond)>;

}  // namespace knx::net
