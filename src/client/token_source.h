// What a request carries so that the API server knows who we are, as it is at a given time: tokens
// are exchanged while we run. Never waits, unless told to: a credential plugin runs beside us, and
// its descriptor tells the event loop when to ask again.
//
//   Result<const Credentials*> got = source.Get(now);
//   if (!got.ok()) ...        // there are none: this is why. Asking again tries again, in time
//   else if (!*got) ...       // a plugin is being asked: again when source.fd() is readable
//   else send with (*got)->authorization; after a 401: source.Refused((*got)->generation)
//
// Refuses to hurry: a file is read at most once a minute, or after a 401; a plugin is run when its
// credentials expire or after a 401, but not again within kMinBetweenRuns, and after failures with
// ever longer pauses. A server that says no to everything starts no storm of processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "client/api_access.h"
#include "client/child_process.h"

namespace knx::client {

struct Credentials {
  std::string authorization;  // the value of that header; empty: none is sent
  // From a plugin; both or none. A connection is to be made anew when they change.
  std::string client_certificate_pem = {}, client_key_pem = {};
  std::uint64_t generation = 0;  // another one whenever something above has changed
};

inline constexpr Duration kTokenFilePeriod = Duration::Minutes(1);
inline constexpr Duration kPluginTimeout = Duration::Minutes(1);
// Credentials that were refused as soon as they were made will be refused again.
inline constexpr Duration kMinBetweenRuns = Duration::Seconds(5);
// After a failure, doubled with each further one.
inline constexpr Duration kFirstPluginPause = Duration::Seconds(1);
inline constexpr Duration kMaxPluginPause = Duration::Minutes(1);

// How a program waits for a plugin at its start.
struct PluginWait {
  int interrupt = -1;  // a descriptor that ends the wait when it becomes readable; -1: none
  Duration patience = Duration::Seconds(3);
  std::function<void(std::string_view line)> slow = {};  // told once if it takes longer than that
};

class TokenSource {
 public:
  explicit TokenSource(ApiAccess access, Duration plugin_timeout = kPluginTimeout);

  // What to send now. nullptr: a plugin is running. The pointer is good until the next call.
  Result<const Credentials*> Get(Time now);
  // The same, but waits for the plugin, as long as its time limit: for the start of a program. One
  // that is not waited for any longer is ended.
  Result<const Credentials*> GetOrWait(Time now, const PluginWait& wait = {});
  // Whether there may be others than those that were given first.
  [[nodiscard]] bool may_change() const {
    return std::holds_alternative<TokenFileCredential>(access_.credential) ||
           std::holds_alternative<ExecPlugin>(access_.credential);
  }
  // Readable when Get has news; -1: nothing is running.
  [[nodiscard]] int fd() const { return plugin_ ? plugin_->fd() : -1; }

  // The server answered 401 to a request that carried these. Others than the newest are forgotten
  // already.
  void Refused(std::uint64_t generation);

  // Why the newest attempt to exchange what we have failed, also if the old one is still used: for
  // the log. Nothing if it went well.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  Result<const Credentials*> FromFile(const TokenFileCredential& file, Time now);
  Result<const Credentials*> FromPlugin(const ExecPlugin& plugin, Time now);
  void FinishPlugin(const ExecPlugin& plugin);
  void StartPlugin(const ExecPlugin& plugin, Time now);
  void PluginFailed(Error error);
  void Take(Credentials credentials);

  ApiAccess access_;
  Duration plugin_timeout_;
  std::unique_ptr<ChildProcess> plugin_;
  Credentials current_;
  bool have_ = false;     // there is something to send
  bool refused_ = false;  // and the server does not want it
  Time expires_ = kNever;
  std::optional<Time> tried_;  // when the file was read or the plugin was started last
  Duration pause_;             // before the plugin is started again
  int failures_ = 0;           // in a row
  std::optional<Error> failure_;
};

}  // namespace knx::client
