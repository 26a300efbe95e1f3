#include "client/access_check.h"

#include <fmt/format.h>

#include <utility>

#include "net/certificate.h"

namespace knx::client {
namespace {

constexpr Duration kDay = Duration::Minutes(60) * 24;

Error At(const FieldPlace& where, std::string_view what) {
  return InvalidError(
      where.field.empty() ? std::string(what) : fmt::format("{}: {}", where.field, what),
      where.place);
}

std::string InSeconds(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return FormatTime(Time{time.ns - time.ns % kSecond});
}

bool ShowsCertificate(const ApiAccess& access) {
  return access.server.tls && !access.client_certificate_pem.empty();
}

// Why a server whose clock is ours does not take the certificate; empty: it does.
std::string OutsideOfItsTime(const net::Validity& valid, Time now) {
  if (now >= valid.begins && now <= valid.ends) return "";
  const bool over = now > valid.ends;
  return fmt::format("the certificate {} {}, and by the clock here it is {}",
                     over ? "ended at" : "is valid only from",
                     InSeconds(over ? valid.ends : valid.begins), InSeconds(now));
}

}  // namespace

Status CheckAccess(const ApiAccess& access, Time now) {
  if (access.server.tls && !access.ca_pem.empty()) {
    const auto authority = net::ReadValidity(access.ca_pem);
    if (!authority.ok()) return At(access.ca_place, authority.error().message);
  }
  if (!ShowsCertificate(access)) return Ok();
  const auto valid = net::ReadValidity(access.client_certificate_pem);
  if (!valid.ok()) return At(access.client_certificate_place, valid.error().message);
  const Status key = net::CheckKey(access.client_certificate_pem, access.client_key_pem);
  if (!key.ok()) return At(access.client_key_place, key.error().message);
  const std::string outside = OutsideOfItsTime(*valid, now);
  if (outside.empty() || !std::holds_alternative<NoCredential>(access.credential)) return Ok();
  return At(access.client_certificate_place, outside);
}

std::string CertificateRemark(const ApiAccess& access, Time now) {
  if (!ShowsCertificate(access)) return "";
  const auto valid = net::ReadValidity(access.client_certificate_pem);
  if (!valid.ok()) return "";
  std::string what = OutsideOfItsTime(*valid, now);
  if (what.empty() && valid->ends - now < kDay) {
    what = fmt::format("the certificate ends at {}", InSeconds(valid->ends));
  }
  return what.empty() ? "" : At(access.client_certificate_place, what).ToString();
}

void WithholdWithoutTls(std::string_view whose, ApiAccess& access) {
  const bool some = !access.client_certificate_pem.empty() ||
                    !std::holds_alternative<NoCredential>(access.credential);
  if (access.server.tls || !some) return;
  access.warnings.push_back(
      fmt::format("{}: not used, because credentials are not sent to a server without TLS", whose));
  access.credential = NoCredential{};
  access.client_certificate_pem.clear();
  access.client_key_pem.clear();
}

void WarnOfMissingScheme(std::string_view field, ApiAccess& access) {
  if (access.server.text.find("://") != std::string::npos) return;
  access.warnings.push_back(fmt::format("{}: names no scheme, so http is meant, with port {}",
                                        field, access.server.port));
}

}  // namespace knx::client
