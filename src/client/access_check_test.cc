#include "client/access_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/files.h"
#include "net/certificate.h"
#include "net/testing/certificates.h"

namespace knx::client {
namespace {

using testing::Pem;
using ::testing::StartsWith;

constexpr Duration kHour = Duration::Minutes(60);

class AccessCheck : public ::testing::Test {
 protected:
  AccessCheck() {
    const auto issued = authority_.Issue({.common_name = "me", .lifetime = kHour * 100});
    access_.server.tls = true;
    access_.ca_pem = authority_.pem();
    access_.client_certificate_pem = issued.cert_pem;
    access_.client_key_pem = issued.key_pem;
    access_.ca_place = {"cluster.ca", {"/k", 1, 2}};
    access_.client_certificate_place = {"user.client-certificate: /me.crt", {"/k", 3, 4}};
    access_.client_key_place = {"user.client-key-data", {"/k", 5, 6}};
    valid_ = *net::ReadValidity(issued.cert_pem);
  }

  [[nodiscard]] std::string Complaint(Time now) const {
    const Status checked = CheckAccess(access_, now);
    return checked.ok() ? "" : checked.error().ToString();
  }

  const net::testing::Authority authority_{"ca"};
  ApiAccess access_;
  net::Validity valid_;
};

TEST_F(AccessCheck, ACertificateWithinItsTimeIsFine) {
  for (const Time now : {valid_.begins, valid_.begins + kHour, valid_.ends}) {
    EXPECT_EQ(Complaint(now), "");
  }
  EXPECT_EQ(CertificateRemark(access_, valid_.begins), "");
}

TEST_F(AccessCheck, ACertificateOutsideOfItsTimeIsSaidWithFileFieldAndTime) {
  EXPECT_EQ(Complaint(valid_.ends + Duration::Milliseconds(1500)),
            "/k:3:4: user.client-certificate: /me.crt: the certificate ended at " +
                FormatTime(valid_.ends) + ", and by the clock here it is " +
                FormatTime(valid_.ends + Duration::Seconds(1)));
  EXPECT_EQ(Complaint(valid_.begins - kHour),
            "/k:3:4: user.client-certificate: /me.crt: the certificate is valid only from " +
                FormatTime(valid_.begins) + ", and by the clock here it is " +
                FormatTime(valid_.begins - kHour));
}

TEST_F(AccessCheck, BesideAnotherCredentialItIsOnlyARemark) {
  access_.credential = TokenCredential{"secret"};
  const Time late = valid_.ends + kHour;
  EXPECT_EQ(Complaint(late), "");
  EXPECT_THAT(CertificateRemark(access_, late),
              StartsWith("/k:3:4: user.client-certificate: /me.crt: the certificate ended at "));
}

TEST_F(AccessCheck, ItIsRemarkedADayBeforeTheEnd) {
  EXPECT_EQ(CertificateRemark(access_, valid_.ends - kHour * 24), "");
  EXPECT_EQ(CertificateRemark(access_, valid_.ends - kHour * 23),
            "/k:3:4: user.client-certificate: /me.crt: the certificate ends at " +
                FormatTime(valid_.ends));
}

TEST_F(AccessCheck, WhatCannotBeReadOrDoesNotFitNamesItsField) {
  const ApiAccess good = access_;
  access_.client_key_pem = authority_.Issue({.common_name = "other"}).key_pem;
  EXPECT_EQ(Complaint(valid_.begins),
            "/k:5:6: user.client-key-data: the key does not belong to the certificate");
  access_.client_key_pem = Pem("PRIVATE KEY");
  EXPECT_THAT(Complaint(valid_.begins),
              StartsWith("/k:5:6: user.client-key-data: the key cannot be read: "));
  access_ = good;
  access_.client_certificate_pem = Pem("CERTIFICATE");
  EXPECT_THAT(
      Complaint(valid_.begins),
      StartsWith("/k:3:4: user.client-certificate: /me.crt: the certificate cannot be read: "));
  EXPECT_EQ(CertificateRemark(access_, valid_.ends), "");
  access_ = good;
  access_.ca_pem = Pem("CERTIFICATE");
  EXPECT_THAT(Complaint(valid_.begins),
              StartsWith("/k:1:2: cluster.ca: the certificate cannot be read: "));
}

TEST_F(AccessCheck, WithoutTlsNothingIsShownAndNothingSaid) {
  access_.server.tls = false;
  EXPECT_EQ(Complaint(valid_.ends + kHour), "");
  EXPECT_EQ(CertificateRemark(access_, valid_.ends + kHour), "");
}

}  // namespace
}  // namespace knx::client
