#include "flood.h"

#include <utility>

namespace knx::bench {

Flood::Flood(int at_a_time, Begin begin, std::function<void()> done)
    : at_a_time_(at_a_time), begin_(std::move(begin)), done_(std::move(done)) {}

void Flood::Start() {
  Fill();
  if (on_their_way_ == 0) done_();
}

void Flood::Fill() {
  while (more_ && on_their_way_ < at_a_time_) {
    more_ = begin_([this](const Status& outcome) { OnAnswer(outcome); });
    if (more_) ++on_their_way_;
  }
}

void Flood::OnAnswer(const Status& outcome) {
  --on_their_way_;
  if (!outcome.ok() && failed_++ == 0) first_failure_ = outcome.error().ToString();
  Fill();
  if (on_their_way_ == 0) done_();
}

}  // namespace knx::bench
