// Whether what a kubeconfig says can work at all, found out before any server is asked: a server
// that is shown a certificate that has ended says no more than "Unauthorized".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "client/api_access.h"

namespace knx::client {

// Errors name the file and the field. A client certificate outside of its time is one unless there
// are other credentials beside it, by which the server may know us.
Status CheckAccess(const ApiAccess& access, Time now);

// What somebody should know of the client certificate's time: that it ends within a day, has ended,
// or has not begun. Empty: nothing.
std::string CertificateRemark(const ApiAccess& access, Time now);

// Credentials are not sent to a server without TLS, as client-go has it: then there are none any
// more, and a warning. `whose` is said in it: "users[0].user".
void WithholdWithoutTls(std::string_view whose, ApiAccess& access);

// A warning if the URL of the server leaves open how it is reached.
void WarnOfMissingScheme(std::string_view field, ApiAccess& access);

}  // namespace knx::client
