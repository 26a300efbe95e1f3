#include "client/kubeconfig_entries.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "client/access_check.h"
#include "client/authorization.h"
#include "client/secret_fields.h"
#include "client/yaml_json.h"

namespace knx::client {
namespace {

using k8s::FieldReader;

constexpr std::string_view kPluginExtension = "client.authentication.k8s.io/exec";

void WarnUnused(const FieldReader& fields, std::string_view key, std::string_view why,
                ApiAccess& out) {
  out.warnings.push_back(fmt::format("{}.{}: not used, because {}", fields.path(), key, why));
}

// A field that names a file or, with more weight, one beside it that holds the same as base64.
struct PemFields {
  std::string_view file_key, data_key, block, block_name;
};
constexpr PemFields kAuthority = {"certificate-authority", "certificate-authority-data",
                                  "CERTIFICATE-----", "certificate"};
constexpr PemFields kCertificate = {"client-certificate", "client-certificate-data",
                                    "CERTIFICATE-----", "certificate"};
constexpr PemFields kKey = {"client-key", "client-key-data", "PRIVATE KEY-----", "private key"};

FieldPlace PlaceOf(FieldReader& fields, std::string_view key, const EntryReading& reading) {
  const k8s::YamlNode& node = *fields.Node(key);
  return {fmt::format("{}.{}", fields.path(), key), {reading.file, node.line, node.column}};
}

void ReadPem(FieldReader& fields, const EntryReading& reading, const PemFields& names,
             std::string& pem, FieldPlace& place, ApiAccess& out) {
  std::string path;
  ReadText(fields, names.file_key, path);
  ReadBase64(fields, names.data_key, pem);
  const bool from_data = !pem.empty();
  if (!fields.ok() || (path.empty() && !from_data)) return;
  if (from_data && !path.empty()) {
    WarnUnused(fields, names.file_key, fmt::format("{} stands beside it", names.data_key), out);
  }
  const std::string_view key = from_data ? names.data_key : names.file_key;
  place = PlaceOf(fields, key, reading);
  if (!from_data) {
    path = ResolvePath(reading.folder, path);
    place.field += fmt::format(": {}", path);
    Result<std::string> text = reading.read_file(path);
    if (!text.ok()) return fields.Fail(key, text.error().message);
    pem = *std::move(text);
  }
  if (pem.find("-----BEGIN ") == std::string::npos || pem.find(names.block) == std::string::npos) {
    fields.Fail(key, fmt::format("holds no {} in PEM format", names.block_name));
  }
}

void ReadServer(FieldReader& fields, ApiAccess& out) {
  std::string server, proxy;
  if (!ReadText(fields, "server", server) || server.empty()) {
    return fields.Fail("server", "missing, but required");
  }
  Result<ServerUrl> url = ParseServerUrl(server);
  if (!url.ok()) return fields.Fail("server", url.error().message);
  out.server = *std::move(url);
  WarnOfMissingScheme(fmt::format("{}.server", fields.path()), out);
  if (!ReadText(fields, "proxy-url", proxy) || proxy.empty()) return;
  Result<ProxyUrl> proxy_url = ParseProxyUrl(proxy);
  if (!proxy_url.ok()) return fields.Fail("proxy-url", proxy_url.error().message);
  out.proxy = *std::move(proxy_url);
}

// What we would have to do to be somebody else than the user says, and cannot: to go on without
// would be to act with other rights than asked for.
void RefuseUnsupported(FieldReader& fields) {
  if (fields.Has("auth-provider")) {
    fields.Fail("auth-provider",
                "is not supported; client-go dropped most providers, and a credential plugin "
                "(exec) takes their place");
  }
  for (const std::string_view key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (fields.Has(key)) fields.Fail(key, "impersonation is not supported");
  }
}

void ReadPluginEnv(FieldReader& fields, ExecPlugin& out) {
  ForEachMap(fields, "env", [&](FieldReader& item) {
    auto& [name, value] = out.env.emplace_back();
    ReadText(item, "name", name);
    ReadText(item, "value", value);
    if (item.ok() && (name.empty() || name.find('=') != std::string::npos)) {
      item.Fail("name", "must be the name of a variable");
    }
  });
}

// Standard input is never given to a plugin, so the only question is whether it can do without.
void ReadInteractiveMode(FieldReader& fields, ExecPlugin::Version version) {
  enum class Mode { kUnset, kNever, kIfAvailable, kAlways };
  Mode mode = Mode::kUnset;
  fields.ReadEnum(
      "interactiveMode", mode,
      {{"IfAvailable", Mode::kIfAvailable}, {"Never", Mode::kNever}, {"Always", Mode::kAlways}});
  if (!fields.ok()) return;
  if (mode == Mode::kAlways) {
    fields.Fail("interactiveMode",
                "Always needs a terminal, and there is none here; allowed are IfAvailable, Never");
  } else if (mode == Mode::kUnset && version == ExecPlugin::Version::kV1) {
    fields.Fail("interactiveMode", "missing, but required; allowed are IfAvailable, Never");
  }
}

void ReadPlugin(FieldReader& fields, const EntryReading& reading, ExecPlugin& out) {
  if (!fields.Has("apiVersion")) return fields.Fail("apiVersion", "missing, but required");
  fields.ReadEnum("apiVersion", out.version,
                  {{"client.authentication.k8s.io/v1", ExecPlugin::Version::kV1},
                   {"client.authentication.k8s.io/v1beta1", ExecPlugin::Version::kV1Beta1}});
  if (!ReadText(fields, "command", out.command) || out.command.empty()) {
    return fields.Fail("command", "missing, but required");
  }
  if (out.command.find('/') != std::string::npos) {
    out.command = ResolvePath(reading.folder, out.command);
  }
  ReadTexts(fields, "args", out.args);
  ReadPluginEnv(fields, out);
  ReadText(fields, "installHint", out.install_hint);
  ReadBool(fields, "provideClusterInfo", out.provide_cluster_info);
  ReadInteractiveMode(fields, out.version);
}

void ReadTokenFile(FieldReader& fields, const EntryReading& reading, std::string path,
                   std::string token, ApiAccess& out) {
  path = ResolvePath(reading.folder, path);
  if (token.empty()) {  // otherwise it may come later
    const Result<std::string> text = reading.read_file(path);
    if (!text.ok()) return fields.Fail("tokenFile", text.error().message);
    if (!IsToken(TrimToken(*text))) {
      return fields.Fail("tokenFile", fmt::format("what it holds {}", kTokenComplaint));
    }
  }
  out.credential = TokenFileCredential{std::move(path), std::move(token)};
}

void ReadCertificate(FieldReader& fields, const EntryReading& reading, ApiAccess& out) {
  ReadPem(fields, reading, kCertificate, out.client_certificate_pem, out.client_certificate_place,
          out);
  if (!fields.ok() || out.client_certificate_pem.empty()) return;
  ReadPem(fields, reading, kKey, out.client_key_pem, out.client_key_place, out);
  if (fields.ok() && out.client_key_pem.empty()) {
    fields.Fail("client-key",
                "missing, but required beside a client certificate; client-key-data "
                "will do as well");
  }
}

// The ways to say who we are, of which only one may be used.
void ReadCredential(FieldReader& fields, const EntryReading& reading, ApiAccess& out) {
  std::string token, token_file;
  BasicCredential basic;
  ReadText(fields, "token", token);
  ReadText(fields, "tokenFile", token_file);
  ReadText(fields, "username", basic.username);
  ReadText(fields, "password", basic.password);
  if (!fields.ok()) return;
  if (!token.empty() && !IsToken(token)) return fields.Fail("token", kTokenComplaint);
  const bool has_token = !token.empty() || !token_file.empty();
  const bool has_basic = !basic.username.empty() || !basic.password.empty();
  if (has_token && has_basic) {
    return fields.Fail(basic.username.empty() ? "password" : "username",
                       "only one of a token and username with password is allowed");
  }
  if (has_basic) out.credential = std::move(basic);
  if (!token_file.empty()) {
    ReadTokenFile(fields, reading, std::move(token_file), std::move(token), out);
  } else if (!token.empty()) {
    out.credential = TokenCredential{std::move(token)};
  }
}

}  // namespace

std::string ResolvePath(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

void ReadCluster(FieldReader& fields, const EntryReading& reading, ApiAccess& out,
                 std::string& plugin_config) {
  ReadServer(fields, out);
  ReadText(fields, "tls-server-name", out.tls_server_name);
  ReadBool(fields, "insecure-skip-tls-verify", out.skip_tls_verify);
  ReadPem(fields, reading, kAuthority, out.ca_pem, out.ca_place, out);
  if (out.skip_tls_verify && !out.ca_pem.empty()) {
    fields.Fail("insecure-skip-tls-verify", "contradicts the certificate authority beside it");
  }
  ForEachMap(fields, "extensions", [&](FieldReader& item) {
    std::string name;
    if (!ReadText(item, "name", name) || name != kPluginExtension) return;
    if (const k8s::YamlNode* node = item.Node("extension")) plugin_config = ToJson(*node);
  });
}

void ReadUser(FieldReader& fields, const EntryReading& reading, std::string plugin_config,
              ApiAccess& out) {
  out.user_place = {fields.path(), {reading.file, fields.node().line, fields.node().column}};
  RefuseUnsupported(fields);
  ReadCertificate(fields, reading, out);
  ReadCredential(fields, reading, out);
  const bool known = !out.client_certificate_pem.empty() || out.credential.index() != 0;
  ReadMap(fields, "exec", [&](FieldReader& exec) {
    ExecPlugin plugin;
    plugin.cluster_config = std::move(plugin_config);
    ReadPlugin(exec, reading, plugin);
    if (!known) out.credential = std::move(plugin);
  });
  if (!fields.ok()) return;
  if (known && fields.Has("exec")) {
    WarnUnused(fields, "exec", "another credential stands beside it", out);
  }
  WithholdWithoutTls(fields.path(), out);
}

}  // namespace knx::client
