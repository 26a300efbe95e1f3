#include "client/trouble_log.h"

#include <utility>

namespace knx::client {
namespace {

constexpr Duration kSilence = Duration::Minutes(5), kSilenceOnRights = Duration::Minutes(60);
// Different things that are remembered as said. With more of them all are forgotten.
constexpr std::size_t kMostRemembered = 1000;

}  // namespace

TroubleLog::TroubleLog(Say say, std::function<Time()> now, Say say_missing)
    : say_(std::move(say)),
      say_missing_(say_missing ? std::move(say_missing) : say_),
      now_(std::move(now)) {}

void TroubleLog::Report(std::string_view what) {
  if (IsNews(what, kSilence, false) && say_) say_(what);
}

void TroubleLog::ReportMissing(std::string_view right) {
  if (IsNews(right, kSilenceOnRights, false) && say_missing_) say_missing_(right);
}

void TroubleLog::ReportServer(std::string_view what) {
  server_trouble_ = true;
  if (IsNews(what, kSilence, true) && say_) say_(what);
}

void TroubleLog::ServerWorks() {
  if (!std::exchange(server_trouble_, false)) return;
  std::erase_if(said_, [](const auto& said) { return said.second.server; });
}

bool TroubleLog::IsNews(std::string_view what, Duration silence, bool server) {
  const Time now = now_();
  if (const auto found = said_.find(what); found != said_.end()) {
    if (now - found->second.when < silence) return false;
    found->second.when = now;
  } else {
    if (said_.size() >= kMostRemembered) said_.clear();
    said_.emplace(what, Said{now, server});
  }
  return true;
}

}  // namespace knx::client
