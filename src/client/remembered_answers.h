// Answers that somebody else has to give, remembered for a while. Who asks what is already being
// asked waits for the same answer. What is remembered has a limit; the oldest is forgotten first.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace knx::client {

template <class Value>
class RememberedAnswers {
 public:
  RememberedAnswers(Duration remembered, std::size_t most) : remembered_(remembered), most_(most) {}

  // `told` is called now or by Put(). True: nobody is asking this yet, so the caller has to, and
  // calls Put() then.
  using Told = std::function<void(const Result<Value>& answer)>;
  bool Ask(const std::string& key, Time now, Told told) {
    Forget(now);
    if (const auto found = known_.find(key); found != known_.end()) {
      const Result<Value> answer = found->second.value;  // who is told may ask, and so change us
      told(answer);
      return false;
    }
    std::vector<Told>& waiting = waiting_[key];
    waiting.push_back(std::move(told));
    return waiting.size() == 1;
  }

  // An error is told, but not remembered.
  void Put(const std::string& key, Time now, const Result<Value>& answer) {
    Forget(now);
    if (answer.ok() && most_ > 0) {
      while (known_.size() >= most_) ForgetOldest();
      if (known_.try_emplace(key, Known{*answer, now + remembered_}).second) order_.push_back(key);
    }
    const auto waiting = waiting_.extract(key);
    if (waiting.empty()) return;
    for (const Told& told : waiting.mapped()) told(answer);
  }

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    Value value;
    Time until;
  };

  void Forget(Time now) {
    while (!order_.empty() && known_.find(order_.front())->second.until <= now) ForgetOldest();
  }
  void ForgetOldest() {
    known_.erase(order_.front());
    order_.pop_front();
  }

  Duration remembered_;
  std::size_t most_;
  std::map<std::string, Known> known_;
  std::deque<std::string> order_;  // the keys of `known_`, the oldest first
  std::map<std::string, std::vector<Told>> waiting_;
};

}  // namespace knx::client
