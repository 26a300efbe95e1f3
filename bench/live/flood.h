// Many calls to an API server, so many of them on their way at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "client/api_client.h"

namespace knx::bench {

class Flood {
 public:
  // Begins a call and says through its argument how it went; false: there are no more.
  using Answered = std::function<void(const Status& outcome)>;
  using Begin = std::function<bool(Answered answered)>;

  Flood(int at_a_time, Begin begin, std::function<void()> done);
  // May call `done` at once.
  void Start();
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] const std::string& first_failure() const { return first_failure_; }

 private:
  void OnAnswer(const Status& outcome);
  void Fill();

  int at_a_time_;
  Begin begin_;
  std::function<void()> done_;
  int on_their_way_ = 0, failed_ = 0;
  bool more_ = true;
  std::string first_failure_;
};

}  // namespace knx::bench
