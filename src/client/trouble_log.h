// Says what is wrong once. The same is said again only after some minutes, or when things had gone
// well in between: a server that is down is one line, however many ask it and how often. Of a right
// that is missing people are reminded every hour.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace knx::client {

class TroubleLog {
 public:
  using Say = std::function<void(std::string_view line)>;
  // Without `say` nobody hears anything; without `say_missing` it hears of rights, too.
  TroubleLog(Say say, std::function<Time()> now, Say say_missing = {});

  void Report(std::string_view what);
  void ReportMissing(std::string_view right);
  // What concerns the whole server, such as a lost connection, is over: the next time it is news.
  void ReportServer(std::string_view what);
  void ServerWorks();

 private:
  struct Said {
    Time when;
    bool server = false;
  };
  // Whether it is news, and remembered as said.
  bool IsNews(std::string_view what, Duration silence, bool server);

  Say say_, say_missing_;
  std::function<Time()> now_;
  std::map<std::string, Said, std::less<>> said_;
  bool server_trouble_ = false;
};

}  // namespace knx::client
