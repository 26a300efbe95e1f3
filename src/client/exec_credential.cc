#include "client/exec_credential.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quoted_text.h"
#include "client/authorization.h"
#include "client/secret_fields.h"
#include "k8s/yaml_reader.h"

namespace knx::client {
namespace {

constexpr std::string_view kExecInfo = "KUBERNETES_EXEC_INFO";

std::string_view VersionName(ExecPlugin::Version version) {
  return version == ExecPlugin::Version::kV1 ? "client.authentication.k8s.io/v1"
                                             : "client.authentication.k8s.io/v1beta1";
}

std::string ClusterInfo(const ExecPlugin& plugin, const ApiAccess& access) {
  std::string info = fmt::format(R"("cluster":{{"server":{})", QuotedText(access.server.text));
  const auto add = [&](std::string_view key, std::string_view json) {
    info += fmt::format(R"(,"{}":{})", key, json);
  };
  if (!access.tls_server_name.empty()) {
    add("tls-server-name", QuotedText(access.tls_server_name));
  }
  if (access.skip_tls_verify) add("insecure-skip-tls-verify", "true");
  if (!access.ca_pem.empty()) {
    add("certificate-authority-data", QuotedText(absl::Base64Escape(access.ca_pem)));
  }
  if (!access.proxy.host.empty()) add("proxy-url", QuotedText(access.proxy.text));
  add("config", plugin.cluster_config);
  return info + "},";
}

// The last line that is not blank.
std::string LastLine(std::string_view text) {
  text = TrimToken(text);
  return Printable(TrimToken(text.substr(text.rfind('\n') + 1)));
}

Error PluginError(const ExecPlugin& plugin, std::string_view what) {
  return {ErrorKind::kUnavailable,
          fmt::format("credential plugin {}: {}", QuotedText(plugin.command), what),
          {}};
}

std::string WithHint(const ExecPlugin& plugin, std::string what) {
  if (!plugin.install_hint.empty()) what += "; " + Printable(plugin.install_hint);
  return what;
}

// How it ended, if not well.
std::optional<std::string> EndComplaint(const ExecPlugin& plugin, const ChildOutcome& outcome,
                                        Duration timeout) {
  // What shells say when they cannot start a program.
  constexpr int kNotExecutable = 126, kNotFound = 127;
  std::string said;
  switch (outcome.end) {
    case ChildOutcome::End::kExited:
      if (outcome.code == 0) return std::nullopt;
      said = fmt::format("exit code {}", outcome.code);
      break;
    case ChildOutcome::End::kSignalled:
      said = fmt::format("ended by signal {}", outcome.code);
      break;
    case ChildOutcome::End::kTimedOut:
      said = fmt::format("no answer within {}", FormatDuration(timeout));
      break;
    case ChildOutcome::End::kTooMuchOutput:
      said = fmt::format("printed more than {} bytes", kMaxChildOutput);
      break;
  }
  if (const std::string line = LastLine(outcome.error_tail); !line.empty()) said += ": " + line;
  const bool missing = outcome.end == ChildOutcome::End::kExited &&
                       (outcome.code == kNotExecutable || outcome.code == kNotFound);
  return missing ? WithHint(plugin, said) : said;
}

void ReadExpiry(k8s::FieldReader& fields, Time& out) {
  std::string text;
  if (!ReadText(fields, "expirationTimestamp", text)) return;
  const Result<Time> time = ParseTime(text);
  if (!time.ok()) {
    return fields.Fail("expirationTimestamp", "expected a time such as 2026-01-31T12:00:00Z");
  }
  out = *time;
}

void ReadStatus(k8s::FieldReader& fields, ExecCredential& out) {
  ReadText(fields, "token", out.token);
  ReadText(fields, "clientCertificateData", out.client_certificate_pem);
  ReadText(fields, "clientKeyData", out.client_key_pem);
  ReadExpiry(fields, out.expires);
  if (!fields.ok()) return;
  if (!out.token.empty() && !IsToken(out.token)) fields.Fail("token", kTokenComplaint);
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty()) {
    fields.FailHere("clientCertificateData and clientKeyData must come together");
  }
  if (out.token.empty() && out.client_key_pem.empty()) {
    fields.FailHere("neither a token nor a client certificate is in it");
  }
}

void ReadAnswer(k8s::FieldReader& fields, std::string_view version, ExecCredential& out) {
  if (!IsMap(fields)) return;
  std::string kind, api_version;
  ReadText(fields, "kind", kind);
  ReadText(fields, "apiVersion", api_version);
  if (!fields.ok()) return;
  if (kind != "ExecCredential") return fields.Fail("kind", "must be ExecCredential");
  if (api_version != version) {
    return fields.Fail("apiVersion", fmt::format("must be {}, as the kubeconfig says", version));
  }
  if (!fields.Has("status")) return fields.Fail("status", "missing, but required");
  ReadMap(fields, "status", [&](k8s::FieldReader& status) { ReadStatus(status, out); });
}

}  // namespace

ChildCommand PluginCommand(const ExecPlugin& plugin, const ApiAccess& access, Duration timeout) {
  ChildCommand command{plugin.command, plugin.args, plugin.env, timeout};
  command.env.emplace_back(
      kExecInfo,
      fmt::format(
          R"({{"kind":"ExecCredential","apiVersion":"{}","spec":{{{}"interactive":false}}}})",
          VersionName(plugin.version),
          plugin.provide_cluster_info ? ClusterInfo(plugin, access) : ""));
  return command;
}

Result<ExecCredential> ReadPluginAnswer(const ExecPlugin& plugin, const ChildOutcome& outcome,
                                        Duration timeout) {
  if (const auto complaint = EndComplaint(plugin, outcome, timeout)) {
    return PluginError(plugin, *complaint);
  }
  const auto wrong = [&](const Error& error) { return PluginError(plugin, error.ToString()); };
  const auto documents = k8s::ParseYaml(outcome.output, "its output");
  if (!documents.ok()) return wrong(documents.error());
  if (documents->empty()) return PluginError(plugin, "printed nothing");
  ExecCredential credential;
  const Status read =
      k8s::ReadNode(documents->front(), {.file = "its output"}, [&](k8s::FieldReader& fields) {
        ReadAnswer(fields, VersionName(plugin.version), credential);
      });
  if (!read.ok()) return wrong(read.error());
  return credential;
}

Error PluginNotStarted(const ExecPlugin& plugin, const Error& reason) {
  return PluginError(plugin,
                     WithHint(plugin, fmt::format("cannot be started: {}", reason.message)));
}

Error PluginNotAwaited(const ExecPlugin& plugin) {
  return PluginError(plugin, "ended before it answered, because we are to end");
}

std::string PluginIsSlow(const ExecPlugin& plugin, Duration timeout) {
  return PluginError(plugin, fmt::format("has not answered yet; it is waited for, {} at most",
                                         FormatDuration(timeout)))
      .message;
}

}  // namespace knx::client
