// How one API server is reached and who we are there: what is left of a kubeconfig (kubeconfig.h)
// or of a pod's service account (in_cluster.h) once all of it was read. Plain values;
// token_source.h turns the credential into what a request carries.
//
// Holds secrets. Nothing here can be printed, and nothing that holds it belongs into a log.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "client/url.h"

namespace knx::client {

// Who we are is told by the client certificate, or by nothing.
struct NoCredential {};

struct TokenCredential {
  std::string token;
};

// Somebody writes a new token into the file before the old one expires.
struct TokenFileCredential {
  std::string path;
  std::string until_read;  // used as long as the file could never be read; may be empty
};

struct BasicCredential {
  std::string username, password;
};

// A program that is run to get credentials: client.authentication.k8s.io.
struct ExecPlugin {
  enum class Version { kV1, kV1Beta1 };

  Version version = Version::kV1;
  std::string command;  // a path, or a name to be looked for in $PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // beside our own
  bool provide_cluster_info = false;
  std::string cluster_config = "null";  // JSON for the plugin that stands in the cluster's entry
  std::string install_hint;             // what to do when there is no such program
};

using CredentialSource =
    std::variant<NoCredential, TokenCredential, TokenFileCredential, BasicCredential, ExecPlugin>;

// Where something stands that was read without a look at what it says, for who looks at it later.
struct FieldPlace {
  std::string field;  // "users[0].user.client-key: /etc/me.key"
  SourcePlace place;
};

struct ApiAccess {
  ServerUrl server;
  std::string ca_pem;                                  // empty: what the system trusts
  std::string client_certificate_pem, client_key_pem;  // both or none
  FieldPlace ca_place, client_certificate_place, client_key_place;
  FieldPlace user_place;        // of all that says who we are; empty: nothing does
  std::string tls_server_name;  // the name the certificate must have, if it is not the host's
  bool skip_tls_verify = false;
  ProxyUrl proxy;  // without a host: none
  CredentialSource credential;
  std::string default_namespace;      // empty: none was said
  std::vector<std::string> warnings;  // what was accepted and has no effect, for the log
};

}  // namespace knx::client
