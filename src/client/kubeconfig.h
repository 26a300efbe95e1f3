// Kubeconfig files, found, merged and read as kubectl and client-go do: who names an entry first
// wins it, the first current-context wins, relative paths are relative to the file they stand in,
// data wins over a file with the same. Only what the chosen context leads to is looked at closely,
// so another user's mistakes do no harm.
//
// Stricter than client-go: a second document, a key given twice, a name or password in the server's
// URL, and what we cannot do (auth-provider, impersonation, a plugin that needs a terminal) are
// refused. Unknown fields are ignored, as there. Errors never repeat a value that may be a secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/api_access.h"
#include "client/read_file.h"

namespace knx::client {

struct KubeconfigFiles {
  std::vector<std::string> paths;  // the first one wins
  bool must_exist = false;         // somebody named these very files
  std::string origin;              // what named them, for errors: "--kubeconfig"
};

// `flag`: paths from the command line, which go before everything; `variable`: what $KUBECONFIG
// says, paths with colons between them; `home`: what $HOME says.
KubeconfigFiles FindKubeconfigs(const std::vector<std::string>& flag, std::string_view variable,
                                std::string_view home);

// `context`: the one to use; empty: the current-context of the files. Errors of kind kNotFound:
// there is no file.
Result<ApiAccess> ReadKubeconfigs(const KubeconfigFiles& files, std::string_view context,
                                  FileReader read_file = ReadFile);

}  // namespace knx::client
