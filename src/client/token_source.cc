#include "client/token_source.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/authorization.h"
#include "client/exec_credential.h"
#include "client/read_file.h"
#include "net/event_loop.h"

namespace knx::client {
namespace {

// A clock that was set back must not stop us from trying.
bool HasPassed(const std::optional<Time>& since, Duration period, Time now) {
  return !since || now < *since || now - *since >= period;
}

Result<std::string> ReadToken(const std::string& path) {
  KNX_TRY(const std::string text, ReadRegularFile(path));
  const std::string_view token = TrimToken(text);
  if (!IsToken(token)) {
    return InvalidError(fmt::format("{}: what it holds {}", path, kTokenComplaint));
  }
  return std::string(token);
}

}  // namespace

TokenSource::TokenSource(ApiAccess access, Duration plugin_timeout)
    : access_(std::move(access)), plugin_timeout_(plugin_timeout) {
  const CredentialSource& credential = access_.credential;
  if (const auto* token = std::get_if<TokenCredential>(&credential)) {
    Take({.authorization = BearerAuthorization(token->token)});
  } else if (const auto* basic = std::get_if<BasicCredential>(&credential)) {
    Take({.authorization = BasicAuthorization(basic->username, basic->password)});
  } else if (const auto* file = std::get_if<TokenFileCredential>(&credential)) {
    if (!file->until_read.empty()) Take({.authorization = BearerAuthorization(file->until_read)});
  } else if (std::holds_alternative<NoCredential>(credential)) {
    Take({});
  }
}

void TokenSource::Take(Credentials credentials) {
  const bool same = have_ && credentials.authorization == current_.authorization &&
                    credentials.client_certificate_pem == current_.client_certificate_pem &&
                    credentials.client_key_pem == current_.client_key_pem;
  credentials.generation = same ? current_.generation : current_.generation + 1;
  current_ = std::move(credentials);
  have_ = true;
  refused_ = false;
  failure_.reset();
}

void TokenSource::Refused(std::uint64_t generation) {
  if (have_ && generation == current_.generation) refused_ = true;
}

Result<const Credentials*> TokenSource::Get(Time now) {
  if (const auto* file = std::get_if<TokenFileCredential>(&access_.credential)) {
    return FromFile(*file, now);
  }
  if (const auto* plugin = std::get_if<ExecPlugin>(&access_.credential)) {
    return FromPlugin(*plugin, now);
  }
  return &current_;
}

Result<const Credentials*> TokenSource::GetOrWait(Time now, const PluginWait& wait) {
  const Time slow_at = net::EventLoop::Now() + wait.patience;
  bool told = !wait.slow;
  while (true) {
    Result<const Credentials*> got = Get(now);
    if (!got.ok() || *got != nullptr) return got;
    const ExecPlugin& plugin = std::get<ExecPlugin>(access_.credential);
    constexpr std::int64_t kMillisecond = 1'000'000;
    const std::int64_t left = (slow_at - net::EventLoop::Now()).ns / kMillisecond + 1;
    if (!told && left <= 0) {
      wait.slow(PluginIsSlow(plugin, plugin_timeout_));
      told = true;
    }
    pollfd ready[] = {{.fd = fd(), .events = POLLIN, .revents = 0},
                      {.fd = wait.interrupt, .events = POLLIN, .revents = 0}};
    ::poll(ready, std::size(ready), told ? -1 : static_cast<int>(left));
    if (ready[1].revents == 0) continue;
    plugin_.reset();
    return PluginNotAwaited(plugin);
  }
}

Result<const Credentials*> TokenSource::FromFile(const TokenFileCredential& file, Time now) {
  if (have_ && !refused_ && !HasPassed(tried_, kTokenFilePeriod, now)) return &current_;
  tried_ = now;
  refused_ = false;
  Result<std::string> token = ReadToken(file.path);
  if (token.ok()) {
    Take({.authorization = BearerAuthorization(*token)});
    return &current_;
  }
  failure_ = std::move(token).error();
  // The old one may well be good for longer than the trouble lasts.
  if (have_) return &current_;
  return Error(*failure_);
}

Result<const Credentials*> TokenSource::FromPlugin(const ExecPlugin& plugin, Time now) {
  if (plugin_ != nullptr) {
    if (!plugin_->Poll()) return nullptr;
    FinishPlugin(plugin);
  }
  if (have_ && !refused_ && now < expires_) return &current_;
  if (HasPassed(tried_, pause_, now)) {
    StartPlugin(plugin, now);
    if (plugin_ != nullptr) return nullptr;
  }
  if (failure_) return Error(*failure_);
  return &current_;
}

void TokenSource::StartPlugin(const ExecPlugin& plugin, Time now) {
  tried_ = now;
  auto process = ChildProcess::Start(PluginCommand(plugin, access_, plugin_timeout_));
  if (process.ok()) {
    plugin_ = *std::move(process);
  } else {
    PluginFailed(PluginNotStarted(plugin, process.error()));
  }
}

void TokenSource::FinishPlugin(const ExecPlugin& plugin) {
  Result<ExecCredential> answer = ReadPluginAnswer(plugin, plugin_->outcome(), plugin_timeout_);
  plugin_.reset();
  if (!answer.ok()) return PluginFailed(std::move(answer).error());
  failures_ = 0;
  pause_ = kMinBetweenRuns;
  expires_ = answer->expires;
  Take({.authorization = answer->token.empty() ? "" : BearerAuthorization(answer->token),
        .client_certificate_pem = std::move(answer->client_certificate_pem),
        .client_key_pem = std::move(answer->client_key_pem)});
}

void TokenSource::PluginFailed(Error error) {
  constexpr int kMaxDoublings = 6;
  pause_ = std::min(kFirstPluginPause * (std::int64_t{1} << std::min(failures_, kMaxDoublings)),
                    kMaxPluginPause);
  ++failures_;
  failure_ = std::move(error);
}

}  // namespace knx::client
