#include "net/certificate.h"

#include <gtest/gtest.h>

#include "net/testing/certificates.h"

namespace knx::net {
namespace {

constexpr Duration kAnHour = Duration::Minutes(60);

TEST(Certificate, SaysItsTime) {
  const testing::Authority authority("ca");
  for (const std::int64_t hours : {-1, 1, 24 * 365, 24 * 365 * 100}) {
    const auto issued = authority.Issue({.common_name = "a", .lifetime = kAnHour * hours});
    const auto valid = ReadValidity(issued.cert_pem);
    ASSERT_TRUE(valid.ok()) << valid.error().ToString();
    EXPECT_EQ(valid->ends - valid->begins, kAnHour * (hours + 1));
  }
}

TEST(Certificate, TheFirstOneOfATextIsTheOwners) {
  const testing::Authority authority("ca");
  const auto first = authority.Issue({.common_name = "a", .lifetime = kAnHour});
  const auto second = authority.Issue({.common_name = "b", .lifetime = kAnHour * 2});
  const std::string both = first.cert_pem + second.cert_pem;
  EXPECT_EQ(ReadValidity(both)->ends, ReadValidity(first.cert_pem)->ends);
  EXPECT_TRUE(CheckKey(both, first.key_pem).ok());
  EXPECT_EQ(CheckKey(both, second.key_pem).error().message,
            "the key does not belong to the certificate");
}

// Whose end is 99991231235959Z, as RFC 5280 has it for one that is not to end.
TEST(Certificate, OneThatIsGoodForEverNeverEnds) {
  constexpr const char* kForEver = R"(-----BEGIN CERTIFICATE-----
MIHFMHmgAwIBAgIBATAFBgMrZXAwDDEKMAgGA1UEAwwBYTAgFw0yNjExMDEwMDAw
MDBaGA85OTk5MTIzMTIzNTk1OVowDDEKMAgGA1UEAwwBYTAqMAUGAytlcAMhAKi0
4+4bCWhaqtIKhfkqS0udcRuwytNSWtREubXs5onfMAUGAytlcANBAHiXgbYZxzbf
xeCOlMPN8Svt3tfMsGBIudu30zbcQyIf0I/2UzWNFB1z1BtnV/iZsCO/k1F9cf4s
zuUBPJaZ4AI=
-----END CERTIFICATE-----
)";
  const auto valid = ReadValidity(kForEver);
  ASSERT_TRUE(valid.ok()) << valid.error().ToString();
  EXPECT_EQ(valid->ends, kNever);
}

}  // namespace
}  // namespace knx::net
