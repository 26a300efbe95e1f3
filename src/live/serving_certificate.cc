#include "live/serving_certificate.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "client/read_file.h"
#include "net/self_signed.h"

namespace knx::live {
namespace {

constexpr Duration kYear = Duration::Minutes(60) * 24 * 365;

// One that we may not look at is not missing.
bool IsMissing(const std::string& file) {
  std::error_code failed;
  return std::filesystem::status(file, failed).type() == std::filesystem::file_type::not_found;
}

}  // namespace

Result<std::unique_ptr<ServingCertificate>> ServingCertificate::Load(net::EventLoop& loop,
                                                                     Options options) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return InvalidError("a certificate for serving needs a key, and a key needs a certificate");
  }
  if (options.may_be_missing && IsMissing(options.cert_file) && IsMissing(options.key_file)) {
    options.cert_file.clear();
    options.key_file.clear();
  }
  std::unique_ptr<ServingCertificate> out(new ServingCertificate(loop, std::move(options)));
  if (!out->options_.cert_file.empty()) {
    KNX_TRY([[maybe_unused]] const bool changed, out->Read());
    return out;
  }
  KNX_TRY(const net::CertificateAndKey made, net::MakeSelfSigned(out->options_.names, kYear));
  KNX_TRY_DONE(out->Use(made.cert_pem, made.key_pem));
  return out;
}

ServingCertificate::~ServingCertificate() { loop_.Cancel(look_); }

Status ServingCertificate::Use(const std::string& cert_pem, const std::string& key_pem) {
  KNX_TRY(tls_, net::TlsContext::MakeServer({.cert_pem = cert_pem,
                                             .key_pem = key_pem,
                                             .min_version = options_.min_version,
                                             .cipher_suites = options_.cipher_suites}));
  return Ok();
}

Result<bool> ServingCertificate::Read() {
  KNX_TRY(std::string cert_pem, client::ReadRegularFile(options_.cert_file));
  KNX_TRY(std::string key_pem, client::ReadRegularFile(options_.key_file));
  if (cert_pem == cert_pem_ && key_pem == key_pem_) return false;
  if (auto used = Use(cert_pem, key_pem); !used.ok()) {
    return std::move(used).error().Within(
        fmt::format("{} and {}", options_.cert_file, options_.key_file));
  }
  cert_pem_ = std::move(cert_pem);
  key_pem_ = std::move(key_pem);
  return true;
}

void ServingCertificate::Renew(net::HttpServer& server) {
  if (options_.cert_file.empty()) return;
  look_ = loop_.After(options_.between_looks, [this, &server] {
    const auto changed = Read();
    std::string line;
    if (!changed.ok()) {
      line =
          fmt::format("the certificate for serving stays as it is: {}", changed.error().ToString());
    } else if (*changed) {
      server.UseTls(tls_);
      if (options_.renewed) options_.renewed();
    }
    if (!line.empty() && line != last_complaint_ && options_.log) options_.log(line);
    last_complaint_ = line;
    Renew(server);
  });
}

}  // namespace knx::live
