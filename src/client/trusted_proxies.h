// A proxy that stands between the client and us and vouches for it: a certificate proves that it is
// one, and headers of the request say who asks. The API server itself is such a proxy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/caller.h"
#include "net/client_authorities.h"
#include "net/http_message.h"

namespace knx::client {

struct TrustedProxies {
  std::shared_ptr<const net::ClientAuthorities> authorities;  // empty: nobody is believed
  std::vector<std::string> allowed_names;                     // of certificates; none: every name
  // Where it stands who asks: the first of these headers that has a value, all values of groups,
  // and all headers that begin so.
  std::vector<std::string> user_headers = {"x-remote-user"};
  std::vector<std::string> uid_headers = {};
  std::vector<std::string> group_headers = {"x-remote-group"};
  std::vector<std::string> extra_prefixes = {"x-remote-extra-"};
};

// Nothing, unless it is a proxy that is believed, and says who asks. `certificates` in DER, the
// proxy's own first.
std::optional<Caller> CallerBehind(const TrustedProxies& proxies,
                                   const std::vector<std::string>& certificates,
                                   const net::Headers& headers);

}  // namespace knx::client
