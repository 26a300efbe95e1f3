// The pages of a list: which one comes next, and whether they ever come to an end.
#pragma once

#include <string>

#include "base/result.h"
#include "client/api_client.h"

namespace knx::client {

bool IsJson(const net::Headers& headers);

// What stands behind this page, where that can be told without reading it, so that the server works
// on the next one while we read; empty: nothing, or who reads the page will see.
std::string NextPage(const Response& page);

// Of one list. A server, or what stands in front of it, that goes round in circles would otherwise
// be asked without an end and without a pause.
class PageCount {
 public:
  // An error: this page is not to be asked for.
  Status Ask(const std::string& continue_token);

 private:
  std::string token_;
  int pages_ = 0;
};

// How many objects a page is asked for: fewer where it is too long for us, or takes too long, and
// more again where there is room.
class PageSize {
 public:
  [[nodiscard]] int now() const { return now_; }
  // False: fewer cannot be asked for.
  bool Halve();
  // Of a page that came: for which part of what it may be and take it was and took.
  void Took(double part_of_limits);

 private:
  static constexpr int kMost = 1000;
  int now_ = kMost;
};

}  // namespace knx::client
