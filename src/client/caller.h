// Who asks something of our server, as the API server has to know them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace knx::client {

struct Caller {
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

}  // namespace knx::client
