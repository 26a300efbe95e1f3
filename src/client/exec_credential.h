// What we tell a credential plugin and what it answers: the kind ExecCredential of
// client.authentication.k8s.io, versions v1 and v1beta1, which are alike as far as we use them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/api_access.h"
#include "client/child_process.h"

namespace knx::client {

struct ExecCredential {
  std::string token;                                   // may be empty if there is a certificate
  std::string client_certificate_pem, client_key_pem;  // both or none
  Time expires = kNever;
};

// The command with all that client-go gives it, $KUBERNETES_EXEC_INFO included.
ChildCommand PluginCommand(const ExecPlugin& plugin, const ApiAccess& access, Duration timeout);

// What a plugin that has ended gave us. Errors name the command and show the last line of its
// complaints, but nothing of its answer.
Result<ExecCredential> ReadPluginAnswer(const ExecPlugin& plugin, const ChildOutcome& outcome,
                                        Duration timeout);

// The error for a plugin that could not be started.
Error PluginNotStarted(const ExecPlugin& plugin, const Error& reason);
// And for one whose answer nobody waits for any more.
Error PluginNotAwaited(const ExecPlugin& plugin);
// What to say of one that takes its time.
std::string PluginIsSlow(const ExecPlugin& plugin, Duration timeout);

}  // namespace knx::client
